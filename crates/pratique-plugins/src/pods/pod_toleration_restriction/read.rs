//! The tolerations in annotations of namespaces.

use pratique_gotext::json::UnmarshalTypeError;
use pratique_json::Value;
use serde_json::Value as Json;

use crate::pods::toleration::PodToleration;

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
    /// A toleration of a decoded configuration.
    pub(super) fn of_decoded(toleration: &Json) -> Self {
        let text = |(field, _): (&str, &str)| {
            let text = toleration.get(field).and_then(Json::as_str);
            text.unwrap_or_default().to_owned()
        };
        OwnedToleration {
            texts: TEXTS.map(text),
            seconds: toleration.get("tolerationSeconds").and_then(Json::as_i64),
        }
    }

    pub(super) fn borrowed(&self) -> PodToleration<'_> {
        let [key, operator, value, effect] = &self.texts;
        PodToleration {
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
            .map(toleration)
            .collect::<Result<_, _>>()
            .map(Some),
        other => Err(UnmarshalTypeError::of_value(other.kind(), "[]v1.Toleration").to_string()),
    }
}

/// Reads a toleration.
fn toleration(value: &Value<'_>) -> Result<OwnedToleration, String> {
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
                let wrong = UnmarshalTypeError::of_field(value.kind(), "Toleration", field, go_type);
                return Err(wrong.to_string());
            };
            text.clone_into(slot);
        } else if name.eq_ignore_ascii_case("tolerationSeconds") {
            toleration.seconds = Some(seconds(value)?);
        }
    }
    Ok(toleration)
}

fn seconds(value: &Value<'_>) -> Result<i64, String> {
    let wrong = |description: &str| {
        let error = UnmarshalTypeError::of_field(description, "Toleration", "tolerationSeconds", "int64");
        Err(error.to_string())
    };
    match value {
        Value::Int(seconds) => Ok(*seconds),
        Value::Float(_) => wrong(&format!("number {value}")),
        other => wrong(other.kind()),
    }
}
