//! What the plugin does by its configuration and by the release of the server.

use pratique_schema::FeatureGates;

use crate::ScopeSelector;

/// The configuration of the plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuotaSettings {
    /// Resources that may be used only where a quota covers them.
    pub limited: Vec<LimitedResource>,
    /// The release of the server, with its feature gates.
    pub feature_gates: FeatureGates,
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
