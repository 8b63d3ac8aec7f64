//! The admission plugins that are built into an API server, started from their configuration.

use pratique_manifest::Failure;
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
    let check = |path: &str| match path.starts_with('/') {
        true => chain::check_kube_config(&format!("{root}{path}")),
        false => chain::check_kube_config(path),
    };
    chain::make_plugin(factory, settings, &check)
}
