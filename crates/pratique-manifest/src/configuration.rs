//! AdmissionConfiguration files: what configures which plugin, and the manifests of all of them.

mod enabled_plugins;
mod ignored_entries;
mod kubeconfig;
mod loader;
mod open;
mod plugin;
mod root;
mod source;
mod typed_configuration;

use std::fmt;

use pratique_schema::FeatureGates;
use pratique_types::KubeConfig;
use pratique_types::configuration::StaticOrder;

use crate::load::options::LoadOptions;
use crate::load::set::ManifestSet;
use crate::plugin::ManifestPlugin;
use crate::position::Location;
use crate::problem::{Failure, LoadErrors};
pub use enabled_plugins::{EnabledPlugins, GivenConfiguration, StartPlugin, StartedPlugin};
pub use ignored_entries::{IgnoredPlugin, IgnoredReason};
pub use kubeconfig::{KubeConfigError, KubeConfigIssue, load_kube_config};
pub use loader::ConfigurationLoader;
pub use typed_configuration::{
    ConfigurationFault, ConfigurationKind, DecodedConfiguration, FieldStrictness,
    decode_plugin_configuration, invalid_configuration,
};

/// How to load an AdmissionConfiguration.
#[derive(Clone, Copy)]
pub struct ConfigurationOptions<'a> {
    /// How to load the manifests that it names.
    pub manifests: LoadOptions<'a>,
    /// The server's release and feature gates.
    pub feature_gates: FeatureGates,
}

/// An AdmissionConfiguration and the manifests that it names.
#[derive(Clone, Debug, Default)]
pub struct LoadedConfiguration {
    /// The plugins that have a static manifest directory or a kubeconfig, in the order in which they start.
    pub plugins: Vec<PluginConfiguration>,
    /// The other plugins whose configuration was read.
    pub started: Vec<StartedPlugin>,
    /// The entries that the server ignores.
    pub ignored: Vec<IgnoredPlugin>,
    /// Text after the file's first document, which the server does not read.
    pub unread: Option<Location>,
}

/// One plugin's configuration and its manifests.
#[derive(Clone, Debug)]
pub struct PluginConfiguration {
    /// The plugin.
    pub plugin: ManifestPlugin,
    /// Its static manifest directory, if it has one.
    pub static_manifests_dir: Option<String>,
    /// When its static webhooks are called.
    pub static_order: StaticOrder,
    /// The kubeconfig file that webhook plugins authenticate with, if there is one.
    pub kube_config_file: Option<String>,
    /// The kubeconfig, with the files that it names.
    pub kube_config: Option<KubeConfig>,
    /// The manifests of the directory.
    pub manifests: ManifestSet,
}

/// Why an AdmissionConfiguration does not load. It displays as its [errors](LoadErrors), of which `{:#}` shows all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ConfigurationErrors {
    /// All failures; the text of the first is what the server would stop with.
    pub errors: LoadErrors,
    /// The exit code of a server that stops with the first failure: 1, or 255 if it ends through `klog.Fatal`.
    pub exit_code: u8,
}

impl fmt::Display for ConfigurationErrors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.errors, formatter)
    }
}

/// A failure and the exit code of a server that stops with it.
pub(crate) struct StartupFailure {
    pub(crate) failure: Failure,
    pub(crate) exit_code: u8,
}

impl From<Failure> for StartupFailure {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            exit_code: 1,
        }
    }
}
