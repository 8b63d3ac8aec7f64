//! The settings that an admission has from its builder.

use pratique_policy::OnUndecided;
use pratique_schema::FeatureGates;

use crate::cores::HelperWorkers;
use crate::plugins::AdmissionPlugins;
use crate::step::ChainSteps;

/// What an [`AdmissionBuilder`](crate::AdmissionBuilder) sets besides manifests and callers.
#[derive(Clone, Debug, Default)]
pub(crate) struct AdmissionSettings {
    pub(crate) feature_gates: FeatureGates,
    /// Whether configuration of admission is checked as an API server's registry does.
    pub(crate) registry_checks: bool,
    pub(crate) on_undecided: OnUndecided,
    /// When static mutating webhooks are called.
    #[cfg(feature = "webhooks")]
    pub(crate) static_order: pratique_types::configuration::StaticOrder,
    pub(crate) plugins: AdmissionPlugins,
    pub(crate) steps: ChainSteps,
    pub(crate) helpers: HelperWorkers,
}
