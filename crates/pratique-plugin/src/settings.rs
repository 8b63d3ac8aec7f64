//! What plugins are made from.

use pratique_types::FeatureGates;

use crate::plugin::Plugin;

/// What a plugin is made from: its configuration, and the flags of the server that it reads.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PluginSettings<'a> {
    /// The plugin's configuration, YAML or JSON; `None` where the admission configuration does not name the plugin.
    pub configuration: Option<&'a [u8]>,
    /// The feature gates of the server.
    pub feature_gates: &'a FeatureGates,
    /// `--default-not-ready-toleration-seconds`.
    pub not_ready_toleration_seconds: i64,
    /// `--default-unreachable-toleration-seconds`.
    pub unreachable_toleration_seconds: i64,
}

/// Why a plugin does not start, in the words of the server: what comes after `couldn't init admission plugin "…": `.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct StartError {
    /// The text.
    pub message: String,
}

/// Makes a plugin of a name.
#[derive(Clone, Copy, Debug)]
pub struct PluginFactory {
    /// The plugin's name.
    pub name: &'static str,
    /// Makes it, or says why its configuration is refused.
    pub make: fn(&PluginSettings<'_>) -> Result<Box<dyn Plugin>, StartError>,
}

impl<'a> PluginSettings<'a> {
    /// Settings without configuration, with the default flags.
    pub fn new(feature_gates: &'a FeatureGates) -> Self {
        PluginSettings {
            configuration: None,
            feature_gates,
            not_ready_toleration_seconds: 300,
            unreachable_toleration_seconds: 300,
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

impl StartError {
    /// An error with a text.
    pub fn new(message: impl Into<String>) -> Self {
        StartError {
            message: message.into(),
        }
    }
}
