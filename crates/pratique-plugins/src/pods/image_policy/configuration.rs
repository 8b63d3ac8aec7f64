//! The configuration of ImagePolicyWebhook.

use std::time::Duration;

use pratique_json::{Object, Value};
use pratique_manifest::invalid_configuration;
use pratique_plugin::{PluginSettings, StartError};

use crate::configuration::documents;

/// How the backend's answers count.
pub(super) struct ImageConfiguration {
    /// Where the backend is.
    pub(super) backend: ImagePolicyBackend,
    /// How long an image stays allowed.
    pub(super) allow_ttl: Duration,
    /// How long an image stays refused.
    pub(super) deny_ttl: Duration,
    /// Whether images are allowed while the backend does not answer.
    pub(super) default_allow: bool,
}

/// The backend of ImagePolicyWebhook in the plugin's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImagePolicyBackend {
    /// The kubeconfig whose current context has its URL and the credentials for it.
    pub kube_config_file: String,
    /// How long a call waits before it is first repeated.
    pub retry_backoff: Duration,
}

impl ImagePolicyBackend {
    /// Reads the configuration of the plugin.
    ///
    /// # Errors
    /// The server would not start.
    pub fn read(settings: &PluginSettings<'_>) -> Result<Self, StartError> {
        read(settings).map(|configuration| configuration.backend)
    }
}

const SECOND: i64 = 1_000_000_000;
const MILLISECOND: i64 = 1_000_000;

// Upstream: plugin/pkg/admission/imagepolicy/admission.go, NewImagePolicyWebhook
pub(super) fn read(settings: &PluginSettings<'_>) -> Result<ImageConfiguration, StartError> {
    let text = settings
        .configuration
        .ok_or_else(|| StartError::new("no config specified"))?;
    let refused = |field: &str, message: String| {
        StartError::Refused(invalid_configuration(
            settings.configuration_file,
            text,
            (&message, field),
            settings.feature_gates.release(),
        ))
    };
    let document = match documents(text, settings.feature_gates.release()).next() {
        None => return Err(StartError::new("EOF")),
        Some(Err(_)) if is_cut_off(text) => return Err(StartError::new("unexpected EOF")),
        Some(Err(error)) => return Err(refused("", error.to_string())),
        Some(Ok(document)) => document,
    };
    // Go finds fields whatever their case.
    let field = |of: &Value<'_>, name: &str| -> Option<Value<'static>> {
        let mut members = of.as_object().into_iter().flat_map(Object::iter);
        let member = members.find(|(key, _)| key.eq_ignore_ascii_case(name));
        member.map(|(_, value)| value.clone().into_owned())
    };
    let policy = field(&document, "imagePolicy").unwrap_or_default();
    let number = |name: &str| {
        field(&policy, name)
            .and_then(|value| value.as_int())
            .unwrap_or_default()
    };
    let duration = |name: &str, unit, least, most, default| {
        duration(number(name), unit, least, most, default)
            .map_err(|message| refused(&format!("imagePolicy.{name}"), message))
    };
    let retry_backoff = duration("retryBackoff", MILLISECOND, 1, 300 * SECOND, 500 * MILLISECOND)?;
    let allow_ttl = duration("allowTTL", SECOND, SECOND, 1800 * SECOND, 300 * SECOND)?;
    let deny_ttl = duration("denyTTL", SECOND, SECOND, 1800 * SECOND, 30 * SECOND)?;
    let kubeconfig = field(&policy, "kubeConfigFile");
    let kubeconfig = kubeconfig.as_ref().and_then(Value::as_str).unwrap_or_default();
    let of_kubeconfig = |message| refused("imagePolicy.kubeConfigFile", message);
    if kubeconfig.is_empty() {
        let message = "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER \
             environment variable";
        return Err(of_kubeconfig(message.to_owned()));
    }
    if let Some(check) = settings.check_kubeconfig {
        check(kubeconfig).map_err(of_kubeconfig)?;
    }
    Ok(ImageConfiguration {
        backend: ImagePolicyBackend {
            kube_config_file: kubeconfig.to_owned(),
            retry_backoff,
        },
        allow_ttl,
        deny_ttl,
        default_allow: field(&policy, "defaultAllow").and_then(|value| value.as_bool()) == Some(true),
    })
}

/// A duration in a unit, within bounds; -1 is none, 0 the default.
// Upstream: plugin/pkg/admission/imagepolicy/config.go, normalizeConfigDuration
fn duration(value: i64, unit: i64, least: i64, most: i64, default: i64) -> Result<Duration, String> {
    let nanoseconds = match value {
        -1 => 0,
        0 => default,
        value => {
            let value = value.wrapping_mul(unit);
            if value < least || value > most {
                let [least, most, value] = [least, most, value].map(show_duration);
                return Err(format!("valid value is between {least} and {most}, got {value}"));
            }
            value
        }
    };
    Ok(Duration::from_nanos(nanoseconds.unsigned_abs()))
}

/// A duration as Go shows it.
fn show_duration(nanoseconds: i64) -> String {
    pratique_gotext::time::Duration::from_nanos(nanoseconds).in_messages()
}

/// Whether a text is JSON that ends too early.
fn is_cut_off(text: &[u8]) -> bool {
    pratique_yaml::is_json(text)
        // These words are that the text ends, wherever it does; those before are of the last number or literal.
        && pratique_yaml::json_as_json(text)
            .is_err_and(|error| error.to_text(true) == "unexpected end of JSON input")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_end_within_a_value_are_cut_off() {
        for text in ["{\"a\": ", "{\"a\": tr", "{\"a\": 1e", "{\"a\": \"\\u00"] {
            assert!(is_cut_off(text.as_bytes()), "{text}");
        }
        assert!(!is_cut_off(b"{\"a\" 1") && !is_cut_off(b"a: "));
    }
}
