//! The quality-of-service class of a Pod.
// Upstream: pkg/apis/core/helper/qos/qos.go, ComputePodQOS

use crate::node::Node;
use crate::quantities::{is_huge_pages, quantity};

/// The resources that the class depends on.
const COMPUTE: [&str; 2] = ["cpu", "memory"];

const BEST_EFFORT: &str = "BestEffort";
const BURSTABLE: &str = "Burstable";
const GUARANTEED: &str = "Guaranteed";

/// The class that a stored Pod has.
// Upstream: pkg/apis/core/helper/qos/qos.go, GetPodQOS
pub(super) fn stored_class<'v>(pod: &Node<'_, 'v>) -> &'v str {
    let status = pod.child("status");
    match status.child("qosClass").text() {
        "" => compute_class(pod),
        class => class,
    }
}

/// The class by the resources of a Pod.
pub(super) fn compute_class(pod: &Node<'_, '_>) -> &'static str {
    let spec = pod.child("spec");
    let of_pod = spec.child("resources");
    if decides(&of_pod) {
        return class_of(&of_pod);
    }
    let lists = [spec.child("initContainers"), spec.child("containers")];
    let containers = lists.iter().flat_map(Node::items);
    common_class(containers.map(|container| class_of(&container.child("resources"))))
}

/// Whether the resources of the whole Pod decide, rather than those of its containers.
// Upstream: pkg/apis/core/helper/helpers.go, IsPodLevelResourcesSet
fn decides(resources: &Node<'_, '_>) -> bool {
    ["requests", "limits"].iter().any(|list| {
        let list = resources.child(list);
        list.entries()
            .any(|(name, _)| COMPUTE.contains(&name) || is_huge_pages(name))
    })
}

// Upstream: pkg/apis/core/helper/qos/qos.go, requirementsQOS
fn class_of(resources: &Node<'_, '_>) -> &'static str {
    let (requests, limits) = (resources.child("requests"), resources.child("limits"));
    if requests.is_empty() && limits.is_empty() {
        return BEST_EFFORT;
    }
    common_class(COMPUTE.iter().map(|name| {
        let request = quantity(&requests.key(name));
        if request != quantity(&limits.key(name)) {
            BURSTABLE
        } else if request.is_zero() {
            BEST_EFFORT
        } else {
            GUARANTEED
        }
    }))
}

/// The class of parts that all have it; parts of different classes can burst.
fn common_class(mut classes: impl Iterator<Item = &'static str>) -> &'static str {
    let first = classes.next().unwrap_or(BEST_EFFORT);
    if classes.all(|class| class == first) {
        first
    } else {
        BURSTABLE
    }
}
