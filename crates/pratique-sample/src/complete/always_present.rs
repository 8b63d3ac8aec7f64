//! Fields that objects always have when policies see them, although neither schema nor defaulting says so: fields that
//! the API's validation requires, that a server sets, and that default admission plugins set before policies run.

/// The field paths of a type, through all elements of lists.
pub(super) fn always_present(type_name: &str) -> &'static [&'static str] {
    TABLE
        .iter()
        .find(|(name, _)| *name == type_name)
        .map_or(&[], |(_, paths)| *paths)
}

/// Metadata fields that every object has.
pub(super) const METADATA: [&str; 6] = [
    "name",
    "uid",
    "creationTimestamp",
    "managedFields",
    "generation",
    "resourceVersion",
];

const TABLE: &[(&str, &[&str])] = &[
    (
        "core/v1.Namespace",
        &["metadata.labels", "spec.finalizers", "status.phase"],
    ),
    // The plugins ServiceAccount, Priority and DefaultTolerationSeconds, and the server's own preparation.
    (
        "core/v1.Pod",
        &[
            "spec.serviceAccountName",
            "spec.serviceAccount",
            "spec.tolerations",
            "spec.priority",
            "spec.preemptionPolicy",
            "status.phase",
            "status.qosClass",
        ],
    ),
    ("core/v1.Container", &["image"]),
    ("core/v1.EphemeralContainer", &["image"]),
    (
        "core/v1.PersistentVolumeClaimSpec",
        &["accessModes", "resources.requests", "resources.requests.storage"],
    ),
    (
        "core/v1.PersistentVolumeSpec",
        &["accessModes", "capacity", "capacity.storage"],
    ),
    (
        "core/v1.ServiceSpec",
        &[
            "clusterIP",
            "clusterIPs",
            "ipFamilies",
            "ipFamilyPolicy",
            "internalTrafficPolicy",
        ],
    ),
    ("core/v1.ConfigMapKeySelector", &["name"]),
    ("core/v1.SecretKeySelector", &["name"]),
    ("core/v1.ConfigMapEnvSource", &["name"]),
    ("core/v1.SecretEnvSource", &["name"]),
    ("core/v1.ConfigMapVolumeSource", &["name"]),
    ("core/v1.SecretVolumeSource", &["secretName"]),
    ("core/v1.LocalObjectReference", &["name"]),
    ("core/v1.ObjectReference", &["kind", "name"]),
    ("apps/v1.Deployment", WORKLOAD),
    ("apps/v1.ReplicaSet", WORKLOAD),
    ("apps/v1.StatefulSet", WORKLOAD),
    ("apps/v1.DaemonSet", DAEMON_SET),
    ("core/v1.ReplicationController", CONTROLLER),
    ("batch/v1.Job", WORKLOAD),
    (
        "rbac/v1.Role",
        &["rules.apiGroups", "rules.resources", "rules.verbs"],
    ),
    ("rbac/v1.ClusterRole", &["rules.verbs"]),
    ("networking/v1.ServiceBackendPort", &["number"]),
    ("networking/v1.IngressClassSpec", &["controller"]),
    (
        "certificates/v1.CertificateSigningRequestSpec",
        &["username", "groups"],
    ),
    ("policy/v1.Eviction", &["metadata.namespace"]),
];

/// Selectors are required, and the labels of templates have to match them.
const WORKLOAD: &[&str] = &[
    "spec.selector",
    "spec.selector.matchLabels",
    "spec.template.metadata.labels",
];
/// A server counts changes of the template in an annotation.
const DAEMON_SET: &[&str] = &[
    "metadata.annotations",
    "spec.selector",
    "spec.selector.matchLabels",
    "spec.template.metadata.labels",
];
const CONTROLLER: &[&str] = &["spec.selector", "spec.template", "spec.template.metadata.labels"];
