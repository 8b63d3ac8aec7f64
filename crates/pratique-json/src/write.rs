//! From value to text: compact, keys sorted, numbers and escapes as the API server writes them.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter, Write as _};

use serde::ser::{Serialize, SerializeMap as _, Serializer};

use crate::{Value, bytes};

impl Display for Value<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let mut json = Vec::new();
        bytes::write(self, &mut json);
        formatter.write_str(std::str::from_utf8(&json).map_err(|_| fmt::Error)?)
    }
}

/// A number with a fraction gets the digits of the serializer: it reads back as the same number. Texts of an API server are made by
/// `Display`.
impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null | Value::NilArray => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Int(number) => serializer.serialize_i64(*number),
            Value::Float(number) => match whole(*number) {
                Some(integer) => serializer.serialize_i64(integer),
                None => serializer.serialize_f64(*number),
            },
            Value::String(text) => serializer.serialize_str(text),
            Value::Array(elements) => serializer.collect_seq(elements),
            Value::Object(object) => {
                let mut map = serializer.serialize_map(Some(object.len()))?;
                for (key, value) in object.iter() {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

/// Replaces `<`, `>` and `&`, and the two line separators that JavaScript knows, by their escapes, as Go's
/// JSON encoder does unless told otherwise. `json` is JSON text.
pub fn escape_html(json: &str) -> Cow<'_, str> {
    if !json.contains(['<', '>', '&', '\u{2028}', '\u{2029}']) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                // Writing to a String cannot fail.
                let _ = write!(escaped, "\\u{:04x}", u32::from(character));
            }
            _ => escaped.push(character),
        }
    }
    Cow::Owned(escaped)
}

/// The integer that a number is, where it is written as one.
pub(crate) fn whole(number: f64) -> Option<i64> {
    let integer = number as i64;
    let same =
        integer as f64 == number && number.abs() < 9e18 && !(integer == 0 && number.is_sign_negative());
    same.then_some(integer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_compact_with_sorted_keys() {
        let value = crate::parse(br#"{ "b": [1, "x\u0001\"<"], "a": null }"#).unwrap();
        assert_eq!(value.to_string(), r#"{"a":null,"b":[1,"x\u0001\"<"]}"#);
        assert_eq!(
            escape_html(&value.to_string()),
            r#"{"a":null,"b":[1,"x\u0001\"\u003c"]}"#
        );
        assert_eq!(serde_json::to_string(&value).unwrap(), value.to_string());
        assert_eq!(serde_json::to_string(&Value::Float(1e6)).unwrap(), "1000000");
    }
}
