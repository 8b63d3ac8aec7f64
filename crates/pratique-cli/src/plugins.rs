//! The admission plugins that are built into an API server, started from their configuration.

use std::path::Path;

use pratique_manifest::Failure;
use pratique_plugin::{Plugin, PluginFactory, PluginSettings};
use pratique_review::chain::{self, PathPermit};

/// Makes a plugin from what an AdmissionConfiguration gives it. Absolute paths in that begin at the root; of the files that it
/// names, only those that `permit` accepts are opened.
///
/// # Errors
/// The server would not start, with its message.
pub(crate) fn make(
    factory: &PluginFactory,
    settings: PluginSettings<'_>,
    root: &str,
    permit: &PathPermit<'_>,
) -> Result<Box<dyn Plugin>, Failure> {
    let release = settings.feature_gates.release();
    let check = |path: &str| {
        let path = if path.starts_with('/') {
            format!("{root}{path}")
        } else {
            path.to_owned()
        };
        permit(Path::new(&path)).map_err(|error| error.to_string())?;
        chain::check_kube_config(&path, release)
    };
    chain::make_plugin(factory, settings, &check)
}
