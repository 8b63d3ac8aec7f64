//! A document while it is patched: values as they came, opened where operations look into them.

use std::borrow::Cow;

use pratique_gotext::strconv::json_form;
use pratique_json::{Object, Value};

use super::chunks::ChunkedSequence;

/// A value of a document that is being patched.
///
/// The library of the reference distinguishes three nulls. Those of the document and of a patch's text are
/// the absence of a value. The one that an expression gives is a value, and is taken for an object without
/// members when it is looked into.
#[derive(Clone, Debug)]
pub(super) enum PatchNode<'a> {
    /// No operation has looked into it. Null is the absence of a value.
    Plain(Value<'a>),
    /// The null of an expression.
    Nothing,
    Array(Box<ChunkedSequence<PatchNode<'a>>>),
    Object(Box<NodeMembers<'a>>),
}

/// The members of an object, sorted by key.
type NodeMembers<'a> = ChunkedSequence<(Cow<'a, str>, PatchNode<'a>)>;

/// The size of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ValueSize {
    /// In bytes, as the reference writes it: compact, with `<`, `>`, `&` and two line separators escaped.
    pub(super) bytes: usize,
    /// How deep arrays and objects are nested: 0 for scalars.
    pub(super) depth: usize,
}

impl<'a> PatchNode<'a> {
    /// The value of an operation.
    pub(super) fn of_operation(value: Option<&Value<'a>>) -> Self {
        match value {
            None => PatchNode::default(),
            Some(Value::Null | Value::NilArray) => PatchNode::Nothing,
            Some(value) => PatchNode::Plain(value.clone()),
        }
    }

    /// Whether there is a value at all.
    pub(super) fn is_some(&self) -> bool {
        !matches!(self, PatchNode::Plain(Value::Null | Value::NilArray))
    }

    /// Makes an array or object one that can be looked into and changed.
    pub(super) fn open(&mut self) {
        let PatchNode::Plain(Value::Array(_) | Value::Object(_)) = self else {
            return;
        };
        *self = match std::mem::take(self) {
            PatchNode::Plain(Value::Array(elements)) => {
                let elements: Vec<_> = elements.into_iter().map(PatchNode::Plain).collect();
                PatchNode::Array(Box::new(elements.into()))
            }
            PatchNode::Plain(Value::Object(members)) => {
                let members = members
                    .into_iter()
                    .map(|(key, value)| (key, PatchNode::Plain(value)));
                PatchNode::Object(Box::new(members.collect::<Vec<_>>().into()))
            }
            other => other,
        };
    }

    /// The resulting value.
    pub(super) fn into_value(self) -> Value<'a> {
        match self {
            PatchNode::Plain(value) => value,
            PatchNode::Nothing => Value::Null,
            PatchNode::Array(elements) => {
                let elements = elements.into_vec().into_iter();
                Value::Array(elements.map(PatchNode::into_value).collect())
            }
            PatchNode::Object(members) => {
                let members = members.into_vec().into_iter();
                Value::Object(
                    members
                        .map(|(key, node)| (key, node.into_value()))
                        .collect::<Object<'_>>(),
                )
            }
        }
    }

    /// The size of the value.
    pub(super) fn size(&self) -> ValueSize {
        match self {
            PatchNode::Plain(value) => ValueSize::new(value),
            PatchNode::Nothing => ValueSize { bytes: 4, depth: 0 },
            PatchNode::Array(elements) => container(elements.iter().map(PatchNode::size)),
            PatchNode::Object(members) => {
                container(members.iter().map(|(key, node)| member(key, node.size())))
            }
        }
    }
}

impl Default for PatchNode<'_> {
    /// The absence of a value.
    fn default() -> Self {
        PatchNode::Plain(Value::Null)
    }
}

impl ValueSize {
    /// The size of a value.
    pub(super) fn new(value: &Value<'_>) -> Self {
        let bytes = match value {
            Value::Null | Value::NilArray | Value::Bool(true) => 4,
            Value::Bool(false) => 5,
            Value::Int(number) => integer(*number),
            Value::Float(number) => json_form(*number).len(),
            Value::String(text) => text_size(text),
            Value::Array(elements) => return container(elements.iter().map(ValueSize::new)),
            Value::Object(object) => {
                return container(
                    object
                        .iter()
                        .map(|(key, value)| member(key, ValueSize::new(value))),
                );
            }
        };
        ValueSize { bytes, depth: 0 }
    }
}

/// The size of a container: brackets around its parts, commas between them.
fn container(parts: impl Iterator<Item = ValueSize>) -> ValueSize {
    let empty = ValueSize { bytes: 1, depth: 0 };
    let inside = parts.fold(empty, |all, part| ValueSize {
        bytes: all.bytes + part.bytes + 1,
        depth: all.depth.max(part.depth),
    });
    ValueSize {
        bytes: inside.bytes.max(2),
        depth: inside.depth + 1,
    }
}

fn member(key: &str, value: ValueSize) -> ValueSize {
    ValueSize {
        bytes: text_size(key) + 1 + value.bytes,
        ..value
    }
}

fn integer(number: i64) -> usize {
    let digits = number.unsigned_abs().checked_ilog10().unwrap_or(0) as usize + 1;
    digits + usize::from(number < 0)
}

/// Upstream: encoding/json, appendString with escapeHTML
fn text_size(text: &str) -> usize {
    let written = |byte: u8| match byte {
        b'"' | b'\\' | 8 | 9 | 10 | 12 | 13 => 2,
        0..b' ' | b'<' | b'>' | b'&' => 6,
        _ => 1,
    };
    let bytes: usize = text.bytes().map(written).sum();
    // U+2028 and U+2029 take three bytes and are written in six.
    let separators = if text.as_bytes().contains(&0xe2) {
        text.matches(['\u{2028}', '\u{2029}']).count()
    } else {
        0
    };
    bytes + 3 * separators + 2
}

#[cfg(test)]
mod tests {
    use pratique_json::{escape_html, parse};

    use super::*;

    /// The sizes are those of the text; opening changes neither the value nor its size.
    #[track_caller]
    fn check(json: &str, depth: usize) {
        let value = parse(json.as_bytes()).unwrap();
        let bytes = escape_html(&value.to_string()).len();
        let expected = ValueSize { bytes, depth };
        let mut node = PatchNode::Plain(value.clone());
        assert_eq!(node.size(), expected, "{json}");
        open(&mut node);
        assert_eq!(node.size(), expected, "opened {json}");
        assert_eq!(node.into_value(), value);
    }

    fn open(node: &mut PatchNode<'_>) {
        node.open();
        let children = match node {
            PatchNode::Array(elements) => elements.len(),
            PatchNode::Object(members) => members.len(),
            _ => 0,
        };
        for at in 0..children {
            match node {
                PatchNode::Array(elements) => open(elements.get_mut(at).unwrap()),
                PatchNode::Object(members) => open(&mut members.get_mut(at).unwrap().1),
                _ => {}
            }
        }
    }

    #[test]
    fn sizes_are_those_of_the_text() {
        check("null", 0);
        check("[]", 1);
        check("{}", 1);
        check("[{},[[]],1]", 3);
        check(r#"{"a":{"b":[null,true,false]},"<":1}"#, 3);
        check(
            "[0,-1,9,10,-10,99,100,9223372036854775807,-9223372036854775808]",
            1,
        );
        check("[1.5,1e300,1e-7,-0.0,123456789.125]", 1);
        check(
            r#"["","\"\\\/\b\f\n\r\t\u0000\u001f\u007f<>&é日😀\u2028\u2029\u2027","â"]"#,
            1,
        );
    }
}
