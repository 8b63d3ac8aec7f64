//! The admission plugins that are built into an API server, started from their configuration.

use pratique_manifest::{Failure, Problem, Rule, load_kube_config};
use pratique_plugin::{Plugin, PluginFactory, PluginSettings, StartError};

/// Makes a plugin from what an AdmissionConfiguration gives it. Absolute paths in that begin at the root.
///
/// # Errors
/// The server would not start, with its message.
pub(crate) fn make(
    factory: &PluginFactory,
    settings: PluginSettings<'_>,
    root: &str,
) -> Result<Box<dyn Plugin>, Failure> {
    let check = |path: &str| {
        let found = match path.starts_with('/') {
            true => format!("{root}{path}"),
            false => path.to_owned(),
        };
        load_kube_config(&found)
            .map(drop)
            .map_err(|error| error.to_string())
    };
    let settings = settings.with_kubeconfig_check(&check);
    (factory.make)(&settings).map_err(|error| failure(factory.name, error))
}

/// The failure with which a server ends.
pub(crate) fn failure(plugin: &str, error: StartError) -> Failure {
    let text = error.of_plugin(plugin);
    let problems = match error {
        StartError::Refused(failure) | StartError::NotInitialized(failure) => failure.problems,
        StartError::Configuration(message) | StartError::Initialization(message) => {
            vec![Problem::new(Rule::Configuration, message)]
        }
    };
    Failure { text, problems }
}
