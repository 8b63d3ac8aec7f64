//! The tolerations in annotations of namespaces.

use pratique_gotext::json::UnmarshalTypeError;
use pratique_json::Value;
use pratique_schema::Release;
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

const SECONDS: &str = "tolerationSeconds";

impl OwnedToleration {
    /// A toleration of a decoded configuration.
    pub(super) fn of_decoded(toleration: &Json) -> Self {
        let text = |(field, _): (&str, &str)| {
            let text = toleration.get(field).and_then(Json::as_str);
            text.unwrap_or_default().to_owned()
        };
        OwnedToleration {
            texts: TEXTS.map(text),
            seconds: toleration.get(SECONDS).and_then(Json::as_i64),
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

/// Reads a list of tolerations as `encoding/json` of a release's server does; `None` for null.
pub(super) fn read(text: &str, release: &Release) -> Result<Option<Vec<OwnedToleration>>, String> {
    let json = pratique_yaml::json_as_json(text.as_bytes())
        .map_err(|error| error.to_text(release.is_of_go_1_27()).to_owned())?;
    let value = pratique_json::parse(json.as_bytes()).map_err(|error| error.to_string())?;
    match &value {
        Value::Null => Ok(None),
        Value::Array(elements) => elements
            .iter()
            .enumerate()
            .map(|(index, element)| toleration(element, ElementPlace { index, release }))
            .collect::<Result<_, _>>()
            .map(Some),
        other => Err(UnmarshalTypeError::of_value(other.kind(), "[]v1.Toleration").to_string()),
    }
}

/// Where a toleration is, for messages of a release.
#[derive(Clone, Copy)]
struct ElementPlace<'r> {
    index: usize,
    release: &'r Release,
}

impl ElementPlace<'_> {
    /// The toleration is no object.
    fn describe_element(self, kind: &str) -> String {
        let go_type = "v1.Toleration";
        if self.release.is_of_go_1_27() {
            UnmarshalTypeError::of_element(kind, &format!(".{}", self.index), go_type).to_string()
        } else {
            UnmarshalTypeError::of_value(kind, go_type).to_string()
        }
    }

    /// A field has another type; `written` is its name as it stands in the text.
    fn describe_field(self, value: &str, (field, written): (&str, &str), go_type: &str) -> String {
        if self.release.is_of_go_1_27() {
            let path = format!("{}.{written}", self.index);
            UnmarshalTypeError::of_field(value, "", &path, go_type).to_string()
        } else {
            UnmarshalTypeError::of_field(value, "Toleration", field, go_type).to_string()
        }
    }
}

/// Reads a toleration.
fn toleration(value: &Value<'_>, place: ElementPlace<'_>) -> Result<OwnedToleration, String> {
    let mut toleration = OwnedToleration::default();
    let members = match value {
        Value::Object(members) => members,
        Value::Null => return Ok(toleration),
        other => return Err(place.describe_element(other.kind())),
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
                return Err(place.describe_field(value.kind(), (field, name), go_type));
            };
            text.clone_into(slot);
        } else if name.eq_ignore_ascii_case(SECONDS) {
            let wrong = |description: &str| place.describe_field(description, (SECONDS, name), "int64");
            toleration.seconds = Some(seconds(value).map_err(|description| wrong(&description))?);
        }
    }
    Ok(toleration)
}

/// The seconds, or what the value is instead.
fn seconds(value: &Value<'_>) -> Result<i64, String> {
    match value {
        Value::Int(seconds) => Ok(*seconds),
        Value::Float(_) => Err(format!("number {value}")),
        other => Err(other.kind().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_texts_are_refused_in_the_words_of_the_release() {
        for (version, expected) in [
            ("1.37", "invalid character 'x' in string escape code"),
            ("1.38", r"invalid escape sequence `\x` in string"),
        ] {
            let release = Release::by_version(version).unwrap();
            assert_eq!(read(r#"[{"key": "\x"}]"#, release).unwrap_err(), expected);
        }
    }
}
