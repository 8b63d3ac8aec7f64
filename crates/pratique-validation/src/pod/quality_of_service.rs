//! The quality-of-service class of a Pod, which may not change.

use pratique_types::quality_of_service;

use crate::node::Node;

/// The class that a stored Pod has.
// Upstream: pkg/apis/core/helper/qos/qos.go, GetPodQOS
pub(super) fn stored_class<'v>(pod: &Node<'_, 'v>) -> &'v str {
    let status = pod.child("status");
    match status.child("qosClass").as_text() {
        "" => quality_of_service(pod.value()),
        class => class,
    }
}
