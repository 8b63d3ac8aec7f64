//! Flags of an API server about its admission plugins.

use clap::Args;
use pratique_types::admission_plugins::{BuiltIn, PluginSwitches, known};

/// Which admission plugins an API server runs.
#[derive(Debug, Default, Args)]
pub(crate) struct AdmissionPluginArguments {
    /// Admission plugins that the server runs besides those that are on by default. Without it, those that the
    /// AdmissionConfiguration configures are taken to be on.
    #[arg(
        long,
        env = "PRATIQUE_ENABLE_ADMISSION_PLUGINS",
        value_name = "NAME,…",
        value_delimiter = ',',
        value_parser = to_enable
    )]
    enable_admission_plugins: Option<Vec<&'static BuiltIn>>,
    /// Admission plugins that the server does not run although they are on by default.
    #[arg(
        long,
        env = "PRATIQUE_DISABLE_ADMISSION_PLUGINS",
        value_name = "NAME,…",
        value_delimiter = ',',
        value_parser = to_disable
    )]
    disable_admission_plugins: Vec<&'static BuiltIn>,
}

// Upstream: apiserver/pkg/server/options/admission.go, AdmissionOptions.Validate
fn to_enable(name: &str) -> Result<&'static BuiltIn, String> {
    known(name).map_err(|error| format!("enable-admission-plugins plugin {name:?} is unknown: {error}"))
}

fn to_disable(name: &str) -> Result<&'static BuiltIn, String> {
    known(name).map_err(|error| format!("disable-admission-plugins plugin {name:?} is unknown: {error}"))
}

impl AdmissionPluginArguments {
    /// Which plugins are on.
    pub(crate) fn switches(&self) -> PluginSwitches {
        PluginSwitches {
            enabled: self.enable_admission_plugins.clone(),
            disabled: self.disable_admission_plugins.clone(),
            ..PluginSwitches::default()
        }
    }
}
