//! From text to value.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use crate::reader::read_plain;
use crate::{Object, Value};

/// How deeply arrays and objects may nest. Everything that walks a value may recurse to this depth.
pub const MAX_DEPTH: usize = 400;

/// Why a text is not a JSON document; line and column count from 1.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(#[from] serde_json::Error);

impl Error {
    /// The line of the fault.
    pub fn line(&self) -> usize {
        self.0.line()
    }

    /// The column of the fault, in bytes.
    pub fn column(&self) -> usize {
        self.0.column()
    }
}

/// Parses one JSON document.
///
/// # Errors
/// It is no JSON.
pub fn parse(text: &[u8]) -> Result<Value<'_>, Error> {
    parse_with(text, NodeSeed::new(false))
}

/// Parses one JSON document whose objects have each of their members once.
///
/// # Errors
/// It is no JSON, or an object has a member twice.
pub fn parse_unique(text: &[u8]) -> Result<Value<'_>, Error> {
    parse_with(text, NodeSeed::new(true))
}

fn parse_with(text: &[u8], node: NodeSeed) -> Result<Value<'_>, Error> {
    // The encoding of all strings is checked at once; the parser reports where it is wrong.
    match std::str::from_utf8(text) {
        Ok(text) => match read_plain(text) {
            Some(value) => Ok(value),
            None => read_with(serde_json::Deserializer::from_str(text), node),
        },
        Err(_) => read_with(serde_json::Deserializer::from_slice(text), node),
    }
}

/// Reads one value that is a document of its own, with the parser for all documents.
pub(crate) fn parse_other(text: &str) -> Option<Value<'_>> {
    read_with(serde_json::Deserializer::from_str(text), NodeSeed::new(true)).ok()
}

fn read_with<'t, R: serde_json::de::Read<'t>>(
    mut deserializer: serde_json::Deserializer<R>,
    node: NodeSeed,
) -> Result<Value<'t>, Error> {
    // The limit is that of the value, for the parser and for everything that traverses it.
    deserializer.disable_recursion_limit();
    let value = node.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

impl<'de> serde::Deserialize<'de> for Value<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        NodeSeed::new(false).deserialize(deserializer)
    }
}

#[derive(Clone, Copy)]
struct NodeSeed {
    depth: usize,
    /// Whether members that are given twice are refused.
    is_unique: bool,
}

impl NodeSeed {
    fn new(is_unique: bool) -> Self {
        NodeSeed { depth: 0, is_unique }
    }

    fn child<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.depth < MAX_DEPTH {
            Ok(NodeSeed {
                depth: self.depth + 1,
                ..self
            })
        } else {
            Err(E::custom("exceeded max depth"))
        }
    }
}

impl<'de> DeserializeSeed<'de> for NodeSeed {
    type Value = Value<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NodeSeed {
    type Value = Value<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value<'de>, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value<'de>, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value<'de>, E> {
        Ok(Value::Int(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value<'de>, E> {
        Ok(i64::try_from(number).map_or(Value::Float(number as f64), Value::Int))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value<'de>, E> {
        Ok(Value::Float(number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Value<'de>, E> {
        Ok(Value::String(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value<'de>, E> {
        Ok(Value::String(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E>(self, text: String) -> Result<Value<'de>, E> {
        Ok(Value::String(Cow::Owned(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value<'de>, A::Error> {
        let child = self.child::<A::Error>()?;
        let mut array = Vec::new();
        while let Some(element) = elements.next_element_seed(child)? {
            array.push(element);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value<'de>, A::Error> {
        let child = self.child::<A::Error>()?;
        let mut members = Vec::new();
        while let Some(key) = entries.next_key_seed(KeySeed)? {
            members.push((key, entries.next_value_seed(child)?));
        }
        let count = members.len();
        let object: Object<'de> = members.into_iter().collect();
        if self.is_unique && object.len() < count {
            Err(A::Error::custom("a member is given twice"))
        } else {
            Ok(Value::Object(object))
        }
    }
}

/// A key, borrowed where it can be: `Cow` itself would always copy.
struct KeySeed;

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cow<'de, str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for KeySeed {
    type Value = Cow<'de, str>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Value<'_>) {
        assert_eq!(parse(text.as_bytes()).unwrap(), expected, "{text}");
    }

    #[test]
    fn numbers_keep_their_written_kind() {
        check("1", Value::Int(1));
        check("-9223372036854775808", Value::Int(i64::MIN));
        check("9223372036854775808", Value::Float(9223372036854775808.0));
        check("1.0", Value::Float(1.0));
        check("1e3", Value::Float(1000.0));
        check("123456789.12345679", Value::Float(123_456_789.123_456_79));
        check("9007199254740993.0", Value::Float(9_007_199_254_740_992.0));
    }

    #[test]
    fn strings_borrow_unless_escaped() {
        assert!(matches!(
            parse(br#""plain""#).unwrap(),
            Value::String(Cow::Borrowed("plain"))
        ));
        check(r#""a\nb""#, Value::String("a\nb".into()));
    }

    #[test]
    fn nesting_is_bounded() {
        let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(parse(deep(MAX_DEPTH).as_bytes()).is_ok());
        let error = parse(deep(100_000).as_bytes()).unwrap_err();
        assert!(error.to_string().starts_with("exceeded max depth"), "{error}");
    }

    #[test]
    fn members_are_given_once() {
        assert!(parse_unique(br#"{"a":{"b":1,"c":2},"b":[{"a":1}]}"#).is_ok());
        assert!(parse_unique(br#"{"a":{"b":1,"c":2,"b":1}}"#).is_err());
        assert!(parse(br#"{"a":{"b":1,"c":2,"b":1}}"#).is_ok());
    }

    #[test]
    fn trailing_text_is_an_error() {
        assert!(parse(b"{} x").is_err());
        assert!(parse(b"").is_err());
    }
}
