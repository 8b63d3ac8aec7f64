//! Tolerations as annotations and configuration have them.

use pratique_gotext::json::UnmarshalTypeError;
use pratique_gotext::strconv::quote;
use pratique_gotext::validation::{label_value, qualified_name};
use pratique_json::Value;
use pratique_plugin::StartError;

use crate::configuration::decode;
use crate::pods::toleration::Toleration;

/// A toleration to keep.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnedToleration {
    texts: [String; 4],
    seconds: Option<i64>,
}

/// The texts of a toleration, in the order in which Go's type has them.
const TEXTS: [(&str, &str); 4] = [
    ("key", "string"),
    ("operator", "v1.TolerationOperator"),
    ("value", "string"),
    ("effect", "v1.TaintEffect"),
];

impl OwnedToleration {
    pub(super) fn borrowed(&self) -> Toleration<'_> {
        let [key, operator, value, effect] = &self.texts;
        Toleration {
            key,
            operator,
            value,
            effect,
            seconds: self.seconds,
        }
    }
}

/// Reads a list of tolerations as `encoding/json` does; `None` for null.
pub(super) fn read(text: &str) -> Result<Option<Vec<OwnedToleration>>, String> {
    let json = pratique_yaml::json_as_json(text.as_bytes()).map_err(|error| error.to_string())?;
    let value = pratique_json::parse(json.as_bytes()).map_err(|error| error.to_string())?;
    match &value {
        Value::Null => Ok(None),
        Value::Array(elements) => elements
            .iter()
            .map(|element| toleration(element, ""))
            .collect::<Result<_, _>>()
            .map(Some),
        other => Err(UnmarshalTypeError::of_value(other.kind(), "[]v1.Toleration").to_string()),
    }
}

/// Reads a toleration; `prefix` is the path to it in messages.
fn toleration(value: &Value<'_>, prefix: &str) -> Result<OwnedToleration, String> {
    let mut toleration = OwnedToleration::default();
    let members = match value {
        Value::Object(members) => members,
        Value::Null => return Ok(toleration),
        other => {
            return Err(UnmarshalTypeError::of_value(other.kind(), "v1.Toleration").to_string());
        }
    };
    for (name, value) in members.iter() {
        if value.is_null() {
            continue;
        }
        // Go finds fields whatever their case.
        let mut texts = TEXTS.iter().zip(&mut toleration.texts);
        if let Some(((field, go_type), slot)) = texts.find(|((field, _), _)| field.eq_ignore_ascii_case(name))
        {
            let Some(text) = value.as_str() else {
                let path = format!("{prefix}{field}");
                let wrong = UnmarshalTypeError::of_field(value.kind(), "Toleration", &path, go_type);
                return Err(wrong.to_string());
            };
            text.clone_into(slot);
        } else if name.eq_ignore_ascii_case("tolerationSeconds") {
            toleration.seconds = Some(seconds(value, prefix)?);
        }
    }
    Ok(toleration)
}

fn seconds(value: &Value<'_>, prefix: &str) -> Result<i64, String> {
    let path = format!("{prefix}tolerationSeconds");
    let wrong = |found: &str| {
        let error = UnmarshalTypeError::of_field(found, "Toleration", &path, "int64");
        Err(error.to_string())
    };
    match value {
        Value::Int(seconds) => Ok(*seconds),
        Value::Float(_) => wrong(&format!("number {value}")),
        other => wrong(other.kind()),
    }
}

/// The default tolerations and the whitelist of a configuration.
// Upstream: plugin/pkg/admission/podtolerationrestriction/config.go, loadConfiguration
pub(super) fn configuration(text: &[u8]) -> Result<(Vec<OwnedToleration>, Vec<OwnedToleration>), StartError> {
    let group = "podtolerationrestriction.admission.k8s.io";
    let configuration = decode(text, group, "v1alpha1", "Configuration")?;
    let mut faults = Vec::new();
    let mut list = |field: &str| -> Result<Vec<OwnedToleration>, StartError> {
        let elements = configuration
            .get(field)
            .and_then(Value::as_array)
            .unwrap_or_default();
        let prefix = format!("{field}.");
        let read: Result<Vec<_>, String> = elements
            .iter()
            .map(|element| toleration(element, &prefix))
            .collect();
        let read = read.map_err(StartError::new)?;
        validate(&read, field, &mut faults);
        Ok(read)
    };
    let (default, whitelist) = (list("default")?, list("whitelist")?);
    match faults.is_empty() {
        true => Ok((default, whitelist)),
        false => Err(StartError::new(format!("invalid config: [{}]", faults.join(" ")))),
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateTolerations
fn validate(tolerations: &[OwnedToleration], field: &str, faults: &mut Vec<String>) {
    for (index, toleration) in tolerations.iter().enumerate() {
        let path = format!("podtolerationrestriction.{field}[{index}]");
        let Toleration {
            key,
            operator,
            value,
            effect,
            seconds,
        } = toleration.borrowed();
        let mut invalid = |field: &str, value: &str, detail: &str| {
            let value = quote(value);
            faults.push(format!("{path}.{field}: Invalid value: {value}: {detail}"));
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
                    "Lt" | "Gt" => ", \"Lt\", \"Gt\"",
                    _ => "",
                };
                let other = quote(other);
                faults.push(format!(
                    "{path}.operator: Unsupported value: {other}: supported values: \"Equal\", \"Exists\"{more}"
                ));
            }
        }
        if !effect.is_empty() && !matches!(effect, "NoSchedule" | "PreferNoSchedule" | "NoExecute") {
            let effect = quote(effect);
            faults.push(format!(
                "{path}.effect: Unsupported value: {effect}: supported values: \"NoSchedule\", \
                 \"PreferNoSchedule\", \"NoExecute\""
            ));
        }
    }
}
