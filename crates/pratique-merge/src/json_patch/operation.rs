//! One operation of a patch, and patches read from JSON.

use std::borrow::Cow;

use pratique_gotext::json::UnmarshalTypeError;
use pratique_gotext::strconv::{is_printable, short_escape};
use pratique_json::{Object, Value};
use pratique_schema::Release;

/// One operation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Operation<'a> {
    /// `add`, `remove`, `replace`, `move`, `copy` or `test`; anything else fails when it is applied.
    pub op: Cow<'a, str>,
    /// The place it works on, an RFC 6901 pointer.
    pub path: Text<'a>,
    /// Where `move` and `copy` take the value from.
    pub from: Text<'a>,
    /// The value of `add`, `replace` and `test`. In a patch that is JSON text null counts as none.
    pub value: Option<Value<'a>>,
}

/// A string member of an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Text<'a> {
    /// The member is missing.
    #[default]
    Missing,
    /// The member is not a string; the reference's message.
    Invalid(String),
    /// The string.
    Given(Cow<'a, str>),
}

/// Why a JSON value is not a patch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.to_text(Release::latest()))]
pub struct DecodeError {
    found: &'static str,
    wanted: &'static str,
    /// The operation that it is, if it is not the whole.
    index: Option<usize>,
}

impl DecodeError {
    /// The message of a server of a release.
    pub fn to_text(&self, release: &Release) -> String {
        match self.index {
            Some(index) if release.is_of_go_1_27() => {
                UnmarshalTypeError::of_element(self.found, &format!("Patch.{index}"), self.wanted).to_string()
            }
            _ => UnmarshalTypeError::of_value(self.found, self.wanted).to_string(),
        }
    }
}

/// Decodes a patch. Null is the empty patch; unknown members are ignored, and missing ones are noticed when the patch is
/// applied.
pub fn decode<'a>(patch: &Value<'a>) -> Result<Vec<Operation<'a>>, DecodeError> {
    match patch {
        Value::Null => Ok(Vec::new()),
        Value::Array(operations) => operations
            .iter()
            .enumerate()
            .map(|(index, operation)| decode_operation(index, operation))
            .collect(),
        other => Err(DecodeError {
            found: other.kind(),
            wanted: "jsonpatch.Patch",
            index: None,
        }),
    }
}

fn decode_operation<'a>(index: usize, operation: &Value<'a>) -> Result<Operation<'a>, DecodeError> {
    if !matches!(operation, Value::Object(_) | Value::Null) {
        return Err(DecodeError {
            found: operation.kind(),
            wanted: "jsonpatch.Operation",
            index: Some(index),
        });
    }
    let text = |field: &str| match operation.get(field) {
        None | Some(Value::Null) => Text::Missing,
        Some(Value::String(text)) => Text::Given(text.clone()),
        Some(other) => Text::Invalid(UnmarshalTypeError::of_value(other.kind(), "string").to_string()),
    };
    Ok(Operation {
        op: text("op").or_unknown(),
        path: text("path"),
        from: text("from"),
        value: operation.get("value").filter(|value| !value.is_null()).cloned(),
    })
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Text::Given(Cow::Borrowed(text))
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Text::Given(Cow::Owned(text))
    }
}

impl<'a> Text<'a> {
    /// A string that an expression returned. The reference quotes it as Go does and reads it as JSON, which knows fewer
    /// escapes: a string with a control character, for example, is invalid.
    pub fn evaluated(text: &'a str, release: &Release) -> Self {
        match text.chars().find_map(foreign_escape) {
            None => Text::from(text),
            Some(letter) if release.is_of_go_1_27() => {
                Text::Invalid(format!("invalid escape sequence `\\{letter}` in string"))
            }
            Some(letter) => Text::Invalid(format!("invalid character '{letter}' in string escape code")),
        }
    }

    /// The text as the name of an operation.
    pub fn or_unknown(self) -> Cow<'a, str> {
        match self {
            Text::Given(text) => text,
            Text::Missing | Text::Invalid(_) => Cow::Borrowed("unknown"),
        }
    }
}

/// The letter of an escape that Go writes a character with, and that JSON does not know.
fn foreign_escape(character: char) -> Option<char> {
    match short_escape(character) {
        Some(letter @ ('a' | 'v')) => Some(letter),
        Some(_) => None,
        None if character.is_ascii_control() => Some('x'),
        None if character > '\u{ffff}' && !is_printable(character) => Some('U'),
        None => None,
    }
}

/// The operation as patches write it.
impl<'a> From<Operation<'a>> for Value<'a> {
    fn from(operation: Operation<'a>) -> Self {
        let mut object = Object::new();
        object.insert("op", Value::String(operation.op));
        for (name, text) in [("path", operation.path), ("from", operation.from)] {
            if let Text::Given(text) = text {
                object.insert(name, Value::String(text));
            }
        }
        if let Some(value) = operation.value {
            object.insert("value", value);
        }
        Value::Object(object)
    }
}

#[cfg(test)]
mod tests {
    use pratique_json::parse;

    use super::*;

    #[track_caller]
    fn check(patch: &str, expected: &str) {
        let patch = parse(patch.as_bytes()).unwrap();
        let read = match decode(&patch) {
            Ok(operations) => operations
                .into_iter()
                .map(|operation| Value::from(operation).to_string())
                .collect::<Vec<_>>()
                .join(" "),
            Err(error) => error.to_string(),
        };
        assert_eq!(read, expected);
    }

    #[test]
    fn patches_are_read() {
        check("null", "");
        check(
            r#"[{"op":"copy","from":"/a","path":"/b","value":null,"x":1}]"#,
            r#"{"from":"/a","op":"copy","path":"/b"}"#,
        );
        check("[null]", r#"{"op":"unknown"}"#);
        check(r#"[{"op":1,"path":[]}]"#, r#"{"op":"unknown"}"#);
        check(
            "{}",
            "json: cannot unmarshal object into Go value of type jsonpatch.Patch",
        );
        check(
            "[3]",
            "json: cannot unmarshal number into Go value of type jsonpatch.Operation",
        );
    }

    #[test]
    fn messages_are_those_of_a_release() {
        let of = |minor, patch: &str| {
            let patch = parse(patch.as_bytes()).unwrap();
            decode(&patch)
                .unwrap_err()
                .to_text(Release::by_version(&format!("1.{minor}")).unwrap())
        };
        for (minor, place) in [(37, "Go value"), (38, "Patch.1")] {
            let expected = format!("json: cannot unmarshal number into {place} of type jsonpatch.Operation");
            assert_eq!(of(minor, "[{},3]"), expected);
            let expected = "json: cannot unmarshal object into Go value of type jsonpatch.Patch";
            assert_eq!(of(minor, "{}"), expected);
        }
    }

    #[test]
    fn texts_of_expressions_are_quoted() {
        let evaluated =
            |text, minor| Text::evaluated(text, Release::by_version(&format!("1.{minor}")).unwrap());
        assert_eq!(evaluated("/a\t\u{200b}é", 37), Text::from("/a\t\u{200b}é"));
        let invalid = |text: &str| Text::Invalid(text.to_owned());
        let code = |letter| invalid(&format!("invalid character '{letter}' in string escape code"));
        assert_eq!(evaluated("\u{1}", 37), code('x'));
        assert_eq!(evaluated("\u{10ffff}", 37), code('U'));
        assert_eq!(
            evaluated("\u{1}", 38),
            invalid("invalid escape sequence `\\x` in string")
        );
    }
}
