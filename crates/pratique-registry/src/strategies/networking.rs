//! `networking.k8s.io`.
// Upstream: pkg/registry/networking/*/strategy.go

use crate::strategy::{PartEndpoint, ResourceStrategy};

const GROUP: &str = "networking.k8s.io";

pub(super) const STRATEGIES: &[ResourceStrategy] = &[
    ResourceStrategy::new(GROUP, "IPAddress"),
    ResourceStrategy::new(GROUP, "Ingress")
        .generation(&[&["spec"]])
        .status(PartEndpoint::STATUS),
    ResourceStrategy::new(GROUP, "IngressClass").generation(&[&["spec"]]),
    ResourceStrategy::new(GROUP, "NetworkPolicy").generation(&[&["spec"]]),
    ResourceStrategy::new(GROUP, "ServiceCIDR").status(PartEndpoint::STATUS_ONLY),
];
