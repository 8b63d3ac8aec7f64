//! The plugins of the chain, started as an API server starts them.

use pratique::expressions::Expressions;
use pratique_manifest::ConfigurationOptions;
use pratique_suite::chain::{self, ChainSettings, StartFailure, Started};
use pratique_types::FeatureGates;

use crate::arguments::ChainArguments;
use crate::exit::CliError;
use crate::policies::LoadFailure;

/// Starts the plugins that are on, with what an AdmissionConfiguration file gives them.
pub(in super::super) fn start(
    arguments: &ChainArguments,
    configuration: Option<&str>,
    gates: FeatureGates,
    expressions: &Expressions,
) -> Result<Started, LoadFailure> {
    let settings = ChainSettings {
        switches: arguments.admission_plugins.switches(),
        not_ready_toleration_seconds: arguments.default_not_ready_toleration_seconds,
        unreachable_toleration_seconds: arguments.default_unreachable_toleration_seconds,
    };
    let options = ConfigurationOptions {
        manifests: expressions.options(),
        manifest_gate: gates.manifests,
    };
    let path = configuration.unwrap_or_default();
    let started = chain::start(&settings, path, &options, &|_| Ok(()));
    started.map_err(|failure| match failure {
        StartFailure::Overlap(overlap) => CliError::from(overlap).into(),
        StartFailure::Dynamic { plugin } => CliError::DynamicPlugin { plugin: plugin.name }.into(),
        StartFailure::Configuration(refused) => refused.errors.into(),
    })
}
