//! Which plugins of kube-apiserver a webhook can stand in for.

mod offered_plugins;
mod refused_plugins;

use pratique_types::admission_plugins::built_in;

/// A plugin of kube-apiserver that a webhook can stand in for, where a control plane has no flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebhookPlugin {
    /// Its name.
    pub name: &'static str,
    /// Whether it has a mutating half.
    pub(crate) mutates: bool,
    /// Whether it has a validating half.
    pub(crate) validates: bool,
    pub(crate) requests: PluginRequests,
    /// Whether it counts requests, so that each changes the decisions on later ones.
    pub counts_requests: bool,
}

/// The requests that a plugin looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PluginRequests {
    /// Those for some resources, in any version.
    For(&'static [PluginRule]),
    /// Those for some resources in the version that is named, and not those for views of the same objects.
    Exactly(&'static [PluginRule]),
    /// Those that change the owners of an object of any kind.
    ChangingOwners,
}

/// Resources of a group, and what is done with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PluginRule {
    pub(crate) group: &'static str,
    pub(crate) version: &'static str,
    pub(crate) resources: &'static [&'static str],
    pub(crate) operations: &'static [&'static str],
}

/// Why a plugin is not offered as a webhook.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotOffered {
    /// A webhook cannot do what it does, or need not.
    #[error("admission plugin {name} is not offered as a webhook: {reason}")]
    Refused {
        /// The plugin.
        name: &'static str,
        /// Why.
        reason: String,
    },
    /// kube-apiserver has no plugin of this name.
    #[error("kube-apiserver has no admission plugin {0:?}")]
    Unknown(String),
}

impl WebhookPlugin {
    /// All of them, in the order of an API server.
    pub const ALL: &'static [Self] = offered_plugins::ALL;

    /// The plugin of a name.
    ///
    /// # Errors
    /// It is none that a webhook can stand in for, for this reason.
    pub fn named(name: &str) -> Result<&'static Self, NotOffered> {
        if let Some(known_plugin) = Self::ALL.iter().find(|plugin| plugin.name == name) {
            return Ok(known_plugin);
        }
        match built_in(name) {
            Some(plugin) => Err(NotOffered::Refused {
                name: plugin.name,
                reason: refused_plugins::reason(plugin),
            }),
            None => Err(NotOffered::Unknown(name.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use pratique_types::admission_plugins::BUILT_IN;

    use super::*;

    #[test]
    fn each_plugin_is_offered_or_refused_with_a_reason() {
        let mut offered = Vec::new();
        for plugin in BUILT_IN {
            match WebhookPlugin::named(plugin.name) {
                Ok(found) => offered.push(found.name),
                Err(NotOffered::Refused { reason, .. }) => assert!(reason.len() > 20, "{}", plugin.name),
                Err(other) => panic!("{other}"),
            }
        }
        let refusal = |name| WebhookPlugin::named(name).unwrap_err().to_string();
        for (name, servers) in [
            ("CertificateSigning", "every API server runs it by itself"),
            (
                "AuthorizationConditionsEnforcer",
                "every API server since Kubernetes 1.38 runs it by itself",
            ),
            (
                "JobValidation",
                "every API server of Kubernetes 1.36 runs it by itself",
            ),
        ] {
            assert!(refusal(name).contains(servers), "{}", refusal(name));
        }
        let all: Vec<_> = WebhookPlugin::ALL.iter().map(|plugin| plugin.name).collect();
        assert_eq!(offered, all);
        assert_eq!(
            WebhookPlugin::named("Quota").unwrap_err().to_string(),
            "kube-apiserver has no admission plugin \"Quota\""
        );
    }
}
