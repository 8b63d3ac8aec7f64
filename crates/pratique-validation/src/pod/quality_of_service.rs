//! The quality-of-service class of a Pod.
// Upstream: pkg/apis/core/helper/qos/qos.go, ComputePodQOS

use std::collections::BTreeMap;

use pratique_gotext::quantity::Quantity;

use crate::node::Node;
use crate::quantities::{is_huge_pages, quantity};

/// The resources that the class depends on.
const COMPUTE: [&str; 2] = ["cpu", "memory"];

/// Sums by resource.
type Sums = BTreeMap<&'static str, Quantity>;

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
    let (mut requests, mut limits, mut is_guaranteed) = (Sums::new(), Sums::new(), true);
    let of_pod = spec.child("resources");
    if decides(&of_pod) {
        add(&of_pod.child("requests"), &mut requests);
        let limited = add(&of_pod.child("limits"), &mut limits);
        // Without limits at all, the requests decide.
        is_guaranteed = limited == COMPUTE.len() || of_pod.child("limits").is_empty();
    } else {
        for list in ["containers", "initContainers"] {
            for container in spec.child(list).items() {
                let resources = container.child("resources");
                add(&resources.child("requests"), &mut requests);
                is_guaranteed &= add(&resources.child("limits"), &mut limits) == COMPUTE.len();
            }
        }
    }
    if requests.is_empty() && limits.is_empty() {
        return "BestEffort";
    }
    if is_guaranteed && requests == limits {
        "Guaranteed"
    } else {
        "Burstable"
    }
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

/// Adds positive amounts, and says of how many resources there are some.
fn add(amounts: &Node<'_, '_>, sums: &mut Sums) -> usize {
    let mut count = 0;
    for name in COMPUTE {
        let amount = quantity(&amounts.key(name));
        if amount.signum() <= 0 {
            continue;
        }
        count += 1;
        let sum = match sums.get(name) {
            // A sum out of bounds stays as it was.
            Some(sum) => sum.add(&amount).unwrap_or_else(|_| sum.clone()),
            None => amount,
        };
        sums.insert(name, sum);
    }
    count
}
