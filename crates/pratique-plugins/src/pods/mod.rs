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

pub(crate) use always_pull_images::FACTORY as ALWAYS_PULL_IMAGES;
pub(crate) use anti_affinity::FACTORY as LIMIT_POD_HARD_ANTI_AFFINITY_TOPOLOGY;
pub(crate) use default_toleration_seconds::FACTORY as DEFAULT_TOLERATION_SECONDS;
pub(crate) use extended_resource_toleration::FACTORY as EXTENDED_RESOURCE_TOLERATION;
pub(crate) use image_policy::FACTORY as IMAGE_POLICY_WEBHOOK;
pub use image_policy::ImagePolicyBackend;
pub(crate) use limit_ranger::FACTORY as LIMIT_RANGER;
pub(crate) use pod_node_selector::FACTORY as POD_NODE_SELECTOR;
pub(crate) use pod_resize::FACTORY as POD_RESIZE_VALIDATOR;
pub(crate) use pod_toleration_restriction::FACTORY as POD_TOLERATION_RESTRICTION;
pub(crate) use priority::FACTORY as PRIORITY;
pub(crate) use resources::quantity;
pub(crate) use runtime_class::FACTORY as RUNTIME_CLASS;
pub(crate) use service_account::FACTORY as SERVICE_ACCOUNT;
pub(crate) use service_account::{references_config_maps, references_secrets};
pub(crate) use topology_labels::FACTORY as POD_TOPOLOGY_LABELS;

/// The annotation of pods that a kubelet runs without the server.
pub(crate) const MIRROR_POD: &str = "kubernetes.io/config.mirror";

/// The lists of containers in a pod's `spec`, in the order in which the server visits them.
pub(crate) const CONTAINER_LISTS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// Whether a request is for pods or a part of them.
pub(crate) fn is_for_pods(request: &AdmissionRequest<'_>) -> bool {
    request.resource.resource == "pods" && request.resource.group.is_empty()
}

/// Whether a request is for pods themselves.
pub(crate) fn is_for_whole_pods(request: &AdmissionRequest<'_>) -> bool {
    request.sub_resource.is_empty() && is_for_pods(request)
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
