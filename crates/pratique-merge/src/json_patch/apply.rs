//! Applies the operations of a patch.

use std::borrow::Cow;

use pratique_json::{Progress, Value};

use super::container::{PatchContainer, PlaceError, find};
use super::equal::passes;
use super::node::{PatchNode, ValueSize};
use super::{Error, MAX_COPIED_BYTES, MAX_DEPTH, Operation, Text};

/// The cost of an operation without the bytes that it moves, compares or copies.
const OPERATION: usize = 64;

/// A document being patched.
pub(super) struct PatchState<'a, 'i> {
    pub(super) document: PatchNode<'a>,
    /// The bytes of all copies so far.
    pub(super) copied: usize,
    pub(super) progress: &'i Progress<'i>,
}

impl<'a> PatchState<'a, '_> {
    pub(super) fn apply(&mut self, operation: &Operation<'a>) -> Result<(), Error> {
        self.work(length(&operation.path) + length(&operation.from))?;
        match operation.op.as_ref() {
            "add" => self.add(operation),
            "remove" => self.remove(operation),
            "replace" => self.replace(operation),
            "move" => self.move_value(operation),
            "copy" => self.copy(operation),
            "test" => self.test(operation),
            other => Err(failed(format!("Unexpected kind: {other}"))),
        }
    }

    fn add(&mut self, operation: &Operation<'a>) -> Result<(), Error> {
        let path = operation.path.path_only("add")?;
        let (value, size) = self.value(operation)?;
        let (mut container, key) = find_container(&mut self.document, path, || {
            format!("add operation does not apply: doc is missing path: \"{path}\": missing value")
        })?;
        fits(path, size)?;
        container.add(&key, value).map_err(in_path("add", path))
    }

    fn remove(&mut self, operation: &Operation<'a>) -> Result<(), Error> {
        let path = operation.path.path_only("remove")?;
        let (mut container, key) = find_container(&mut self.document, path, || {
            format!("remove operation does not apply: doc is missing path: \"{path}\": missing value")
        })?;
        container.remove(&key).map(drop).map_err(in_path("remove", path))
    }

    fn replace(&mut self, operation: &Operation<'a>) -> Result<(), Error> {
        let path = operation.path.path("replace")?;
        if path.is_empty() {
            return self.replace_document(operation);
        }
        let (value, size) = self.value(operation)?;
        let (mut container, key) = find_container(&mut self.document, path, || {
            format!("replace operation does not apply: doc is missing path: {path}: missing value")
        })?;
        container.get(&key).map_err(|_| {
            failed(format!(
                "replace operation does not apply: doc is missing key: {path}: missing value"
            ))
        })?;
        // The reference says "remove" here too.
        fits(path, size)?;
        container.set(&key, value).map_err(in_path("remove", path))
    }

    fn replace_document(&mut self, operation: &Operation<'a>) -> Result<(), Error> {
        match &operation.value {
            Some(Value::Object(_) | Value::Array(_) | Value::Null) => {
                let (value, size) = self.value(operation)?;
                fits("", size)?;
                self.document = value;
                Ok(())
            }
            _ => Err(failed(
                "replace operation value must be object or array: %!w(<nil>)".into(),
            )),
        }
    }

    fn move_value(&mut self, operation: &Operation<'a>) -> Result<(), Error> {
        let from = operation.from.from("move")?;
        let (mut container, key) = find_container(&mut self.document, from, || {
            format!("move operation does not apply: doc is missing from path: {from}: missing value")
        })?;
        let moved_value = container
            .get(&key)
            .and(Ok(()))
            .and_then(|()| container.remove(&key))
            .map_err(in_path("move", &key))?;
        let path = operation.path.path("move")?;
        let size = if steps(path) > steps(from) {
            moved_value.size()
        } else {
            // The document does not get deeper.
            ValueSize::default()
        };
        self.work(size.bytes)?;
        let (mut container, key) = find_container(&mut self.document, path, || {
            format!("move operation does not apply: doc is missing destination path: {path}: missing value")
        })?;
        fits(path, size)?;
        container.add(&key, moved_value).map_err(in_path("move", path))
    }

    fn copy(&mut self, operation: &Operation<'a>) -> Result<(), Error> {
        let from = operation.from.from("copy")?;
        let (container, key) = find_container(&mut self.document, from, || {
            format!("copy operation does not apply: doc is missing from path: {from}: missing value")
        })?;
        let source = container
            .get(&key)
            .map_err(|error| failed(format!("error in copy for from: '{from}': {error}")))?;
        let (copied, size) = source
            .map(|source| (source.clone(), source.size()))
            .unwrap_or_default();
        let path = operation.path.path_only("copy")?;
        self.work(size.bytes)?;
        let (mut container, key) = find_container(&mut self.document, path, || {
            format!("copy operation does not apply: doc is missing destination path: {path}: missing value")
        })?;
        if copied.is_some() {
            self.copied += size.bytes;
        }
        if self.copied > MAX_COPIED_BYTES {
            return Err(Error::CopiesTooMuch { bytes: self.copied });
        }
        fits(path, size)?;
        container
            .add(&key, copied)
            .map_err(|error| failed(format!("error while adding value during copy: {error}")))
    }

    fn test(&mut self, operation: &Operation<'a>) -> Result<(), Error> {
        let path = operation.path.path("test")?;
        let expected = operation.value.as_ref();
        // No more is compared than the expected value.
        self.work(expected.map_or(0, |expected| ValueSize::new(expected).bytes))?;
        let passed = if path.is_empty() {
            expected.is_some_and(|expected| passes(&self.document, expected))
        } else {
            let (container, key) = find_container(&mut self.document, path, || {
                format!("test operation does not apply: is missing path: {path}: missing value")
            })?;
            let actual = container.get(&key).map_err(in_path("test", path))?;
            match (actual.filter(|actual| actual.is_some()), expected) {
                (None, expected) => expected.is_none(),
                (Some(actual), expected) => expected.is_some_and(|expected| passes(actual, expected)),
            }
        };
        if passed {
            Ok(())
        } else {
            Err(Error::TestFailed {
                path: path.to_owned(),
            })
        }
    }

    /// Counts an operation and the bytes that it moves, compares or copies.
    fn work(&self, bytes: usize) -> Result<(), Error> {
        if self.progress.units(OPERATION + bytes) {
            Ok(())
        } else {
            Err(Error::Interrupted)
        }
    }

    /// The value of an operation and its size.
    fn value(&mut self, operation: &Operation<'a>) -> Result<(PatchNode<'a>, ValueSize), Error> {
        let value = PatchNode::of_operation(operation.value.as_ref());
        let size = value.size();
        self.work(size.bytes)?;
        Ok((value, size))
    }
}

fn find_container<'d, 'a, 'p>(
    document: &'d mut PatchNode<'a>,
    path: &'p str,
    missing: impl FnOnce() -> String,
) -> Result<(PatchContainer<'d, 'a>, Cow<'p, str>), Error> {
    find(document, path).ok_or_else(|| failed(missing()))
}

fn length(text: &Text<'_>) -> usize {
    match text {
        Text::Given(text) => text.len(),
        Text::Missing | Text::Invalid(_) => 0,
    }
}

/// How many steps a path has.
fn steps(path: &str) -> usize {
    path.matches('/').count()
}

/// Checks that a document does not get nested too deep by a value at a path, as documents are processed by recursion.
fn fits(path: &str, size: ValueSize) -> Result<(), Error> {
    if steps(path) + size.depth <= MAX_DEPTH {
        Ok(())
    } else {
        Err(Error::TooDeep)
    }
}

impl Text<'_> {
    /// The path of an operation whose error gives no details.
    fn path_only(&self, operation: &str) -> Result<&str, Error> {
        match self {
            Text::Given(text) => Ok(text),
            Text::Missing | Text::Invalid(_) => Err(failed(format!(
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
        Err(failed(format!(
            "{operation} operation failed to decode {field}: {why}"
        )))
    }
}

fn in_path<'p>(operation: &'static str, path: &'p str) -> impl Fn(PlaceError) -> Error + 'p {
    move |error| failed(format!("error in {operation} for path: '{path}': {error}"))
}

fn failed(message: String) -> Error {
    Error::DoesNotApply(message)
}

#[cfg(test)]
mod tests;
