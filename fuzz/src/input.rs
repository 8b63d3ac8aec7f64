//! Structured inputs: parts of a text, or a document for each sequence of choices.
//!
//! An input that begins with a NUL is a sequence of choices, from which a generator builds well-formed values. Any other
//! is a readable text of parts that are separated by lines of `---`.

use arbitrary::Unstructured;
use pratique_json::{Object, Value};

/// The form of an input.
pub(crate) enum InputForm<'i> {
    /// Parts of a text.
    Text(Vec<&'i [u8]>),
    /// Choices, which end with zeros.
    Choices(Unstructured<'i>),
}

/// Reads an input that has a number of parts; `None` for a text with another number.
pub(crate) fn read(input: &[u8], parts: usize) -> Option<InputForm<'_>> {
    if let Some((0, choices)) = input.split_first() {
        return Some(InputForm::Choices(Unstructured::new(choices)));
    }
    let text_parts = divided(input);
    (text_parts.len() == parts).then_some(InputForm::Text(text_parts))
}

/// The parts of a text that lines of `---` divide.
pub(crate) fn divided(input: &[u8]) -> Vec<&[u8]> {
    const LINE: &[u8] = b"\n---\n";
    let mut parts = Vec::new();
    let mut rest = input;
    while let Some(at) = rest.windows(LINE.len()).position(|window| window == LINE) {
        let (part, after) = rest.split_at(at);
        parts.push(part);
        rest = after.get(LINE.len()..).unwrap_or_default();
    }
    parts.push(rest);
    parts
}

/// Names of members that types have, and others.
const KEYS: [&str; 16] = [
    "metadata",
    "spec",
    "name",
    "labels",
    "containers",
    "image",
    "env",
    "ports",
    "containerPort",
    "protocol",
    "apiVersion",
    "kind",
    "a",
    "b/~c",
    "",
    "finalizers",
];

/// One of several options; the first one if the choices are used up.
pub(crate) fn pick<T: Copy>(choices: &mut Unstructured<'_>, of: &[T]) -> Option<T> {
    let at = choices
        .int_in_range(0..=of.len().saturating_sub(1))
        .unwrap_or_default();
    of.get(at).copied()
}

/// A number up to another.
pub(crate) fn up_to(choices: &mut Unstructured<'_>, most: usize) -> usize {
    choices.int_in_range(0..=most).unwrap_or_default()
}

/// The name of a member.
pub(crate) fn key(choices: &mut Unstructured<'_>) -> String {
    pick(choices, &KEYS).unwrap_or_default().to_owned()
}

/// A scalar.
pub(crate) fn scalar(choices: &mut Unstructured<'_>) -> Value<'static> {
    match up_to(choices, 7) {
        0 => Value::Null,
        1 => Value::Bool(true),
        2 => Value::Bool(false),
        3 => Value::Int(choices.arbitrary().unwrap_or_default()),
        4 => Value::Int(pick(choices, &[0, 1, -1, 80]).unwrap_or_default()),
        5 => Value::Float(pick(choices, &[0.5, -0.0, 1e300, 2.0]).unwrap_or_default()),
        6 => Value::from(choices.arbitrary::<String>().unwrap_or_default()),
        _ => Value::from(key(choices)),
    }
}

/// A document with a maximum depth.
pub(crate) fn value(choices: &mut Unstructured<'_>, depth: usize) -> Value<'static> {
    match up_to(choices, 3) {
        2 if depth > 0 => {
            let count = up_to(choices, 4);
            Value::Array((0..count).map(|_| value(choices, depth - 1)).collect())
        }
        3 if depth > 0 => {
            let count = up_to(choices, 4);
            let members = (0..count).map(|_| (key(choices).into(), value(choices, depth - 1)));
            Value::Object(members.collect::<Object<'_>>())
        }
        _ => scalar(choices),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_parts() {
        assert_eq!(divided(b"a\n---\nb\n---\n"), [&b"a"[..], b"b", b""]);
        assert!(read(b"a", 2).is_none());
        assert!(matches!(read(b"a\n---\nb", 2), Some(InputForm::Text(parts)) if parts == [b"a", b"b"]));
    }

    #[test]
    fn choices_make_documents() {
        let mut choices = Unstructured::new(&[]);
        assert_eq!(value(&mut choices, 4), Value::Null);
        let bytes: Vec<u8> = (0..4_000u32).map(|at| (at * at * 31).to_le_bytes()[1]).collect();
        let mut choices = Unstructured::new(&bytes);
        let documents: Vec<_> = (0..50).map(|_| value(&mut choices, 4)).collect();
        assert!(
            documents
                .iter()
                .any(|document| document.as_object().is_some_and(|members| members.len() > 1))
        );
    }
}
