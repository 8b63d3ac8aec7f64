//! JSON Patch, compared with a model.

use arbitrary::Unstructured;
use pratique_json::{self as json, Object, Progress, Value};
use pratique_merge::json_patch::{apply, decode, diff};
use serde_json::Value as Plain;

use crate::input::{self, InputForm};

/// A document and a patch. Where the patch does nothing but what RFC 6902 defines, the result is that of a model; of two
/// documents the difference leads from one to the other.
pub fn json_patch(input: &[u8]) {
    match input::read(input, 2) {
        None => {}
        Some(InputForm::Text(parts)) => {
            let [document, patch] = parts.as_slice() else {
                return;
            };
            if let (Ok(document), Ok(patch)) = (json::parse(document), json::parse(patch)) {
                patched(&document, &patch);
            }
        }
        Some(InputForm::Choices(mut choices)) => {
            let document = input::value(&mut choices, 4);
            let count = input::up_to(&mut choices, 6);
            let patch = Value::Array((0..count).map(|_| operation(&mut choices)).collect());
            patched(&document, &patch);
            assert_differs(&document, &input::value(&mut choices, 4));
        }
    }
}

fn patched(document: &Value<'_>, patch: &Value<'_>) {
    let Ok(operations) = decode(patch) else {
        assert!(!matches!(patch, Value::Null));
        return;
    };
    let result = apply(document.clone(), &operations, &Progress::unwatched());
    if let Some(expected) = model(document, patch) {
        let actual = result.as_ref().map(plain);
        assert_eq!(actual, Ok(expected), "{document} patched by {patch}");
    }
    match result {
        Ok(result) => {
            assert_differs(document, &result);
            let (input_length, output_length) = (written(document) + written(patch), written(&result));
            assert!(
                output_length <= 8 * input_length + MOST_COPIED,
                "{output_length} bytes of {input_length}"
            );
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// How many bytes the copies of a patch may make, with some for how they are written.
const MOST_COPIED: usize = 8 << 20;

/// The length of a value as it is written.
fn written(value: &Value<'_>) -> usize {
    let mut bytes = Vec::new();
    json::write(value, &mut bytes);
    bytes.len()
}

/// The difference of two documents leads from one to the other.
fn assert_differs(from: &Value<'_>, to: &Value<'_>) {
    // A document that is neither an object nor an array cannot be replaced.
    let (from, to) = (Value::Array(vec![from.clone()]), Value::Array(vec![to.clone()]));
    let operations = diff(&from, &to);
    assert_eq!(
        apply(from.clone(), &operations, &Progress::unwatched()).as_ref(),
        Ok(&to),
        "from {from}"
    );
    let json = Value::Array(operations.into_iter().map(Value::from).collect());
    if let Ok(decoded) = decode(&json) {
        assert!(
            apply(from.clone(), &decoded, &Progress::unwatched()).is_ok(),
            "{from} by {json}"
        );
    }
}

/// What a patch makes of a document; `None` where it does anything that RFC 6902 leaves to errors, and the reference may
/// not.
fn model(document: &Value<'_>, patch: &Value<'_>) -> Option<Plain> {
    let mut document = plain(document);
    let Plain::Array(operations) = plain(patch) else {
        return None;
    };
    let mut copied = 0;
    for operation in &operations {
        let text = |name: &str| operation.get(name).and_then(Plain::as_str);
        let path = text("path")?;
        let value = operation.get("value").filter(|value| !value.is_null());
        match text("op")? {
            "add" => add(&mut document, path, value?.clone())?,
            "remove" => drop(remove(&mut document, path)?),
            "replace" => *find(&mut document, path)? = value?.clone(),
            "copy" => {
                let value = find(&mut document, text("from")?)?.clone();
                copied += value.to_string().len();
                add(&mut document, path, value)?;
            }
            "move" => {
                let from = text("from")?;
                if path.starts_with(from) {
                    return None;
                }
                let value = remove(&mut document, from)?;
                add(&mut document, path, value)?;
            }
            // Doubles are compared as they are spelt, which is not as numbers.
            "test" if has_double(value?) => return None,
            "test" if find(&mut document, path)? == value? => {}
            _ => return None,
        }
    }
    (copied < 100_000).then_some(document)
}

fn has_double(value: &Plain) -> bool {
    match value {
        Plain::Number(number) => number.is_f64(),
        Plain::Array(elements) => elements.iter().any(has_double),
        Plain::Object(members) => members.values().any(has_double),
        _ => false,
    }
}

/// The parent of a place, and the last token of its pointer.
fn parent<'d>(document: &'d mut Plain, path: &str) -> Option<(&'d mut Plain, String)> {
    let (parent, last) = path.rsplit_once('/')?;
    let parent = if parent.is_empty() {
        document
    } else {
        find(document, parent)?
    };
    Some((parent, unescaped(last)?))
}

fn find<'d>(document: &'d mut Plain, path: &str) -> Option<&'d mut Plain> {
    let (parent, token) = parent(document, path)?;
    match parent {
        Plain::Object(members) => members.get_mut(&token),
        Plain::Array(elements) => elements.get_mut(index(&token)?),
        _ => None,
    }
}

fn add(document: &mut Plain, path: &str, value: Plain) -> Option<()> {
    let (parent, token) = parent(document, path)?;
    match parent {
        Plain::Object(members) => drop(members.insert(token, value)),
        Plain::Array(elements) if token == "-" => elements.push(value),
        Plain::Array(elements) => {
            let at = index(&token).filter(|at| *at <= elements.len())?;
            elements.insert(at, value);
        }
        _ => return None,
    }
    Some(())
}

fn remove(document: &mut Plain, path: &str) -> Option<Plain> {
    let (parent, token) = parent(document, path)?;
    match parent {
        Plain::Object(members) => members.remove(&token),
        Plain::Array(elements) => {
            let at = index(&token).filter(|at| *at < elements.len())?;
            Some(elements.remove(at))
        }
        _ => None,
    }
}

/// An index as RFC 6901 writes it.
fn index(token: &str) -> Option<usize> {
    let at: usize = token.parse().ok()?;
    (at.to_string() == token).then_some(at)
}

fn unescaped(token: &str) -> Option<String> {
    let mut pieces = token.split('~');
    let mut text = pieces.next()?.to_owned();
    for piece in pieces {
        let (escaped, rest) = piece.split_at_checked(1)?;
        text.push(match escaped {
            "0" => '~',
            "1" => '/',
            _ => return None,
        });
        text += rest;
    }
    Some(text)
}

/// A value in the model's types.
fn plain(value: &Value<'_>) -> Plain {
    match value {
        Value::Null | Value::NilArray => Plain::Null,
        Value::Bool(value) => Plain::from(*value),
        Value::Int(number) => Plain::from(*number),
        Value::Float(number) => Plain::from(*number),
        Value::String(text) => Plain::from(&**text),
        Value::Array(elements) => elements.iter().map(plain).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| (name.to_owned(), plain(value)))
            .collect(),
    }
}

fn operation(choices: &mut Unstructured<'_>) -> Value<'static> {
    const NAMES: [&str; 7] = ["add", "remove", "replace", "copy", "move", "test", "swap"];
    let mut members = Object::new();
    members.insert(
        "op",
        Value::from(input::pick(choices, &NAMES).unwrap_or_default().to_owned()),
    );
    members.insert("path", Value::from(pointer(choices)));
    members.insert("from", Value::from(pointer(choices)));
    members.insert("value", input::value(choices, 2));
    Value::Object(members)
}

fn pointer(choices: &mut Unstructured<'_>) -> String {
    let count = input::up_to(choices, 3);
    let mut text = String::new();
    for _ in 0..count {
        text.push('/');
        match input::up_to(choices, 2) {
            0 => text += input::pick(choices, &["0", "1", "-", "-1", "01", "9"]).unwrap_or_default(),
            _ => text += &input::key(choices).replace('~', "~0").replace('/', "~1"),
        }
    }
    text
}
