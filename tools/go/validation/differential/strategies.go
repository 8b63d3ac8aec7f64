package main

import (
	"errors"
	crdserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	"k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kube-aggregator/pkg/registry/apiservice"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/kubernetes"
	client "k8s.io/client-go/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/controlplane"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicy"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicybinding"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingwebhookconfiguration"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/resolver"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicy"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicybinding"
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
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/podtemplate"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"
	"k8s.io/kubernetes/pkg/registry/core/resourcequota"
	"k8s.io/kubernetes/pkg/registry/core/secret"
	"k8s.io/kubernetes/pkg/registry/core/service"
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
	"k8s.io/kubernetes/pkg/registry/resource/deviceclass"
	"k8s.io/kubernetes/pkg/registry/resource/devicetaintrule"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaimtemplate"
	"k8s.io/kubernetes/pkg/registry/resource/resourceslice"
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

// What strategies need besides the object: namespaces that cannot be read, and nothing that restricts the administrator.
var (
	namespaces = kubernetes.NewForConfigOrDie(&client.Config{Host: "127.0.0.1:1", Timeout: time.Second, QPS: -1}).CoreV1().Namespaces()
	unresolved = resolver.ResourceResolverFunc(func(schema.GroupVersionKind) (schema.GroupVersionResource, error) {
		return schema.GroupVersionResource{}, errors.New("no resources")
	})
)

// The kinds that are compared and that all releases have, by group and kind; other files add those of some.
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
	"apps/ControllerRevision":                                     controllerrevision.Strategy,
	"apps/DaemonSet":                                              daemonset.Strategy,
	"apps/Deployment":                                             deployment.Strategy,
	"apps/ReplicaSet":                                             replicaset.Strategy,
	"apps/StatefulSet":                                            statefulset.Strategy,
	"autoscaling/HorizontalPodAutoscaler":                         horizontalpodautoscaler.Strategy,
	"batch/CronJob":                                               cronjob.Strategy,
	"batch/Job":                                                   job.Strategy,
	"certificates.k8s.io/CertificateSigningRequest":               certificates.Strategy,
	"certificates.k8s.io/ClusterTrustBundle":                      clustertrustbundle.Strategy,
	"certificates.k8s.io/PodCertificateRequest":                   podcertificaterequest.NewStrategy(),
	"coordination.k8s.io/Lease":                                   lease.Strategy,
	"coordination.k8s.io/LeaseCandidate":                          leasecandidate.Strategy,
	"discovery.k8s.io/EndpointSlice":                              endpointslice.Strategy,
	"events.k8s.io/Event":                                         event.Strategy,
	"flowcontrol.apiserver.k8s.io/FlowSchema":                     flowschema.Strategy,
	"flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration":     prioritylevelconfiguration.Strategy,
	"internal.apiserver.k8s.io/StorageVersion":                    storageversion.Strategy,
	"networking.k8s.io/IPAddress":                                 ipaddress.Strategy,
	"networking.k8s.io/Ingress":                                   ingress.Strategy,
	"networking.k8s.io/IngressClass":                              ingressclass.Strategy,
	"networking.k8s.io/NetworkPolicy":                             networkpolicy.Strategy,
	"networking.k8s.io/ServiceCIDR":                               servicecidr.Strategy,
	"node.k8s.io/RuntimeClass":                                    runtimeclass.Strategy,
	"policy/PodDisruptionBudget":                                  poddisruptionbudget.Strategy,
	"rbac.authorization.k8s.io/ClusterRole":                       clusterrole.Strategy,
	"rbac.authorization.k8s.io/ClusterRoleBinding":                clusterrolebinding.Strategy,
	"rbac.authorization.k8s.io/Role":                              role.Strategy,
	"rbac.authorization.k8s.io/RoleBinding":                       rolebinding.Strategy,
	"scheduling.k8s.io/PriorityClass":                             priorityclass.Strategy,
	"storage.k8s.io/CSIDriver":                                    csidriver.Strategy,
	"storage.k8s.io/CSINode":                                      csinode.Strategy,
	"storage.k8s.io/CSIStorageCapacity":                           csistoragecapacity.Strategy,
	"storage.k8s.io/StorageClass":                                 storageclass.Strategy,
	"storage.k8s.io/VolumeAttachment":                             volumeattachment.Strategy,
	"storage.k8s.io/VolumeAttributesClass":                        volumeattributesclass.Strategy,
	"storagemigration.k8s.io/StorageVersionMigration":             storagemigration.Strategy,
	"/Node": node.Strategy,
	"apiextensions.k8s.io/CustomResourceDefinition":                 customresourcedefinition.NewStrategy(crdserver.Scheme),
	"apiregistration.k8s.io/APIService":                             apiservice.NewStrategy(scheme.Scheme),
	"resource.k8s.io/DeviceClass":                                   deviceclass.Strategy,
	"resource.k8s.io/DeviceTaintRule":                               devicetaintrule.Strategy,
	"resource.k8s.io/ResourceSlice":                                 resourceslice.Strategy,
	"resource.k8s.io/ResourceClaimTemplate":                         resourceclaimtemplate.NewStrategy(namespaces),
	"admissionregistration.k8s.io/ValidatingAdmissionPolicy":        validatingadmissionpolicy.NewStrategy(nil, unresolved),
	"admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding": validatingadmissionpolicybinding.NewStrategy(nil, nil, unresolved),
	"admissionregistration.k8s.io/MutatingAdmissionPolicy":          mutatingadmissionpolicy.NewStrategy(nil, unresolved),
	"admissionregistration.k8s.io/MutatingAdmissionPolicyBinding":   mutatingadmissionpolicybinding.NewStrategy(nil, nil, unresolved),
}

// The parts of them that are updated by themselves, by group, kind and subresource.
var parts = map[string]rest.RESTUpdateStrategy{
	"/Namespace/status":             namespace.StatusStrategy,
	"/Namespace/finalize":           namespace.FinalizeStrategy,
	"/Node/status":                  node.StatusStrategy,
	"/PersistentVolume/status":      persistentvolume.StatusStrategy,
	"/PersistentVolumeClaim/status": persistentvolumeclaim.StatusStrategy,
	"/Pod/status":                   pod.StatusStrategy,
	"/Pod/ephemeralcontainers":      pod.EphemeralContainersStrategy,
	"/Pod/resize":                   pod.ResizeStrategy,
	"/ReplicationController/status": replicationcontroller.StatusStrategy,
	"/ResourceQuota/status":         resourcequota.StatusStrategy,
	"/Service/status":               service.StatusStrategy,
	"apiextensions.k8s.io/CustomResourceDefinition/status":           customresourcedefinition.NewStatusStrategy(crdserver.Scheme),
	"apiregistration.k8s.io/APIService/status":                       apiservice.NewStatusStrategy(scheme.Scheme),
	"apps/DaemonSet/status":                                          daemonset.StatusStrategy,
	"apps/Deployment/status":                                         deployment.StatusStrategy,
	"apps/ReplicaSet/status":                                         replicaset.StatusStrategy,
	"apps/StatefulSet/status":                                        statefulset.StatusStrategy,
	"autoscaling/HorizontalPodAutoscaler/status":                     horizontalpodautoscaler.StatusStrategy,
	"batch/CronJob/status":                                           cronjob.StatusStrategy,
	"batch/Job/status":                                               job.StatusStrategy,
	"certificates.k8s.io/CertificateSigningRequest/status":           certificates.StatusStrategy,
	"certificates.k8s.io/CertificateSigningRequest/approval":         certificates.ApprovalStrategy,
	"flowcontrol.apiserver.k8s.io/FlowSchema/status":                 flowschema.StatusStrategy,
	"flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration/status": prioritylevelconfiguration.StatusStrategy,
	"internal.apiserver.k8s.io/StorageVersion/status":                storageversion.StatusStrategy,
	"networking.k8s.io/Ingress/status":                               ingress.StatusStrategy,
	"networking.k8s.io/ServiceCIDR/status":                           servicecidr.StatusStrategy,
	"policy/PodDisruptionBudget/status":                              poddisruptionbudget.StatusStrategy,
	"storage.k8s.io/VolumeAttachment/status":                         volumeattachment.StatusStrategy,
	"storagemigration.k8s.io/StorageVersionMigration/status":         storagemigration.StatusStrategy,
	"resource.k8s.io/DeviceTaintRule/status":                         devicetaintrule.StatusStrategy,
}

// codecs are those of the library whose kinds are of a group.
func codecs(group string) serializer.CodecFactory {
	switch group {
	case "apiextensions.k8s.io":
		return crdserver.Codecs
	case "apiregistration.k8s.io":
		return scheme.Codecs
	default:
		return legacyscheme.Codecs
	}
}
