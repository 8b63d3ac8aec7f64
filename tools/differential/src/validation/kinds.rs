//! The kinds that are compared: those of the program below `tools/go/validation`.

use pratique_schema::Release;
use pratique_types::GroupVersionKind;

/// A kind with its resource.
#[derive(Debug)]
pub(super) struct ComparedKind {
    pub(super) api_version: &'static str,
    pub(super) kind: &'static str,
    pub(super) resource: &'static str,
    pub(super) is_namespaced: bool,
    /// The parts of its objects that are updated by themselves.
    pub(super) parts: &'static [&'static str],
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

    const fn with_parts(self, parts: &'static [&'static str]) -> Self {
        ComparedKind { parts, ..self }
    }

    /// How many rules it has, compared with most.
    pub(super) fn weight(&self) -> usize {
        match self.kind {
            "Pod" => 10,
            "CronJob"
            | "CustomResourceDefinition"
            | "DaemonSet"
            | "Deployment"
            | "HorizontalPodAutoscaler"
            | "Job"
            | "Node"
            | "PersistentVolume"
            | "ResourceClaim"
            | "ResourceSlice"
            | "Service"
            | "StatefulSet" => 3,
            _ => 1,
        }
    }

    /// Whether a release has the kind.
    pub(super) fn is_known_to(&self, release: &'static Release) -> bool {
        release.has_type(&GroupVersionKind::new(self.group(), self.version(), self.kind))
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
        parts: &[],
    }
}

const fn cluster(api_version: &'static str, kind: &'static str, resource: &'static str) -> ComparedKind {
    ComparedKind {
        api_version,
        kind,
        resource,
        is_namespaced: false,
        parts: &[],
    }
}

pub(super) const KINDS: &[ComparedKind] = &[
    namespaced("v1", "ConfigMap", "configmaps"),
    namespaced("v1", "Endpoints", "endpoints"),
    namespaced("v1", "Event", "events"),
    namespaced("v1", "LimitRange", "limitranges"),
    namespaced("v1", "PersistentVolumeClaim", "persistentvolumeclaims").with_parts(&["status"]),
    namespaced("v1", "Pod", "pods").with_parts(&["ephemeralcontainers", "resize", "status"]),
    namespaced("v1", "PodTemplate", "podtemplates"),
    namespaced("v1", "ReplicationController", "replicationcontrollers").with_parts(&["status"]),
    namespaced("v1", "ResourceQuota", "resourcequotas").with_parts(&["status"]),
    namespaced("v1", "Secret", "secrets"),
    namespaced("v1", "Service", "services").with_parts(&["status"]),
    namespaced("v1", "ServiceAccount", "serviceaccounts"),
    namespaced("apps/v1", "ControllerRevision", "controllerrevisions"),
    namespaced("apps/v1", "DaemonSet", "daemonsets").with_parts(&["status"]),
    namespaced("apps/v1", "Deployment", "deployments").with_parts(&["status"]),
    namespaced("apps/v1", "ReplicaSet", "replicasets").with_parts(&["status"]),
    namespaced("apps/v1", "StatefulSet", "statefulsets").with_parts(&["status"]),
    namespaced(
        "autoscaling/v1",
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
    )
    .with_parts(&["status"]),
    namespaced(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
    )
    .with_parts(&["status"]),
    namespaced("batch/v1", "CronJob", "cronjobs").with_parts(&["status"]),
    namespaced("batch/v1", "Job", "jobs").with_parts(&["status"]),
    namespaced(
        "certificates.k8s.io/v1",
        "PodCertificateRequest",
        "podcertificaterequests",
    ),
    namespaced("coordination.k8s.io/v1", "Lease", "leases"),
    namespaced("coordination.k8s.io/v1beta1", "LeaseCandidate", "leasecandidates"),
    namespaced("discovery.k8s.io/v1", "EndpointSlice", "endpointslices"),
    namespaced("events.k8s.io/v1", "Event", "events"),
    namespaced("networking.k8s.io/v1", "Ingress", "ingresses").with_parts(&["status"]),
    namespaced("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies"),
    namespaced("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets").with_parts(&["status"]),
    namespaced("rbac.authorization.k8s.io/v1", "Role", "roles"),
    namespaced("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings"),
    namespaced("resource.k8s.io/v1", "ResourceClaim", "resourceclaims").with_parts(&["status"]),
    namespaced(
        "resource.k8s.io/v1",
        "ResourceClaimTemplate",
        "resourceclaimtemplates",
    ),
    namespaced("resource.k8s.io/v1beta1", "ResourceClaim", "resourceclaims").with_parts(&["status"]),
    namespaced("resource.k8s.io/v1beta2", "ResourceClaim", "resourceclaims").with_parts(&["status"]),
    namespaced("scheduling.k8s.io/v1beta1", "PodGroup", "podgroups"),
    namespaced("scheduling.k8s.io/v1beta1", "Workload", "workloads"),
    namespaced("storage.k8s.io/v1", "CSIStorageCapacity", "csistoragecapacities"),
    cluster("v1", "Namespace", "namespaces").with_parts(&["status", "finalize"]),
    cluster("v1", "Node", "nodes").with_parts(&["status"]),
    cluster("v1", "PersistentVolume", "persistentvolumes").with_parts(&["status"]),
    cluster(
        "admissionregistration.k8s.io/v1",
        "MutatingAdmissionPolicy",
        "mutatingadmissionpolicies",
    ),
    cluster(
        "admissionregistration.k8s.io/v1",
        "MutatingAdmissionPolicyBinding",
        "mutatingadmissionpolicybindings",
    ),
    cluster(
        "admissionregistration.k8s.io/v1",
        "MutatingWebhookConfiguration",
        "mutatingwebhookconfigurations",
    ),
    cluster(
        "admissionregistration.k8s.io/v1",
        "ValidatingAdmissionPolicy",
        "validatingadmissionpolicies",
    ),
    cluster(
        "admissionregistration.k8s.io/v1",
        "ValidatingAdmissionPolicyBinding",
        "validatingadmissionpolicybindings",
    ),
    cluster(
        "admissionregistration.k8s.io/v1",
        "ValidatingWebhookConfiguration",
        "validatingwebhookconfigurations",
    ),
    cluster(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
    )
    .with_parts(&["status"]),
    cluster("apiregistration.k8s.io/v1", "APIService", "apiservices").with_parts(&["status"]),
    cluster(
        "certificates.k8s.io/v1",
        "CertificateSigningRequest",
        "certificatesigningrequests",
    )
    .with_parts(&["approval", "status"]),
    cluster(
        "certificates.k8s.io/v1",
        "ClusterTrustBundle",
        "clustertrustbundles",
    ),
    cluster("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", "flowschemas").with_parts(&["status"]),
    cluster(
        "flowcontrol.apiserver.k8s.io/v1",
        "PriorityLevelConfiguration",
        "prioritylevelconfigurations",
    )
    .with_parts(&["status"]),
    cluster(
        "internal.apiserver.k8s.io/v1alpha1",
        "StorageVersion",
        "storageversions",
    )
    .with_parts(&["status"]),
    cluster("networking.k8s.io/v1", "IPAddress", "ipaddresses"),
    cluster("networking.k8s.io/v1", "IngressClass", "ingressclasses"),
    cluster("networking.k8s.io/v1", "ServiceCIDR", "servicecidrs").with_parts(&["status"]),
    cluster("node.k8s.io/v1", "RuntimeClass", "runtimeclasses"),
    cluster("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles"),
    cluster(
        "rbac.authorization.k8s.io/v1",
        "ClusterRoleBinding",
        "clusterrolebindings",
    ),
    cluster("resource.k8s.io/v1", "DeviceClass", "deviceclasses"),
    cluster("resource.k8s.io/v1", "DeviceTaintRule", "devicetaintrules").with_parts(&["status"]),
    cluster("resource.k8s.io/v1", "ResourceSlice", "resourceslices"),
    cluster(
        "resource.k8s.io/v1alpha3",
        "ResourcePoolStatusRequest",
        "resourcepoolstatusrequests",
    )
    .with_parts(&["status"]),
    cluster("resource.k8s.io/v1beta1", "ResourceSlice", "resourceslices"),
    cluster("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses"),
    cluster("storage.k8s.io/v1", "CSIDriver", "csidrivers"),
    cluster("storage.k8s.io/v1", "CSINode", "csinodes"),
    cluster("storage.k8s.io/v1", "StorageClass", "storageclasses"),
    cluster("storage.k8s.io/v1", "VolumeAttachment", "volumeattachments").with_parts(&["status"]),
    cluster(
        "storage.k8s.io/v1",
        "VolumeAttributesClass",
        "volumeattributesclasses",
    ),
    cluster(
        "storagemigration.k8s.io/v1",
        "StorageVersionMigration",
        "storageversionmigrations",
    )
    .with_parts(&["status"]),
];
