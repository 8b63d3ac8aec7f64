//! Resolves scalars to null, booleans, numbers and strings: by the tag or, if the scalar is plain, by the text.

use pratique_json::base64;

use super::SyntaxError;
use super::number::{self, Number};
use crate::position::Span;

/// A scalar's value. Timestamps stay text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    /// Bytes that are no text.
    Bytes(Vec<u8>),
}

const PREFIX: &str = "tag:yaml.org,2002:";

/// Resolves a scalar. Text of a quoted or block scalar without a tag is always a string.
pub(super) fn resolve(tag: Option<&str>, text: &str, plain: bool, span: Span) -> Result<Scalar, SyntaxError> {
    let Some(tag) = tag else {
        return Ok(if plain {
            implicit(text)
        } else {
            Scalar::Text(text.to_owned())
        });
    };
    let Some(name) = tag.strip_prefix(PREFIX) else {
        return Ok(Scalar::Text(text.to_owned()));
    };
    match name {
        "str" => Ok(Scalar::Text(text.to_owned())),
        "binary" => binary(text)
            .ok_or_else(|| SyntaxError::new("yaml: !!binary value contains invalid base64 data", span)),
        "bool" | "int" | "float" | "null" | "timestamp" => explicit(name, text, span),
        _ => Ok(Scalar::Text(text.to_owned())),
    }
}

/// Whether text is that of a merge key, if it is plain.
pub(super) fn is_merge(tag: Option<&str>, text: &str, plain: bool) -> bool {
    text == "<<"
        && tag.map_or(plain, |tag| {
            tag == "!" || tag.strip_prefix(PREFIX) == Some("merge")
        })
}

fn implicit(text: &str) -> Scalar {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Scalar::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Scalar::Bool(true);
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Scalar::Bool(false);
        }
        ".nan" | ".NaN" | ".NAN" => return Scalar::Number(Number::Float(f64::NAN)),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return Scalar::Number(Number::Float(f64::INFINITY));
        }
        "-.inf" | "-.Inf" | "-.INF" => return Scalar::Number(Number::Float(f64::NEG_INFINITY)),
        _ => {}
    }
    let number = match text.as_bytes().first() {
        Some(b'0'..=b'9' | b'+' | b'-') => number::parse(text),
        Some(b'.') => number::parse_fraction(text).map(Number::Float),
        _ => None,
    };
    number.map_or_else(|| Scalar::Text(text.to_owned()), Scalar::Number)
}

/// A scalar of the type that its tag names.
fn explicit(name: &str, text: &str, span: Span) -> Result<Scalar, SyntaxError> {
    let scalar = implicit(text);
    let fits = match (&scalar, name) {
        (Scalar::Null, "null") | (Scalar::Bool(_), "bool") => true,
        (Scalar::Number(Number::Float(_)), "float") => true,
        (Scalar::Number(Number::Int(value)), "float") => {
            return Ok(Scalar::Number(Number::Float(*value as f64)));
        }
        (Scalar::Number(Number::Int(_) | Number::Unsigned(_)), "int") => true,
        (Scalar::Text(text), "timestamp") => is_timestamp(text),
        _ => false,
    };
    if fits {
        return Ok(scalar);
    }
    let is = match scalar {
        Scalar::Null => "null",
        Scalar::Bool(_) => "bool",
        Scalar::Number(Number::Float(_)) => "float",
        Scalar::Number(_) => "int",
        Scalar::Text(_) | Scalar::Bytes(_) => "str",
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

fn binary(text: &str) -> Option<Scalar> {
    let bytes = base64::decode(text).ok()?;
    Some(match String::from_utf8(bytes) {
        Ok(text) => Scalar::Text(text),
        Err(error) => Scalar::Bytes(error.into_bytes()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tag: Option<&str>, text: &str, expected: Result<Scalar, &str>) {
        let tag = tag.map(|name| format!("{PREFIX}{name}"));
        let found = resolve(tag.as_deref(), text, true, Span::default());
        assert_eq!(
            found,
            expected.map_err(|message| SyntaxError::new(message, Span::default()))
        );
    }

    #[test]
    fn plain_text_decides() {
        check(None, "Yes", Ok(Scalar::Bool(true)));
        check(None, "n", Ok(Scalar::Bool(false)));
        check(None, "nULL", Ok(Scalar::Text("nULL".into())));
        check(None, "", Ok(Scalar::Null));
        check(None, ".5", Ok(Scalar::Number(Number::Float(0.5))));
        check(None, "2026-11-21", Ok(Scalar::Text("2026-11-21".into())));
        check(None, "1:30", Ok(Scalar::Text("1:30".into())));
    }

    #[test]
    fn tags_decide() {
        check(Some("str"), "yes", Ok(Scalar::Text("yes".into())));
        check(Some("float"), "1", Ok(Scalar::Number(Number::Float(1.0))));
        check(Some("int"), "x", Err("yaml: cannot decode !!str `x` as a !!int"));
        check(Some("binary"), "aGk=", Ok(Scalar::Text("hi".into())));
        check(
            Some("binary"),
            "?",
            Err("yaml: !!binary value contains invalid base64 data"),
        );
        check(
            Some("timestamp"),
            "2026-11-21",
            Ok(Scalar::Text("2026-11-21".into())),
        );
        check(
            Some("timestamp"),
            "soon",
            Err("yaml: cannot decode !!str `soon` as a !!timestamp"),
        );
    }
}
