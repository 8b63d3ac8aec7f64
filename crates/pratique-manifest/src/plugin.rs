//! The four admission plugins that read static manifests, and their kinds.

use std::fmt;
use std::str::FromStr;

use crate::kind::Kind;

/// An admission plugin of kube-apiserver that loads a directory of static manifests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ManifestPlugin {
    /// MutatingAdmissionPolicies and their bindings.
    MutatingAdmissionPolicy,
    /// MutatingWebhookConfigurations.
    MutatingAdmissionWebhook,
    /// ValidatingAdmissionPolicies and their bindings.
    ValidatingAdmissionPolicy,
    /// ValidatingWebhookConfigurations.
    ValidatingAdmissionWebhook,
}

impl ManifestPlugin {
    /// Every plugin, in the order in which the server starts them.
    pub const START_ORDER: [Self; 4] = [
        Self::MutatingAdmissionPolicy,
        Self::MutatingAdmissionWebhook,
        Self::ValidatingAdmissionPolicy,
        Self::ValidatingAdmissionWebhook,
    ];

    /// The plugin's name, as in `--enable-admission-plugins` and AdmissionConfiguration.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MutatingAdmissionPolicy => "MutatingAdmissionPolicy",
            Self::MutatingAdmissionWebhook => "MutatingAdmissionWebhook",
            Self::ValidatingAdmissionPolicy => "ValidatingAdmissionPolicy",
            Self::ValidatingAdmissionWebhook => "ValidatingAdmissionWebhook",
        }
    }

    /// The plugin of this exact name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::START_ORDER.into_iter().find(|plugin| plugin.name() == name)
    }

    /// Whether the plugin loads policies and bindings (and not webhook configurations).
    #[must_use]
    pub const fn is_policy(self) -> bool {
        matches!(
            self,
            Self::MutatingAdmissionPolicy | Self::ValidatingAdmissionPolicy
        )
    }

    /// Whether manifests of this kind belong in the plugin's directory.
    #[must_use]
    pub fn accepts(self, kind: Kind) -> bool {
        kind.plugin() == self
    }
}

/// A text is the name of no plugin that loads static manifests.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no plugin {0:?} that loads static manifests")]
pub struct UnknownManifestPlugin(pub String);

/// By its [name](ManifestPlugin::name).
impl FromStr for ManifestPlugin {
    type Err = UnknownManifestPlugin;

    fn from_str(name: &str) -> Result<Self, UnknownManifestPlugin> {
        Self::from_name(name).ok_or_else(|| UnknownManifestPlugin(name.to_owned()))
    }
}

impl fmt::Display for ManifestPlugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
