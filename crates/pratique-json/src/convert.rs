//! From and to the values of `serde_json`.

use crate::write::whole;
use crate::{Error, Value};

/// Copies the texts; fails where the value nests deeper than [`MAX_DEPTH`](crate::MAX_DEPTH).
impl TryFrom<serde_json::Value> for Value<'static> {
    type Error = Error;

    fn try_from(value: serde_json::Value) -> Result<Self, Error> {
        Ok(<Value<'_> as serde::Deserialize<'_>>::deserialize(value)?)
    }
}

/// Borrows the texts; fails where the value nests deeper than [`MAX_DEPTH`](crate::MAX_DEPTH).
impl<'a> TryFrom<&'a serde_json::Value> for Value<'a> {
    type Error = Error;

    fn try_from(value: &'a serde_json::Value) -> Result<Self, Error> {
        Ok(<Value<'a> as serde::Deserialize<'a>>::deserialize(value)?)
    }
}

/// Numbers become what they are written as: a whole [`Value::Float`] is an integer, and one that JSON cannot have (it was
/// not parsed then) is null.
impl From<Value<'_>> for serde_json::Value {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::Null | Value::NilArray => serde_json::Value::Null,
            Value::Bool(value) => value.into(),
            Value::Int(number) => number.into(),
            Value::Float(number) => whole(number).map_or_else(|| number.into(), Into::into),
            Value::String(text) => text.into_owned().into(),
            Value::Array(elements) => elements.into_iter().map(Self::from).collect(),
            Value::Object(members) => members
                .into_iter()
                .map(|(key, value)| (key.into_owned(), Self::from(value)))
                .collect(),
        }
    }
}

/// As [`From<Value>`](#impl-From<Value<'_>>-for-Value), with copies of the texts.
impl From<&Value<'_>> for serde_json::Value {
    fn from(value: &Value<'_>) -> Self {
        value.borrowed().into()
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use serde_json::json;

    use super::*;
    use crate::{MAX_DEPTH, parse};

    #[test]
    fn values_come_and_go() {
        for text in [
            r#"{"a":[1,-1,2.5,1e300,18446744073709551615],"b":{"c":null,"d":true},"e":"ä\u0000"}"#,
            "[]",
            "null",
        ] {
            let theirs: serde_json::Value = serde_json::from_str(text).unwrap();
            let ours = parse(text.as_bytes()).unwrap();
            assert_eq!(Value::try_from(&theirs).unwrap(), ours, "{text}");
            assert_eq!(Value::try_from(theirs).unwrap(), ours, "{text}");
            // What is written is the same, whichever of the two writes it.
            let written = serde_json::Value::from(&ours).to_string();
            assert_eq!(
                parse(written.as_bytes()).unwrap(),
                parse(ours.to_string().as_bytes()).unwrap()
            );
        }
    }

    #[test]
    fn numbers_are_those_that_are_written() {
        assert_eq!(serde_json::Value::from(Value::Float(3.0)), json!(3));
        assert_eq!(serde_json::Value::from(Value::Float(0.5)), json!(0.5));
        assert_eq!(serde_json::Value::from(Value::Float(f64::NAN)), json!(null));
    }

    #[test]
    fn texts_are_borrowed_from_a_reference() {
        let theirs = json!({"key": "text"});
        let ours = Value::try_from(&theirs).unwrap();
        assert!(matches!(
            ours.get("key"),
            Some(Value::String(Cow::Borrowed("text")))
        ));
    }

    #[test]
    fn what_nests_too_deep_is_refused() {
        let nested = |depth| (0..depth).fold(json!(1), |inner, _| json!([inner]));
        assert!(Value::try_from(nested(MAX_DEPTH)).is_ok());
        let error = Value::try_from(nested(MAX_DEPTH + 1)).unwrap_err();
        assert_eq!(error.to_string(), "exceeded max depth");
    }
}
