//! The operations.

use std::borrow::Cow;

use pratique_json::Value;

use super::locate::{Container, find};
use super::nothing;
use super::{Error, MAX_COPIED_VALUES, Operation, Text};

/// A document being patched.
pub(super) struct State<'a> {
    pub(super) document: Value<'a>,
    pub(super) copied: usize,
}

impl<'a> State<'a> {
    pub(super) fn apply(&mut self, operation: &Operation<'a>) -> Result<(), Error> {
        match operation.op.as_ref() {
            "add" => self.add(operation),
            "remove" => self.remove(operation),
            "replace" => self.replace(operation),
            "move" => self.relocate(operation),
            "copy" => self.copy(operation),
            "test" => self.test(operation),
            other => Err(fault(format!("Unexpected kind: {other}"))),
        }
    }

    fn add(&mut self, operation: &Operation<'a>) -> Result<(), Error> {
        let path = operation.path.short("add")?;
        let (mut container, key) = self.container(path, || {
            format!("add operation does not apply: doc is missing path: \"{path}\": missing value")
        })?;
        container
            .add(&key, value(operation))
            .map_err(in_path("add", path))
    }

    fn remove(&mut self, operation: &Operation<'a>) -> Result<(), Error> {
        let path = operation.path.short("remove")?;
        let (mut container, key) = self.container(path, || {
            format!("remove operation does not apply: doc is missing path: \"{path}\": missing value")
        })?;
        container.remove(&key).map(drop).map_err(in_path("remove", path))
    }

    fn replace(&mut self, operation: &Operation<'a>) -> Result<(), Error> {
        let path = operation.path.path("replace")?;
        if path.is_empty() {
            return self.replace_document(operation);
        }
        let (mut container, key) = self.container(path, || {
            format!("replace operation does not apply: doc is missing path: {path}: missing value")
        })?;
        container.get(&key).map_err(|_| {
            fault(format!(
                "replace operation does not apply: doc is missing key: {path}: missing value"
            ))
        })?;
        // The reference says "remove" here too.
        container
            .set(&key, value(operation))
            .map_err(in_path("remove", path))
    }

    fn replace_document(&mut self, operation: &Operation<'a>) -> Result<(), Error> {
        match &operation.value {
            Some(value @ (Value::Object(_) | Value::Array(_) | Value::Null)) => {
                self.document = nothing::mark(value.clone());
                Ok(())
            }
            _ => Err(fault(
                "replace operation value must be object or array: %!w(<nil>)".into(),
            )),
        }
    }

    fn relocate(&mut self, operation: &Operation<'a>) -> Result<(), Error> {
        let from = operation.from.from("move")?;
        let (mut container, key) = self.container(from, || {
            format!("move operation does not apply: doc is missing from path: {from}: missing value")
        })?;
        let taken = container
            .get(&key)
            .and(Ok(()))
            .and_then(|()| container.remove(&key))
            .map_err(in_path("move", &key))?;
        let path = operation.path.path("move")?;
        let (mut container, key) = self.container(path, || {
            format!("move operation does not apply: doc is missing destination path: {path}: missing value")
        })?;
        container.add(&key, taken).map_err(in_path("move", path))
    }

    fn copy(&mut self, operation: &Operation<'a>) -> Result<(), Error> {
        let from = operation.from.from("copy")?;
        let (container, key) = self.container(from, || {
            format!("copy operation does not apply: doc is missing from path: {from}: missing value")
        })?;
        let source = container
            .get(&key)
            .map_err(|error| fault(format!("error in copy for from: '{from}': {error}")))?;
        let copied = source.cloned().unwrap_or_default();
        let path = operation.path.short("copy")?;
        self.copied += size(&copied);
        if self.copied > MAX_COPIED_VALUES {
            return Err(fault(format!(
                "copy operations add more than {MAX_COPIED_VALUES} values"
            )));
        }
        let (mut container, key) = self.container(path, || {
            format!("copy operation does not apply: doc is missing destination path: {path}: missing value")
        })?;
        container
            .add(&key, copied)
            .map_err(|error| fault(format!("error while adding value during copy: {error}")))
    }

    fn test(&mut self, operation: &Operation<'a>) -> Result<(), Error> {
        let path = operation.path.path("test")?;
        let expected = operation.value.as_ref();
        let passed = if path.is_empty() {
            expected.is_some_and(|expected| passes(&self.document, expected))
        } else {
            let (container, key) = self.container(path, || {
                format!("test operation does not apply: is missing path: {path}: missing value")
            })?;
            let actual = container.get(&key).map_err(in_path("test", path))?;
            match (actual.filter(|actual| !actual.is_null()), expected) {
                (None, expected) => expected.is_none(),
                (Some(actual), expected) => expected.is_some_and(|expected| passes(actual, expected)),
            }
        };
        match passed {
            true => Ok(()),
            false => Err(Error::TestFailed {
                path: path.to_owned(),
            }),
        }
    }

    fn container<'d, 'p>(
        &'d mut self,
        path: &'p str,
        missing: impl FnOnce() -> String,
    ) -> Result<(Container<'d, 'a>, Cow<'p, str>), Error> {
        find(&mut self.document, path).ok_or_else(|| fault(missing()))
    }
}

/// Whether a value that is there passes a test. The null of an expression equals all that is empty.
fn passes(actual: &Value<'_>, expected: &Value<'_>) -> bool {
    match (actual, expected) {
        (Value::Object(members), Value::Null) => members.is_empty(),
        (Value::Array(elements), Value::Null) => elements.is_empty(),
        (actual, Value::Null) => nothing::is(actual),
        _ => equal(actual, expected),
    }
}

/// Equality as the reference sees it: of numbers by their text. A number of a document was written by the
/// server, which writes a whole number without fraction; so a `3.0` that a patch spells out equals nothing.
fn equal(actual: &Value<'_>, expected: &Value<'_>) -> bool {
    match (actual, expected) {
        (actual, Value::Object(expected)) if nothing::is(actual) => expected.is_empty(),
        (Value::Float(_), Value::Float(number)) if number.fract() == 0.0 && number.abs() < 1e15 => false,
        (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_)) => {
            actual.to_string() == expected.to_string()
                && !matches!((actual, expected), (Value::Int(_), Value::Float(_)))
        }
        (Value::Array(actual), Value::Array(expected)) => {
            actual.len() == expected.len() && actual.iter().zip(expected).all(|(a, b)| equal(a, b))
        }
        (Value::Object(actual), Value::Object(expected)) => {
            actual.len() == expected.len()
                && actual
                    .iter()
                    .all(|(key, value)| expected.get(key).is_some_and(|other| equal(value, other)))
        }
        _ => actual == expected,
    }
}

fn value<'a>(operation: &Operation<'a>) -> Value<'a> {
    operation.value.clone().map(nothing::mark).unwrap_or_default()
}

fn size(value: &Value<'_>) -> usize {
    1 + match value {
        Value::Array(elements) => elements.iter().map(size).sum(),
        Value::Object(object) => object.iter().map(|(_, value)| size(value)).sum(),
        _ => 0,
    }
}

impl Text<'_> {
    /// The path of an operation that does not say what is wrong with it.
    fn short(&self, operation: &str) -> Result<&str, Error> {
        match self {
            Text::Given(text) => Ok(text),
            Text::Missing | Text::Invalid(_) => Err(fault(format!(
                "{operation} operation failed to decode path: missing value"
            ))),
        }
    }

    fn path(&self, operation: &str) -> Result<&str, Error> {
        self.required(operation, "path", "operation missing path field: missing value")
    }

    fn from(&self, operation: &str) -> Result<&str, Error> {
        self.required(operation, "from", "operation, missing from field: missing value")
    }

    fn required(&self, operation: &str, field: &str, missing: &str) -> Result<&str, Error> {
        let why = match self {
            Text::Given(text) => return Ok(text),
            Text::Missing => missing,
            Text::Invalid(why) => why,
        };
        Err(fault(format!(
            "{operation} operation failed to decode {field}: {why}"
        )))
    }
}

fn in_path<'p>(operation: &'static str, path: &'p str) -> impl Fn(String) -> Error + 'p {
    move |error| fault(format!("error in {operation} for path: '{path}': {error}"))
}

fn fault(message: String) -> Error {
    Error::DoesNotApply(message)
}

#[cfg(test)]
mod tests;
