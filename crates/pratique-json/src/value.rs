//! The value itself.

use std::borrow::Cow;
use std::ops::Index;

use pratique_gotext::strconv::json_form;

use crate::object::clone_text;
use crate::{Interrupted, Object, Progress};

/// A JSON value that borrows from the text it was parsed from.
///
/// Numbers follow the API server's decoder: a number without fraction and exponent that fits an `i64` is an
/// [`Value::Int`], every other number is a [`Value::Float`].
/// [`Value::NilArray`] equals the empty array, as `equality.Semantic` of apimachinery has it.
#[derive(Debug, Default)]
pub enum Value<'a> {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number written as an integer within the range of `i64`.
    Int(i64),
    /// Any other number; always finite when it was parsed.
    Float(f64),
    /// A string.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Value<'a>>),
    /// The empty array that is written as `null`: a nil slice of Go within an object that is not written yet. No text
    /// is read as one.
    NilArray,
    /// An object.
    Object(Object<'a>),
}

/// The largest number up to which floats have all integers: 2⁵³.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// What a copy is like.
#[derive(Clone, Copy)]
pub(crate) enum CopyForm {
    /// The same value.
    Same,
    /// The value as it is once it was written and read again, see [`Value::rewritten`].
    Rewritten,
}

impl Clone for Value<'_> {
    #[inline]
    fn clone(&self) -> Self {
        match self {
            Value::Null => Value::Null,
            Value::NilArray => Value::NilArray,
            Value::Bool(value) => Value::Bool(*value),
            Value::Int(number) => Value::Int(*number),
            Value::Float(number) => Value::Float(*number),
            Value::String(text) => Value::String(clone_text(text)),
            Value::Array(elements) => Value::Array(elements.clone()),
            Value::Object(object) => Value::Object(object.clone()),
        }
    }
}

impl PartialEq for Value<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) | (Value::NilArray, Value::NilArray) => true,
            (Value::Bool(value), Value::Bool(other)) => value == other,
            (Value::Int(number), Value::Int(other)) => number == other,
            (Value::Float(number), Value::Float(other)) => number == other,
            (Value::String(text), Value::String(other)) => text == other,
            (Value::Array(elements), Value::Array(other)) => elements == other,
            (Value::Array(elements), Value::NilArray) | (Value::NilArray, Value::Array(elements)) => {
                elements.is_empty()
            }
            (Value::Object(object), Value::Object(other)) => object == other,
            _ => false,
        }
    }
}

impl<'a> Value<'a> {
    /// The member `key` of an object; `None` for a missing member and for every other kind of value.
    #[inline]
    pub fn get(&self, key: &str) -> Option<&Value<'a>> {
        self.as_object()?.get(key)
    }

    /// The value of a member, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value<'a>> {
        match self {
            Value::Object(object) => object.get_mut(key),
            _ => None,
        }
    }

    /// The value at a path of object members.
    pub fn at(&self, path: &[&str]) -> Option<&Value<'a>> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    /// The bytes of memory that it owns besides its own size: borrowed texts do not count.
    pub fn owned_bytes(&self) -> usize {
        let text = |text: &Cow<'_, str>| match text {
            Cow::Borrowed(_) => 0,
            Cow::Owned(text) => text.capacity(),
        };
        match self {
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::NilArray => 0,
            Value::String(string) => text(string),
            Value::Array(elements) => {
                let of_elements: usize = elements.iter().map(Value::owned_bytes).sum();
                of_elements + elements.capacity() * size_of::<Value<'_>>()
            }
            Value::Object(object) => {
                let members = object.members();
                let of_members = members.iter().map(|(key, value)| text(key) + value.owned_bytes());
                of_members.sum::<usize>() + size_of_val(members)
            }
        }
    }

    /// How many bytes of memory a copy that borrows nothing holds besides its own.
    #[doc(hidden)]
    pub fn copied_bytes(&self) -> usize {
        match self {
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::NilArray => 0,
            Value::String(text) => text.len(),
            Value::Array(elements) => {
                let of_elements: usize = elements.iter().map(Value::copied_bytes).sum();
                of_elements + size_of_val(elements.as_slice())
            }
            Value::Object(object) => {
                let members = object.members();
                let of_members = members
                    .iter()
                    .map(|(key, value)| key.len() + value.copied_bytes());
                of_members.sum::<usize>() + size_of_val(members)
            }
        }
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The integer of a [`Value::Int`].
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// The truth value of a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The elements of an array.
    pub fn as_array(&self) -> Option<&[Value<'a>]> {
        match self {
            Value::Array(elements) => Some(elements),
            Value::NilArray => Some(&[]),
            _ => None,
        }
    }

    /// The elements of an array, to be changed. A [`Value::NilArray`] becomes an array first.
    pub fn as_array_mut(&mut self) -> Option<&mut Vec<Value<'a>>> {
        if let Value::NilArray = self {
            *self = Value::Array(Vec::new());
        }
        match self {
            Value::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The members of an object.
    pub fn as_object(&self) -> Option<&Object<'a>> {
        match self {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The members of an object, to be changed.
    pub fn as_object_mut(&mut self) -> Option<&mut Object<'a>> {
        match self {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// Whether it says nothing: null, `""`, 0, false, `[]` or `{}`.
    pub fn is_empty(&self) -> bool {
        match self {
            Value::Null | Value::NilArray => true,
            Value::Bool(value) => !value,
            Value::Int(number) => *number == 0,
            Value::Float(number) => *number == 0.0,
            Value::String(text) => text.is_empty(),
            Value::Array(elements) => elements.is_empty(),
            Value::Object(object) => object.is_empty(),
        }
    }

    /// A copy that shares the texts.
    pub fn borrowed(&self) -> Value<'_> {
        self.copied(&Progress::unwatched())
    }

    /// A copy that shares the texts, unless the caller interrupts it.
    ///
    /// # Errors
    /// It was interrupted.
    pub fn try_borrowed(&self, progress: &Progress<'_>) -> Result<Value<'_>, Interrupted> {
        let copy = self.copied(progress);
        progress.outcome().map(|()| copy)
    }

    // Not by `clone` for what is neither a text, a list nor an object: rows `patch-*` of `benches/` take 1 % more.
    #[inline(always)]
    pub(crate) fn copied(&self, progress: &Progress<'_>) -> Value<'_> {
        match self {
            Value::Null => Value::Null,
            Value::NilArray => Value::NilArray,
            Value::Bool(value) => Value::Bool(*value),
            Value::Int(number) => Value::Int(*number),
            Value::Float(number) => Value::Float(*number),
            Value::String(text) => Value::String(Cow::Borrowed(text)),
            Value::Array(elements) => Value::copied_array(elements, progress),
            Value::Object(object) => match object.copied(progress) {
                Some(copy) => Value::Object(copy),
                None => Value::Null,
            },
        }
    }

    /// An interrupted copy has no value.
    #[inline(never)]
    fn copied_array<'v>(elements: &'v [Value<'_>], progress: &Progress<'_>) -> Value<'v> {
        if !progress.nodes(elements.len()) {
            return Value::Null;
        }
        Value::Array(elements.iter().map(|element| element.copied(progress)).collect())
    }

    /// The value as it is once it was written and read again: whole numbers are integers then, however they were made, as
    /// to Go's reader of integers -0 is. It borrows nothing, but for keys that lie in `names`: they stay there.
    #[doc(hidden)]
    pub fn rewritten(&self, names: &'static str) -> Value<'static> {
        self.owned(CopyForm::Rewritten, names, &Progress::unwatched())
    }

    /// The same as [`rewritten`](Self::rewritten), unless the caller interrupts it.
    ///
    /// # Errors
    /// It was interrupted.
    #[doc(hidden)]
    pub fn try_rewritten(
        &self,
        names: &'static str,
        progress: &Progress<'_>,
    ) -> Result<Value<'static>, Interrupted> {
        let copy = self.owned(CopyForm::Rewritten, names, progress);
        progress.outcome().map(|()| copy)
    }

    /// A copy that borrows nothing, unless the caller interrupts it.
    ///
    /// # Errors
    /// It was interrupted.
    pub fn try_owned(&self, progress: &Progress<'_>) -> Result<Value<'static>, Interrupted> {
        let copy = self.owned(CopyForm::Same, "", progress);
        progress.outcome().map(|()| copy)
    }

    /// A copy that borrows nothing, but for keys that lie in `names`: they stay there.
    #[doc(hidden)]
    pub fn owned_within(&self, names: &'static str) -> Value<'static> {
        self.owned(CopyForm::Same, names, &Progress::unwatched())
    }

    pub(crate) fn owned(
        &self,
        form: CopyForm,
        names: &'static str,
        progress: &Progress<'_>,
    ) -> Value<'static> {
        match (self, form) {
            (Value::Bool(value), _) => Value::Bool(*value),
            (Value::Int(number), _) => Value::Int(*number),
            (Value::Float(number), CopyForm::Same) => Value::Float(*number),
            (Value::Float(number), CopyForm::Rewritten) => Value::reread_float(*number),
            (Value::String(text), _) => Value::String(Cow::Owned(text.to_string())),
            (Value::Array(elements), _) if progress.nodes(elements.len()) => {
                let elements = elements.iter();
                Value::Array(
                    elements
                        .map(|element| element.owned(form, names, progress))
                        .collect(),
                )
            }
            (Value::Object(object), _) if progress.nodes(object.len()) => {
                Value::Object(object.owned(form, names, progress))
            }
            (Value::NilArray, CopyForm::Same) => Value::NilArray,
            // An interrupted copy has no value.
            (Value::NilArray | Value::Null | Value::Array(_) | Value::Object(_), _) => Value::Null,
        }
    }

    /// A number as it is once it was written and read again. It is written with the fewest digits that tell it apart: a whole one
    /// is an integer then, and beyond 2⁵³ perhaps another one, or one that is too large and stays a float.
    ///
    /// ```
    /// use pratique_json::Value;
    ///
    /// assert_eq!(Value::reread_float(4.0), Value::Int(4));
    /// assert_eq!(Value::reread_float(9007199254740994.0), Value::Int(9007199254740994));
    /// assert_eq!(Value::reread_float(4611686018427387904.0), Value::Int(4611686018427388000));
    /// assert_eq!(Value::reread_float(-9223372036854775808.0).to_string(), "-9223372036854776000");
    /// ```
    // Upstream: encoding/json/encode.go, floatEncoder, and protobuf's encoding/json/encode.go, appendFloat, write the same digits
    pub fn reread_float(number: f64) -> Value<'static> {
        if number.fract() != 0.0 {
            return Value::Float(number);
        }
        // Integers up to here are the digits that are written.
        if number.abs() <= EXACT {
            return Value::Int(number as i64);
        }
        match json_form(number).parse() {
            Ok(whole) => Value::Int(whole),
            Err(_) => Value::Float(number),
        }
    }

    /// A copy that borrows nothing.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::NilArray => Value::NilArray,
            Value::Bool(value) => Value::Bool(value),
            Value::Int(number) => Value::Int(number),
            Value::Float(number) => Value::Float(number),
            Value::String(text) => Value::String(Cow::Owned(text.into_owned())),
            Value::Array(elements) => Value::Array(elements.into_iter().map(Value::into_owned).collect()),
            Value::Object(object) => Value::Object(object.into_owned()),
        }
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::String(Cow::Borrowed(text))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Value::String(Cow::Owned(text))
    }
}

impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Value::Int(number)
    }
}

/// A [`Value::Float`], also of a whole number; null where JSON has no such number.
impl From<f64> for Value<'_> {
    fn from(number: f64) -> Self {
        if number.is_finite() {
            Value::Float(number)
        } else {
            Value::Null
        }
    }
}

/// Without a value, null.
impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

impl<'a> From<Vec<Value<'a>>> for Value<'a> {
    fn from(elements: Vec<Value<'a>>) -> Self {
        Value::Array(elements)
    }
}

impl<'a> From<Object<'a>> for Value<'a> {
    fn from(object: Object<'a>) -> Self {
        Value::Object(object)
    }
}

/// What an index finds where there is nothing.
static NULL: Value<'static> = Value::Null;

/// A member of an object; null for a missing member and for every other kind of value, so that indices can follow each other.
///
/// ```
/// use pratique_json::Value;
///
/// let pod = pratique_json::parse(br#"{"spec": {"containers": [{"image": "app:1"}]}}"#)?;
/// assert_eq!(pod["spec"]["containers"][0]["image"].as_str(), Some("app:1"));
/// assert!(pod["spec"]["volumes"][0]["name"].is_null());
/// # Ok::<(), pratique_json::Error>(())
/// ```
impl<'a> Index<&str> for Value<'a> {
    type Output = Value<'a>;

    fn index(&self, key: &str) -> &Value<'a> {
        self.get(key).unwrap_or(&NULL)
    }
}

/// An element of an array; null beyond its end and for every other kind of value.
impl<'a> Index<usize> for Value<'a> {
    type Output = Value<'a>;

    fn index(&self, index: usize) -> &Value<'a> {
        let elements = self.as_array().unwrap_or_default();
        elements.get(index).unwrap_or(&NULL)
    }
}

/// The text at a path of object members; empty where there is none, as in Go.
///
/// ```
/// let object = pratique_json::parse(br#"{"metadata":{"name":"web"}}"#)?;
/// assert_eq!(pratique_json::text_at(&object, &["metadata", "name"]), "web");
/// assert_eq!(pratique_json::text_at(&object, &["metadata", "namespace"]), "");
/// # Ok::<(), pratique_json::Error>(())
/// ```
pub fn text_at<'v>(value: &'v Value<'_>, path: &[&str]) -> &'v str {
    value.at(path).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    #[test]
    fn what_is_rewritten_is_what_reading_gives() {
        for text in [
            r#"{"a":[1,1.0,2.5,1e20,1e21,1e300,9223372036854775807,1e18],"b":{"c":null,"d":true,"":"\u0000é"}}"#,
            "3.0",
            "[]",
        ] {
            let value = parse(text.as_bytes()).unwrap();
            let written = value.to_string();
            assert_eq!(value.rewritten(""), parse(written.as_bytes()).unwrap(), "{text}");
        }
        assert_eq!(Value::Float(-0.0).rewritten(""), Value::Int(0));
    }

    #[test]
    fn values_are_made_of_what_programs_have() {
        let mut value = Value::Object(Object::new());
        let object = value.as_object_mut().unwrap();
        object.insert("ratio", 0.5);
        object.insert("name", Some("web"));
        object.insert("port", Option::<i64>::None);
        object.insert("args", Value::NilArray);
        let arguments = object.get_mut("args").and_then(Value::as_array_mut).unwrap();
        arguments.push(Value::from(2.0));
        assert_eq!(
            value.to_string(),
            r#"{"args":[2],"name":"web","port":null,"ratio":0.5}"#
        );
        assert!(Value::from(f64::NAN).is_null() && Value::from(f64::INFINITY).is_null());
        assert!(value.as_array_mut().is_none() && value["name"].clone().as_object_mut().is_none());
    }

    #[test]
    fn indices_find_null_where_there_is_nothing() {
        let value = parse(br#"{"a":[{"b":1}],"c":"text"}"#).unwrap();
        assert_eq!(value["a"][0]["b"], Value::Int(1));
        for missing in [
            &value["b"],
            &value[0],
            &value["a"][1],
            &value["a"]["b"],
            &value["c"]["d"][2],
        ] {
            assert!(missing.is_null());
        }
    }

    #[test]
    fn what_is_borrowed_is_not_owned() {
        let text = br#"{"a":["plain","esc\u0061ped"],"b":1}"#;
        let borrowed = crate::parse(text).unwrap();
        let members = 2 * size_of::<(Cow<'_, str>, Value<'_>)>();
        let elements = 2 * size_of::<Value<'_>>();
        let least = members + elements + "escaped".len();
        assert!((least..2 * least).contains(&borrowed.owned_bytes()));
        let owned = borrowed.clone().into_owned();
        assert!(owned.owned_bytes() >= least + "abplain".len());
        assert_eq!(borrowed.copied_bytes(), least + "abplain".len());
        assert_eq!(Value::Int(1).owned_bytes(), 0);
    }
}
