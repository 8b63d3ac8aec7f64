//! Plugins for pods.

mod always_pull_images;
mod anti_affinity;
mod cover_index;
mod default_toleration_seconds;
mod extended_resource_toleration;
mod image_policy;
mod limit_ranger;
mod pod_node_selector;
pub(crate) mod pod_resize;
mod pod_toleration_restriction;
mod priority;
mod resources;
mod runtime_class;
mod service_account;
mod toleration;
mod topology_labels;

use pratique_core::Attributes;
use pratique_json::Value;
use pratique_types::AdmissionRequest;

use crate::object::{elements, is_kind};

pub(crate) use always_pull_images::AlwaysPullImages;
pub(crate) use anti_affinity::LimitPodHardAntiAffinityTopology;
pub(crate) use default_toleration_seconds::DefaultTolerationSeconds;
pub(crate) use extended_resource_toleration::ExtendedResourceToleration;
pub use image_policy::ImagePolicyBackend;
pub(crate) use image_policy::ImagePolicyWebhook;
pub(crate) use limit_ranger::LimitRanger;
pub(crate) use pod_node_selector::PodNodeSelector;
pub(crate) use pod_resize::PodResizeValidator;
pub(crate) use pod_toleration_restriction::PodTolerationRestriction;
pub(crate) use priority::PodPriority;
pub(crate) use resources::quantity;
pub(crate) use runtime_class::RuntimeClass;
pub(crate) use service_account::{ServiceAccount, references_config_maps, references_secrets};
pub(crate) use topology_labels::PodTopologyLabels;

/// The annotation of pods that a kubelet runs without the server.
pub(crate) const MIRROR_POD: &str = "kubernetes.io/config.mirror";

/// The lists of containers in a pod's `spec`, in the order in which the server visits them.
pub(crate) const CONTAINER_LISTS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// Whether a request is for pods or a part of them.
pub(crate) fn is_for_pods(request: &AdmissionRequest<'_>) -> bool {
    request.resource.resource == "pods" && request.resource.group.is_empty()
}

/// Whether an object is a Pod.
pub(crate) fn is_pod(object: &Value<'_>) -> bool {
    is_kind(object, "", "Pod")
}

/// The containers of a list of a pod's `spec`.
pub(crate) fn containers<'v, 'o>(pod: &'v Value<'o>, list: &str) -> &'v [Value<'o>] {
    elements(pod, &["spec", list])
}

/// Whether the object of a request is a Pod.
pub(crate) fn has_pod(attributes: &Attributes<'_>) -> bool {
    is_pod(attributes.object)
}
