//! The names of resources that quotas limit.

use pratique_schema::Release;

/// The prefix of the extended resource names of device classes.
pub(crate) const DEVICE_CLASS: &str = "deviceclass.resource.kubernetes.io/";

/// The suffix of the resource name for the number of devices of a class.
pub(crate) const PER_CLASS: &str = ".deviceclass.resource.k8s.io/devices";

/// The infix of the resource names of a storage class, between its name and the resource.
pub(crate) const STORAGE_CLASS: &str = ".storageclass.storage.k8s.io/";

/// The resources of pods.
const PODS: [&str; 11] = [
    "count/pods",
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
];

/// How often a name counts as a resource of pods; messages repeat it as often.
// Upstream: pkg/quota/v1/evaluator/core/pods.go, podEvaluator.MatchingResources
pub(crate) fn of_pods(name: &str, release: &Release) -> usize {
    let is_fixed = PODS.contains(&name);
    let is_huge_pages = name.starts_with("hugepages-") || name.starts_with("requests.hugepages-");
    usize::from(is_fixed) + usize::from(is_huge_pages) + usize::from(is_extended_request(name, release))
}

/// Whether a name is one of an extended resource in a quota.
// Upstream: pkg/quota/v1/evaluator/core/pods.go, isExtendedResourceNameForQuota
pub(crate) fn is_extended_request(name: &str, release: &Release) -> bool {
    // Upstream: pkg/quota/v1/evaluator/core/pods.go: before 1.35, the names of classes were native ones.
    let is_of_class = |requested: &str| requested.starts_with(DEVICE_CLASS) && release.at_least(1, 35);
    let requested = name.strip_prefix("requests.");
    requested.is_some_and(|requested| !is_native(name) || is_of_class(requested))
}

/// Whether a name is one of services.
pub(crate) fn is_of_services(name: &str) -> bool {
    matches!(
        name,
        "count/services" | "services" | "services.nodeports" | "services.loadbalancers"
    )
}

/// Whether a name is one of persistent volume claims, of any storage class.
// Upstream: pkg/quota/v1/evaluator/core/persistent_volume_claims.go, pvcEvaluator.MatchingResources
pub(crate) fn is_of_volume_claims(name: &str) -> bool {
    const RESOURCES: [&str; 2] = ["persistentvolumeclaims", "requests.storage"];
    let of_class = || {
        let with_class = RESOURCES
            .iter()
            .filter_map(|resource| name.strip_suffix(resource));
        with_class.into_iter().any(|class| class.ends_with(STORAGE_CLASS))
    };
    name == "count/persistentvolumeclaims" || RESOURCES.contains(&name) || of_class()
}

/// Whether a resource is one of Kubernetes itself.
// Upstream: pkg/apis/core/v1/helper/helpers.go, IsNativeResource
pub(crate) fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// Whether a name may be one of resource claims, depending on which device classes there are.
pub(crate) fn may_be_of_resource_claims(name: &str) -> bool {
    name == "count/resourceclaims.resource.k8s.io"
        || name.ends_with(PER_CLASS)
        || name.starts_with("requests.")
}

/// Whether a name is one that counts objects.
pub(crate) fn is_count(name: &str) -> bool {
    name.starts_with("count/")
        || matches!(
            name,
            "configmaps" | "resourcequotas" | "replicationcontrollers" | "secrets"
        )
}
