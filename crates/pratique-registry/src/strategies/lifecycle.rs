//! `lifecycle.k8s.io`.
// Upstream: pkg/registry/lifecycle/*/strategy.go

use crate::strategy::{PartEndpoint, ResourceStrategy};

const GROUP: &str = "lifecycle.k8s.io";

pub(super) const STRATEGIES: &[ResourceStrategy] = &[
    ResourceStrategy::new(GROUP, "Eviction")
        .conditional()
        .generation(&[&["spec"]])
        .status(PartEndpoint::STATUS_ONLY),
    ResourceStrategy::new(GROUP, "EvictionRequest")
        .conditional()
        .generation(&[&["spec"]])
        .status(PartEndpoint::STATUS_ONLY),
];
