//! The plugins of the chain, started as an API server starts them.

use pratique::expressions::Expressions;
use pratique_review::chain::{self, ChainSettings, StartFailure, StartedPlugins};
use pratique_schema::FeatureGates;

use crate::exit::CliError;
use crate::policies::{LoadFailure, configuration_options};

/// Starts the plugins that are on, with what an AdmissionConfiguration file gives them.
pub(crate) fn start(
    settings: &ChainSettings,
    configuration: Option<&str>,
    gates: FeatureGates,
    expressions: &Expressions,
) -> Result<StartedPlugins, LoadFailure> {
    let options = configuration_options(expressions, gates);
    let path = configuration.unwrap_or_default();
    let started = chain::start(settings, gates, path, &options, &|_| Ok(()));
    started.map_err(|failure| match failure {
        StartFailure::Switches(error) => CliError::from(error).into(),
        StartFailure::Dynamic { plugin } => CliError::DynamicPlugin { plugin: plugin.name }.into(),
        StartFailure::Configuration(refused) => refused.errors.into(),
    })
}
