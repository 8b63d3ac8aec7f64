//! Resolves scalars to null, booleans, numbers and strings: by the tag or, if the scalar is plain, by the text.

use pratique_json::base64;

use super::SyntaxError;
use super::number::{self, ScalarNumber};
use crate::position::Span;

/// A scalar's value. Timestamps stay text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ScalarValue {
    Null,
    Bool(bool),
    Number(ScalarNumber),
    Text(String),
    /// Bytes that are no text.
    Bytes(Vec<u8>),
}

const PREFIX: &str = "tag:yaml.org,2002:";

/// Resolves a scalar. Text of a quoted or block scalar without a tag is always a string.
pub(super) fn resolve(
    tag: Option<&str>,
    text: &str,
    plain: bool,
    span: Span,
) -> Result<ScalarValue, SyntaxError> {
    let Some(tag) = tag else {
        return Ok(if plain {
            implicit(text)
        } else {
            ScalarValue::Text(text.to_owned())
        });
    };
    let Some(name) = tag.strip_prefix(PREFIX) else {
        return Ok(ScalarValue::Text(text.to_owned()));
    };
    match name {
        "str" => Ok(ScalarValue::Text(text.to_owned())),
        "binary" => binary(text)
            .ok_or_else(|| SyntaxError::new("yaml: !!binary value contains invalid base64 data", span)),
        "bool" | "int" | "float" | "null" | "timestamp" => explicit(name, text, span),
        _ => Ok(ScalarValue::Text(text.to_owned())),
    }
}

/// Whether text is that of a merge key, if it is plain.
pub(super) fn is_merge(tag: Option<&str>, text: &str, plain: bool) -> bool {
    text == "<<"
        && tag.map_or(plain, |tag| {
            tag == "!" || tag.strip_prefix(PREFIX) == Some("merge")
        })
}

fn implicit(text: &str) -> ScalarValue {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return ScalarValue::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return ScalarValue::Bool(true);
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return ScalarValue::Bool(false);
        }
        ".nan" | ".NaN" | ".NAN" => return ScalarValue::Number(ScalarNumber::Float(f64::NAN)),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return ScalarValue::Number(ScalarNumber::Float(f64::INFINITY));
        }
        "-.inf" | "-.Inf" | "-.INF" => return ScalarValue::Number(ScalarNumber::Float(f64::NEG_INFINITY)),
        _ => {}
    }
    let number = match text.as_bytes().first() {
        Some(b'0'..=b'9' | b'+' | b'-') => number::parse(text),
        Some(b'.') => number::parse_fraction(text).map(ScalarNumber::Float),
        _ => None,
    };
    number.map_or_else(|| ScalarValue::Text(text.to_owned()), ScalarValue::Number)
}

/// A scalar of the type that its tag names.
fn explicit(name: &str, text: &str, span: Span) -> Result<ScalarValue, SyntaxError> {
    let scalar = implicit(text);
    let fits = match (&scalar, name) {
        (ScalarValue::Null, "null") | (ScalarValue::Bool(_), "bool") => true,
        (ScalarValue::Number(ScalarNumber::Float(_)), "float") => true,
        (ScalarValue::Number(ScalarNumber::Int(value)), "float") => {
            return Ok(ScalarValue::Number(ScalarNumber::Float(*value as f64)));
        }
        (ScalarValue::Number(ScalarNumber::Int(_) | ScalarNumber::Unsigned(_)), "int") => true,
        (ScalarValue::Text(text), "timestamp") => is_timestamp(text),
        _ => false,
    };
    if fits {
        return Ok(scalar);
    }
    let is = match scalar {
        ScalarValue::Null => "null",
        ScalarValue::Bool(_) => "bool",
        ScalarValue::Number(ScalarNumber::Float(_)) => "float",
        ScalarValue::Number(_) => "int",
        ScalarValue::Text(_) | ScalarValue::Bytes(_) => "str",
    };
    Err(SyntaxError::new(
        format!("yaml: cannot decode !!{is} `{text}` as a !!{name}"),
        span,
    ))
}

/// Whether text is a date, or a date and a time, in the forms that the server's parser knows.
fn is_timestamp(text: &str) -> bool {
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (text.get(..at).unwrap_or_default(), text.get(at..)),
        None => (text, None),
    };
    let parts: Vec<&str> = date.split('-').collect();
    let number = |part: &&str, max: u32| {
        (1..=2).contains(&part.len()) && part.parse::<u32>().is_ok_and(|value| value <= max)
    };
    let is_date = matches!(parts.as_slice(), [year, month, day]
        if year.len() == 4 && year.bytes().all(|b| b.is_ascii_digit()) && number(month, 12) && number(day, 31));
    is_date && time.is_none_or(is_clock)
}

fn is_clock(time: &str) -> bool {
    let zoned = !time.starts_with(' ');
    let clock = time.get(1..).unwrap_or_default();
    let (clock, zone) = match clock.find(['Z', '+', '-']) {
        Some(at) => (clock.get(..at).unwrap_or_default(), true),
        None => (clock, false),
    };
    let whole = clock.split('.').next().unwrap_or_default();
    let parts: Vec<&str> = whole.split(':').collect();
    let fits =
        |part: &&str| (1..=2).contains(&part.len()) && part.parse::<u32>().is_ok_and(|value| value < 60);
    zoned == zone && parts.len() == 3 && parts.iter().all(fits)
}

fn binary(text: &str) -> Option<ScalarValue> {
    let bytes = base64::decode(text).ok()?;
    Some(match String::from_utf8(bytes) {
        Ok(text) => ScalarValue::Text(text),
        Err(error) => ScalarValue::Bytes(error.into_bytes()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tag: Option<&str>, text: &str, expected: Result<ScalarValue, &str>) {
        let tag = tag.map(|name| format!("{PREFIX}{name}"));
        let found = resolve(tag.as_deref(), text, true, Span::default());
        assert_eq!(
            found,
            expected.map_err(|message| SyntaxError::new(message, Span::default()))
        );
    }

    #[test]
    fn plain_text_decides() {
        check(None, "Yes", Ok(ScalarValue::Bool(true)));
        check(None, "n", Ok(ScalarValue::Bool(false)));
        check(None, "nULL", Ok(ScalarValue::Text("nULL".into())));
        check(None, "", Ok(ScalarValue::Null));
        check(None, ".5", Ok(ScalarValue::Number(ScalarNumber::Float(0.5))));
        check(None, "2026-11-21", Ok(ScalarValue::Text("2026-11-21".into())));
        check(None, "1:30", Ok(ScalarValue::Text("1:30".into())));
    }

    #[test]
    fn tags_decide() {
        check(Some("str"), "yes", Ok(ScalarValue::Text("yes".into())));
        check(
            Some("float"),
            "1",
            Ok(ScalarValue::Number(ScalarNumber::Float(1.0))),
        );
        check(Some("int"), "x", Err("yaml: cannot decode !!str `x` as a !!int"));
        check(Some("binary"), "aGk=", Ok(ScalarValue::Text("hi".into())));
        check(
            Some("binary"),
            "?",
            Err("yaml: !!binary value contains invalid base64 data"),
        );
        check(
            Some("timestamp"),
            "2026-11-21",
            Ok(ScalarValue::Text("2026-11-21".into())),
        );
        check(
            Some("timestamp"),
            "soon",
            Err("yaml: cannot decode !!str `soon` as a !!timestamp"),
        );
    }
}
