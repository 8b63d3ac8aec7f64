//! What usage depends on besides objects: the release of the server, and its feature gates.

use pratique_plugin::gates;
use pratique_schema::{FeatureGates, Release};

/// How a server measures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UsageRules {
    pub(crate) release: &'static Release,
    /// Whether the resources of whole pods count.
    pub(crate) has_pod_level: bool,
    /// Whether the statuses of containers count, which differ from what they declare while a pod is resized.
    pub(crate) has_statuses: bool,
    /// Whether devices count as extended resources.
    pub(crate) has_extended_devices: bool,
}

impl UsageRules {
    pub(crate) fn new(feature_gates: FeatureGates) -> Self {
        let release = feature_gates.release();
        let is_on = |gate| feature_gates.is_on(gate);
        // Upstream: pkg/quota/v1/evaluator/core/pods.go, PodUsageFunc: 1.38 has the gate no more.
        let has_statuses = is_on(gates::IN_PLACE_POD_VERTICAL_SCALING) || release.at_least(1, 38);
        // Upstream: pkg/quota/v1/evaluator/core/resource_claims.go, addExtendedResourceQuota, is new in 1.35.
        let has_extended_devices = is_on(gates::DRA_EXTENDED_RESOURCE) && release.at_least(1, 35);
        UsageRules {
            release,
            has_pod_level: is_on(gates::POD_LEVEL_RESOURCES),
            has_statuses,
            has_extended_devices,
        }
    }
}
