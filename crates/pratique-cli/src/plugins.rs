//! The admission plugins that are built into an API server, started from their configuration.

use pratique_manifest::{Failure, load_kube_config};
use pratique_plugin::{Plugin, PluginFactory, PluginSettings};
use pratique_suite::chain;

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
    chain::make_plugin(factory, settings, &check)
}
