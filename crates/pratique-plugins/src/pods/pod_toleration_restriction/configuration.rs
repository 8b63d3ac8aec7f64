//! The configuration of PodTolerationRestriction.

use pratique_gotext::strconv::quote;
use pratique_gotext::validation::{label_value, qualified_name, words_before_1_35};
use pratique_manifest::{
    ConfigurationFault, ConfigurationKind, Failure, FieldStrictness, decode_plugin_configuration,
};
use pratique_schema::Release;
use serde_json::Value as Json;

use super::read::OwnedToleration;
use crate::pods::toleration::PodToleration;

const GROUP: &str = "podtolerationrestriction.admission.k8s.io";

const KIND: &str = "Configuration";
const TYPE: &str = "podtolerationrestriction/v1alpha1.Configuration";

const KINDS: [ConfigurationKind; 2] = [
    ConfigurationKind::new(GROUP, "v1alpha1", KIND, TYPE),
    ConfigurationKind::internal(GROUP, KIND),
];

/// The default tolerations and the whitelist of a configuration.
// Upstream: plugin/pkg/admission/podtolerationrestriction/config.go, loadConfiguration
pub(super) fn read(
    path: &str,
    text: &[u8],
    release: &'static Release,
) -> Result<(Vec<OwnedToleration>, Vec<OwnedToleration>), Failure> {
    let decoded = decode_plugin_configuration(path, text, &KINDS, (FieldStrictness::Lenient, release))?;
    let mut faults = Vec::new();
    let mut list = |field: &str| {
        let listed = decoded.value().get(field).and_then(Json::as_array);
        let tolerations = listed.into_iter().flatten();
        let tolerations: Vec<_> = tolerations.map(OwnedToleration::of_decoded).collect();
        validate(&tolerations, field, release, &mut faults);
        tolerations
    };
    let (default, whitelist) = (list("default"), list("whitelist"));
    let messages: Vec<&str> = faults.iter().map(|fault| fault.message.as_str()).collect();
    if messages.is_empty() {
        Ok((default, whitelist))
    } else {
        Err(decoded.invalid(format!("invalid config: [{}]", messages.join(" ")), &faults))
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateTolerations
fn validate(
    tolerations: &[OwnedToleration],
    field: &str,
    release: &Release,
    faults: &mut Vec<ConfigurationFault>,
) {
    // Upstream: pkg/apis/core/validation/validation.go, ValidateTolerations, and apimachinery/pkg/util/validation/validation.go: comparing
    // operators and other words in 1.35.
    let is_old = !release.at_least(1, 35);
    for (index, toleration) in tolerations.iter().enumerate() {
        let path = format!("{field}[{index}]");
        let PodToleration {
            key,
            operator,
            value,
            effect,
            seconds,
        } = toleration.borrowed();
        let mut fault = |field: &str, error: &str| {
            let field = format!("{path}.{field}");
            let mut message = format!("podtolerationrestriction.{field}: {error}");
            if is_old && let Some(words) = words_before_1_35(&message) {
                message = words;
            }
            faults.push(ConfigurationFault::new(field, message));
        };
        let mut invalid = |field: &str, value: &str, detail: &str| {
            fault(field, &format!("Invalid value: {}: {detail}", quote(value)));
        };
        if !key.is_empty() {
            for error in qualified_name(key) {
                invalid("key", key, &error);
            }
        }
        if key.is_empty() && operator != "Exists" {
            let detail =
                "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            invalid("operator", operator, detail);
        }
        if seconds.is_some() && effect != "NoExecute" {
            invalid(
                "effect",
                effect,
                "effect must be 'NoExecute' when `tolerationSeconds` is set",
            );
        }
        match operator {
            "Equal" | "" => {
                let errors = label_value(value);
                if !errors.is_empty() {
                    invalid("operator", value, &errors.join(";"));
                }
            }
            "Exists" => {
                if !value.is_empty() {
                    invalid(
                        "operator",
                        value,
                        "value must be empty when `operator` is 'Exists'",
                    );
                }
            }
            other => {
                let more = match other {
                    "Lt" | "Gt" if !is_old => ", \"Lt\", \"Gt\"",
                    _ => "",
                };
                let other = quote(other);
                let error =
                    format!("Unsupported value: {other}: supported values: \"Equal\", \"Exists\"{more}");
                fault("operator", &error);
            }
        }
        if !effect.is_empty() && !matches!(effect, "NoSchedule" | "PreferNoSchedule" | "NoExecute") {
            let effect = quote(effect);
            let error = format!(
                "Unsupported value: {effect}: supported values: \"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\""
            );
            fault("effect", &error);
        }
    }
}
