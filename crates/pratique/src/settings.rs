//! The settings that an admission has from its builder.

use pratique_policy::OnUndecided;
use pratique_schema::FeatureGates;

use crate::cores::Helpers;
use crate::plugins::Plugins;
use crate::step::Steps;

/// What an [`AdmissionBuilder`](crate::AdmissionBuilder) sets besides manifests and callers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) feature_gates: FeatureGates,
    /// Whether configuration of admission is checked as an API server's registry does.
    pub(crate) registry_checks: bool,
    pub(crate) on_undecided: OnUndecided,
    /// When static mutating webhooks are called.
    #[cfg(feature = "webhooks")]
    pub(crate) static_order: pratique_types::configuration::StaticOrder,
    pub(crate) plugins: Plugins,
    pub(crate) steps: Steps,
    pub(crate) helpers: Helpers,
}
