//! `networking.k8s.io`.
// Upstream: pkg/registry/networking/*/strategy.go

use crate::strategy::{Endpoint, Strategy};

const GROUP: &str = "networking.k8s.io";

pub(super) const STRATEGIES: &[Strategy] = &[
    Strategy::new(GROUP, "IPAddress"),
    Strategy::new(GROUP, "Ingress")
        .generation(&[&["spec"]])
        .status(Endpoint::STATUS),
    Strategy::new(GROUP, "IngressClass").generation(&[&["spec"]]),
    Strategy::new(GROUP, "NetworkPolicy").generation(&[&["spec"]]),
    Strategy::new(GROUP, "ServiceCIDR").status(Endpoint::STATUS_ONLY),
];
