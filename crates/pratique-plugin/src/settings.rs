//! The settings that plugins are made from.

use pratique_gotext::strconv::quote;
use pratique_manifest::{Failure, GivenConfiguration};
use pratique_schema::FeatureGates;

use crate::handler::Handler;
use crate::plugin::Plugin;

/// The settings of a plugin: its configuration, and the flags of the server that it reads.
#[derive(Clone)]
#[non_exhaustive]
pub struct PluginSettings<'a> {
    /// The plugin's configuration, YAML or JSON; `None` where the admission configuration does not name the plugin.
    pub configuration: Option<&'a [u8]>,
    /// The file that the configuration is from, for the places of faults.
    pub configuration_file: &'a str,
    /// The feature gates of the server.
    pub feature_gates: FeatureGates,
    /// `--default-not-ready-toleration-seconds`.
    pub not_ready_toleration_seconds: i64,
    /// `--default-unreachable-toleration-seconds`.
    pub unreachable_toleration_seconds: i64,
    /// Checks the kubeconfig files that configurations name. Without it they are not checked.
    pub check_kubeconfig: Option<&'a KubeconfigCheck<'a>>,
}

/// Checks a kubeconfig file by its path; fails with the message of a server.
pub type KubeconfigCheck<'a> = dyn Fn(&str) -> Result<(), String> + 'a;

/// Why a plugin does not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// It cannot be made from its configuration.
    #[error("{0}")]
    Configuration(String),
    /// It was made, and refuses to be initialized.
    #[error("{0}")]
    Initialization(String),
    /// It cannot be made from its configuration, for faults whose places are known.
    #[error("{}", .0.text)]
    Refused(Failure),
    /// It was made, and refuses to be initialized, for faults whose places are known.
    #[error("{}", .0.text)]
    NotInitialized(Failure),
}

/// Makes a plugin with this handler.
pub type MakePlugin = fn(Handler, &PluginSettings<'_>) -> Result<Box<dyn Plugin>, StartError>;

/// Makes a plugin of a name.
#[derive(Clone, Copy, Debug)]
pub struct PluginFactory {
    /// The plugin's name, and when it is called.
    pub handler: Handler,
    /// Makes the plugin from its settings.
    pub make: MakePlugin,
}

impl PluginFactory {
    /// Makes the plugin.
    ///
    /// # Errors
    /// Its configuration is refused.
    pub fn start(&self, settings: &PluginSettings<'_>) -> Result<Box<dyn Plugin>, StartError> {
        (self.make)(self.handler, settings)
    }
}

impl<'a> PluginSettings<'a> {
    /// Settings without configuration, with the default flags.
    pub fn new(feature_gates: FeatureGates) -> Self {
        PluginSettings {
            configuration: None,
            configuration_file: "",
            feature_gates,
            not_ready_toleration_seconds: 300,
            unreachable_toleration_seconds: 300,
            check_kubeconfig: None,
        }
    }

    /// Sets the check of kubeconfig files.
    #[must_use]
    pub fn with_kubeconfig_check(self, check: &'a KubeconfigCheck<'a>) -> Self {
        PluginSettings {
            check_kubeconfig: Some(check),
            ..self
        }
    }

    /// Sets the plugin's configuration to the one in an admission configuration.
    #[must_use]
    pub fn with_given(self, given: Option<&'a GivenConfiguration>) -> Self {
        PluginSettings {
            configuration: given.map(|given| given.text.as_slice()),
            configuration_file: given.map_or("", |given| given.path.as_str()),
            ..self
        }
    }

    /// Sets the plugin's configuration.
    #[must_use]
    pub fn with_configuration(self, configuration: Option<&'a [u8]>) -> Self {
        PluginSettings {
            configuration,
            ..self
        }
    }
}

impl From<Failure> for StartError {
    fn from(failure: Failure) -> Self {
        StartError::Refused(failure)
    }
}

impl StartError {
    /// An error of the configuration, with a text.
    pub fn new(message: impl Into<String>) -> Self {
        StartError::Configuration(message.into())
    }

    /// The error that the server ends with.
    // Upstream: pkg/admission/plugins.go, NewFromPlugins and InitPlugin
    pub fn of_plugin(&self, plugin: &str) -> String {
        let failure = match self {
            StartError::Configuration(_) | StartError::Refused(_) => "couldn't init",
            StartError::Initialization(_) | StartError::NotInitialized(_) => "failed to initialize",
        };
        format!("{failure} admission plugin {}: {self}", quote(plugin))
    }
}
