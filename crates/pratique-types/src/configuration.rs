//! The configuration of admission in `apiserver.config.k8s.io/v1`: which plugin is configured how.

use serde::{Deserialize, Serialize};

use crate::null::or_default;

/// `AdmissionConfiguration`: the file that `--admission-control-config-file` names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct AdmissionConfiguration {
    /// The plugins that are configured. Of two with one name, the first counts.
    #[serde(deserialize_with = "or_default")]
    pub plugins: Vec<AdmissionPluginConfiguration>,
}

/// One plugin's configuration, embedded or in a separate file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct AdmissionPluginConfiguration {
    /// The plugin's name.
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    /// The file that holds the plugin's configuration, relative to the one that names it. Embedded configuration
    /// comes first.
    #[serde(deserialize_with = "or_default")]
    pub path: String,
    /// The plugin's configuration, embedded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<serde_json::Value>,
}

/// `ValidatingAdmissionPolicyConfiguration`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ValidatingAdmissionPolicyConfiguration {
    /// The directory of static policies and bindings, absolute. Empty for none.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub static_manifests_dir: String,
}

/// `MutatingAdmissionPolicyConfiguration`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct MutatingAdmissionPolicyConfiguration {
    /// The directory of static policies and bindings, absolute. Empty for none.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub static_manifests_dir: String,
}

/// `WebhookAdmissionConfiguration`, of the validating and of the mutating plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct WebhookAdmissionConfiguration {
    /// The kubeconfig file that says how to authenticate to webhooks, absolute. Empty for none.
    #[serde(deserialize_with = "or_default")]
    pub kube_config_file: String,
    /// The directory of static webhook configurations, absolute. Empty for none.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub static_manifests_dir: String,
    /// The [`StaticOrder`], since 1.38. Empty for the default.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub static_order: String,
}

/// When the mutating webhooks of static manifests are called, beside those of the API.
// Upstream: apiserver/pkg/admission/plugin/webhook/config/apis/webhookadmission/v1/types.go, StaticOrder
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StaticOrder {
    /// Before them.
    #[default]
    StaticFirst,
    /// After them.
    StaticLast,
    /// All in the order of the names of their configurations.
    ByName,
}

impl StaticOrder {
    /// All of them, as an API server lists them.
    pub const ALL: [Self; 3] = [
        StaticOrder::ByName,
        StaticOrder::StaticFirst,
        StaticOrder::StaticLast,
    ];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            StaticOrder::StaticFirst => "StaticFirst",
            StaticOrder::StaticLast => "StaticLast",
            StaticOrder::ByName => "ByName",
        }
    }

    /// The order of a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.as_str() == name)
    }
}
