//! `lifecycle.k8s.io`.
// Upstream: pkg/registry/lifecycle/*/strategy.go

use crate::strategy::{Endpoint, Strategy};

const GROUP: &str = "lifecycle.k8s.io";

pub(super) const STRATEGIES: &[Strategy] = &[
    Strategy::new(GROUP, "Eviction")
        .conditional()
        .generation(&[&["spec"]])
        .status(Endpoint::STATUS_ONLY),
    Strategy::new(GROUP, "EvictionRequest")
        .conditional()
        .generation(&[&["spec"]])
        .status(Endpoint::STATUS_ONLY),
];
