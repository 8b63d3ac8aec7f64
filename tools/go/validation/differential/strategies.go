package main

import (
	"k8s.io/apiserver/pkg/registry/rest"
	_ "k8s.io/kubernetes/pkg/controlplane"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingwebhookconfiguration"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingwebhookconfiguration"
	"k8s.io/kubernetes/pkg/registry/apiserverinternal/storageversion"
	"k8s.io/kubernetes/pkg/registry/apps/controllerrevision"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/certificates/certificates"
	"k8s.io/kubernetes/pkg/registry/certificates/clustertrustbundle"
	"k8s.io/kubernetes/pkg/registry/certificates/podcertificaterequest"
	"k8s.io/kubernetes/pkg/registry/coordination/lease"
	"k8s.io/kubernetes/pkg/registry/coordination/leasecandidate"
	"k8s.io/kubernetes/pkg/registry/core/configmap"
	"k8s.io/kubernetes/pkg/registry/core/endpoint"
	"k8s.io/kubernetes/pkg/registry/core/event"
	"k8s.io/kubernetes/pkg/registry/core/limitrange"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/podtemplate"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"
	"k8s.io/kubernetes/pkg/registry/core/resourcequota"
	"k8s.io/kubernetes/pkg/registry/core/secret"
	"k8s.io/kubernetes/pkg/registry/core/serviceaccount"
	"k8s.io/kubernetes/pkg/registry/discovery/endpointslice"
	"k8s.io/kubernetes/pkg/registry/flowcontrol/flowschema"
	"k8s.io/kubernetes/pkg/registry/flowcontrol/prioritylevelconfiguration"
	"k8s.io/kubernetes/pkg/registry/networking/ingress"
	"k8s.io/kubernetes/pkg/registry/networking/ingressclass"
	"k8s.io/kubernetes/pkg/registry/networking/ipaddress"
	"k8s.io/kubernetes/pkg/registry/networking/networkpolicy"
	"k8s.io/kubernetes/pkg/registry/networking/servicecidr"
	"k8s.io/kubernetes/pkg/registry/node/runtimeclass"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrole"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrolebinding"
	"k8s.io/kubernetes/pkg/registry/rbac/role"
	"k8s.io/kubernetes/pkg/registry/rbac/rolebinding"
	"k8s.io/kubernetes/pkg/registry/scheduling/priorityclass"
	"k8s.io/kubernetes/pkg/registry/storage/csidriver"
	"k8s.io/kubernetes/pkg/registry/storage/csinode"
	"k8s.io/kubernetes/pkg/registry/storage/csistoragecapacity"
	"k8s.io/kubernetes/pkg/registry/storage/storageclass"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattachment"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattributesclass"
	"k8s.io/kubernetes/pkg/registry/storagemigration/storagemigration"
)

type strategy interface {
	rest.RESTCreateStrategy
	rest.RESTUpdateStrategy
}

// The kinds that are compared, by group and kind: those whose strategies need nothing but the object.
var strategies = map[string]strategy{
	"/ConfigMap":             configmap.Strategy,
	"/Endpoints":             endpoint.Strategy,
	"/Event":                 event.Strategy,
	"/LimitRange":            limitrange.Strategy,
	"/Namespace":             namespace.Strategy,
	"/PersistentVolume":      persistentvolume.Strategy,
	"/PersistentVolumeClaim": persistentvolumeclaim.Strategy,
	"/Pod":                   pod.Strategy,
	"/PodTemplate":           podtemplate.Strategy,
	"/ReplicationController": replicationcontroller.Strategy,
	"/ResourceQuota":         resourcequota.Strategy,
	"/Secret":                secret.Strategy,
	"/ServiceAccount":        serviceaccount.Strategy,

	"admissionregistration.k8s.io/MutatingWebhookConfiguration":   mutatingwebhookconfiguration.Strategy,
	"admissionregistration.k8s.io/ValidatingWebhookConfiguration": validatingwebhookconfiguration.Strategy,

	"apps/ControllerRevision":             controllerrevision.Strategy,
	"apps/DaemonSet":                      daemonset.Strategy,
	"apps/Deployment":                     deployment.Strategy,
	"apps/ReplicaSet":                     replicaset.Strategy,
	"apps/StatefulSet":                    statefulset.Strategy,
	"autoscaling/HorizontalPodAutoscaler": horizontalpodautoscaler.Strategy,
	"batch/CronJob":                       cronjob.Strategy,
	"batch/Job":                           job.Strategy,

	"certificates.k8s.io/CertificateSigningRequest": certificates.Strategy,
	"certificates.k8s.io/ClusterTrustBundle":        clustertrustbundle.Strategy,
	"certificates.k8s.io/PodCertificateRequest":     podcertificaterequest.NewStrategy(),
	"coordination.k8s.io/Lease":                     lease.Strategy,
	"coordination.k8s.io/LeaseCandidate":            leasecandidate.Strategy,
	"discovery.k8s.io/EndpointSlice":                endpointslice.Strategy,
	"events.k8s.io/Event":                           event.Strategy,

	"flowcontrol.apiserver.k8s.io/FlowSchema":                 flowschema.Strategy,
	"flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration": prioritylevelconfiguration.Strategy,
	"internal.apiserver.k8s.io/StorageVersion":                storageversion.Strategy,

	"networking.k8s.io/IPAddress":     ipaddress.Strategy,
	"networking.k8s.io/Ingress":       ingress.Strategy,
	"networking.k8s.io/IngressClass":  ingressclass.Strategy,
	"networking.k8s.io/NetworkPolicy": networkpolicy.Strategy,
	"networking.k8s.io/ServiceCIDR":   servicecidr.Strategy,
	"node.k8s.io/RuntimeClass":        runtimeclass.Strategy,
	"policy/PodDisruptionBudget":      poddisruptionbudget.Strategy,

	"rbac.authorization.k8s.io/ClusterRole":        clusterrole.Strategy,
	"rbac.authorization.k8s.io/ClusterRoleBinding": clusterrolebinding.Strategy,
	"rbac.authorization.k8s.io/Role":               role.Strategy,
	"rbac.authorization.k8s.io/RoleBinding":        rolebinding.Strategy,
	"scheduling.k8s.io/PriorityClass":              priorityclass.Strategy,

	"storage.k8s.io/CSIDriver":             csidriver.Strategy,
	"storage.k8s.io/CSINode":               csinode.Strategy,
	"storage.k8s.io/CSIStorageCapacity":    csistoragecapacity.Strategy,
	"storage.k8s.io/StorageClass":          storageclass.Strategy,
	"storage.k8s.io/VolumeAttachment":      volumeattachment.Strategy,
	"storage.k8s.io/VolumeAttributesClass": volumeattributesclass.Strategy,

	"storagemigration.k8s.io/StorageVersionMigration": storagemigration.Strategy,
}
