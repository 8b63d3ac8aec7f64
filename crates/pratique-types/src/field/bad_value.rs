//! Values as errors print them.

use std::borrow::Cow;

use pratique_gotext::strconv::{general_form, quote};
use pratique_json::{Value, escape_html};

/// The value of a refused field, as far as its message depends on it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum BadValue<'a> {
    /// The message does not print it.
    Omitted,
    /// A Go `string`: quoted as `%q` does.
    Text(Cow<'a, str>),
    /// A string of another Go type, such as `core.Protocol`, or behind a pointer: quoted as JSON.
    Named(Cow<'a, str>),
    /// A whole number.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A JSON value; strings in it are plain ones.
    Json(&'a Value<'a>),
    /// The text itself: the JSON of an internal struct, or what Go prints for what has no JSON.
    Prepared(Cow<'a, str>),
}

impl BadValue<'_> {
    /// The value as a message has it; `None` where it is not printed.
    // Upstream: apimachinery/pkg/util/validation/field/errors.go, ErrorBody
    pub(super) fn to_text(&self) -> Option<Cow<'_, str>> {
        let text = match self {
            BadValue::Omitted => return None,
            BadValue::Text(text) => quote(text),
            BadValue::Named(text) => json_text(&Value::from(text.as_ref())),
            BadValue::Int(number) => number.to_string(),
            BadValue::Float(number) => general_form(*number),
            BadValue::Bool(value) => value.to_string(),
            BadValue::Json(Value::String(text)) => quote(text),
            BadValue::Json(Value::Float(number)) => general_form(*number),
            BadValue::Json(value) => json_text(value),
            BadValue::Prepared(text) => return Some(Cow::Borrowed(text)),
        };
        Some(Cow::Owned(text))
    }
}

fn json_text(value: &Value<'_>) -> String {
    escape_html(&value.to_string()).into_owned()
}

impl<'a> From<&'a str> for BadValue<'a> {
    fn from(text: &'a str) -> Self {
        BadValue::Text(Cow::Borrowed(text))
    }
}

impl<'a> From<&'a String> for BadValue<'a> {
    fn from(text: &'a String) -> Self {
        BadValue::Text(Cow::Borrowed(text))
    }
}

impl From<String> for BadValue<'_> {
    fn from(text: String) -> Self {
        BadValue::Text(Cow::Owned(text))
    }
}

impl From<i64> for BadValue<'_> {
    fn from(number: i64) -> Self {
        BadValue::Int(number)
    }
}

impl From<bool> for BadValue<'_> {
    fn from(value: bool) -> Self {
        BadValue::Bool(value)
    }
}

impl<'a> From<&'a Value<'a>> for BadValue<'a> {
    fn from(value: &'a Value<'a>) -> Self {
        BadValue::Json(value)
    }
}
