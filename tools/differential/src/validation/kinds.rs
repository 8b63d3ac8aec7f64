//! The kinds that are compared: those of the program below `tools/go/validation`.

/// A kind with its resource.
#[derive(Debug)]
pub(super) struct ComparedKind {
    pub(super) api_version: &'static str,
    pub(super) kind: &'static str,
    pub(super) resource: &'static str,
    pub(super) is_namespaced: bool,
}

impl ComparedKind {
    pub(super) fn group(&self) -> &'static str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    pub(super) fn version(&self) -> &'static str {
        self.api_version
            .split_once('/')
            .map_or(self.api_version, |(_, version)| version)
    }

    /// The resource as cases name it.
    pub(super) fn path(&self) -> String {
        format!("{}/{}", self.api_version, self.resource)
    }
}

const fn namespaced(api_version: &'static str, kind: &'static str, resource: &'static str) -> ComparedKind {
    ComparedKind {
        api_version,
        kind,
        resource,
        is_namespaced: true,
    }
}

const fn cluster(api_version: &'static str, kind: &'static str, resource: &'static str) -> ComparedKind {
    ComparedKind {
        api_version,
        kind,
        resource,
        is_namespaced: false,
    }
}

pub(super) const KINDS: &[ComparedKind] = &[
    namespaced("v1", "ConfigMap", "configmaps"),
    namespaced("v1", "Endpoints", "endpoints"),
    namespaced("v1", "Event", "events"),
    namespaced("v1", "LimitRange", "limitranges"),
    namespaced("v1", "PersistentVolumeClaim", "persistentvolumeclaims"),
    namespaced("v1", "Pod", "pods"),
    namespaced("v1", "PodTemplate", "podtemplates"),
    namespaced("v1", "ReplicationController", "replicationcontrollers"),
    namespaced("v1", "ResourceQuota", "resourcequotas"),
    namespaced("v1", "Secret", "secrets"),
    namespaced("v1", "ServiceAccount", "serviceaccounts"),
    namespaced("apps/v1", "ControllerRevision", "controllerrevisions"),
    namespaced("apps/v1", "DaemonSet", "daemonsets"),
    namespaced("apps/v1", "Deployment", "deployments"),
    namespaced("apps/v1", "ReplicaSet", "replicasets"),
    namespaced("apps/v1", "StatefulSet", "statefulsets"),
    namespaced(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
    ),
    namespaced("batch/v1", "CronJob", "cronjobs"),
    namespaced("batch/v1", "Job", "jobs"),
    namespaced(
        "certificates.k8s.io/v1",
        "PodCertificateRequest",
        "podcertificaterequests",
    ),
    namespaced("coordination.k8s.io/v1", "Lease", "leases"),
    namespaced("coordination.k8s.io/v1beta1", "LeaseCandidate", "leasecandidates"),
    namespaced("discovery.k8s.io/v1", "EndpointSlice", "endpointslices"),
    namespaced("events.k8s.io/v1", "Event", "events"),
    namespaced("networking.k8s.io/v1", "Ingress", "ingresses"),
    namespaced("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies"),
    namespaced("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"),
    namespaced("rbac.authorization.k8s.io/v1", "Role", "roles"),
    namespaced("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings"),
    namespaced("storage.k8s.io/v1", "CSIStorageCapacity", "csistoragecapacities"),
    cluster("v1", "Namespace", "namespaces"),
    cluster("v1", "PersistentVolume", "persistentvolumes"),
    cluster(
        "admissionregistration.k8s.io/v1",
        "MutatingWebhookConfiguration",
        "mutatingwebhookconfigurations",
    ),
    cluster(
        "admissionregistration.k8s.io/v1",
        "ValidatingWebhookConfiguration",
        "validatingwebhookconfigurations",
    ),
    cluster(
        "certificates.k8s.io/v1",
        "CertificateSigningRequest",
        "certificatesigningrequests",
    ),
    cluster(
        "certificates.k8s.io/v1",
        "ClusterTrustBundle",
        "clustertrustbundles",
    ),
    cluster("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", "flowschemas"),
    cluster(
        "flowcontrol.apiserver.k8s.io/v1",
        "PriorityLevelConfiguration",
        "prioritylevelconfigurations",
    ),
    cluster(
        "internal.apiserver.k8s.io/v1alpha1",
        "StorageVersion",
        "storageversions",
    ),
    cluster("networking.k8s.io/v1", "IPAddress", "ipaddresses"),
    cluster("networking.k8s.io/v1", "IngressClass", "ingressclasses"),
    cluster("networking.k8s.io/v1", "ServiceCIDR", "servicecidrs"),
    cluster("node.k8s.io/v1", "RuntimeClass", "runtimeclasses"),
    cluster("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles"),
    cluster(
        "rbac.authorization.k8s.io/v1",
        "ClusterRoleBinding",
        "clusterrolebindings",
    ),
    cluster("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses"),
    cluster("storage.k8s.io/v1", "CSIDriver", "csidrivers"),
    cluster("storage.k8s.io/v1", "CSINode", "csinodes"),
    cluster("storage.k8s.io/v1", "StorageClass", "storageclasses"),
    cluster("storage.k8s.io/v1", "VolumeAttachment", "volumeattachments"),
    cluster(
        "storage.k8s.io/v1",
        "VolumeAttributesClass",
        "volumeattributesclasses",
    ),
    cluster(
        "storagemigration.k8s.io/v1",
        "StorageVersionMigration",
        "storageversionmigrations",
    ),
];
