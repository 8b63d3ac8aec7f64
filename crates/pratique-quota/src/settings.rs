//! Resources that only quotas make available.

use crate::ScopeSelector;

/// The configuration of the plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuotaSettings {
    /// Resources that may be used only where a quota covers them.
    pub limited: Vec<LimitedResource>,
    /// Whether devices do not count as extended resources: the feature gate `DRAExtendedResource` is off.
    pub without_extended_resources: bool,
    /// Whether resources of whole pods are not read: the feature gate `PodLevelResources` is off.
    pub without_pod_level_resources: bool,
}

/// Objects that may use something only where a quota covers it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitedResource {
    /// The API group of the objects.
    pub api_group: String,
    /// The resource of the objects: `pods`.
    pub resource: String,
    /// Substrings of the names of the limited resources that they use.
    pub match_contains: Vec<String>,
    /// Scopes in which they need a quota.
    pub match_scopes: Vec<ScopeSelector>,
}
