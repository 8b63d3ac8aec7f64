//! Objects as they are written or rendered.

use std::fmt::{self, Display, Formatter};

use pratique_harness::ToolError;
use pratique_manifest::{ManifestFile, is_json, read_documents, yaml_as_json};
use serde_json::Value;

/// An object, and where it is from.
#[derive(Clone, Debug)]
pub struct RenderedObject {
    /// The file, or the rendering.
    pub origin: String,
    /// All of it.
    pub value: Value,
}

/// Reads the objects of a text. Documents without anything in them are none.
///
/// # Errors
/// When it cannot be read.
pub fn read(origin: &str, text: &str) -> Result<Vec<RenderedObject>, ToolError> {
    let file = ManifestFile {
        path: origin.to_owned(),
        content: without_empty(text).into_bytes(),
    };
    let documents = read_documents(&file).map_err(|errors| {
        let problems: Vec<String> = errors.problems().map(|problem| problem.message.clone()).collect();
        format!("{origin}: {}", problems.join("; "))
    })?;
    let mut objects = Vec::new();
    for document in documents {
        if let Some(twice) = document.duplicates.first() {
            return Err(format!("{origin}: {}", twice.message).into());
        }
        let text = document.source.document().as_str();
        let json = if is_json(text.as_bytes()) {
            text.to_owned()
        } else {
            yaml_as_json(text.as_bytes()).map_err(|error| format!("{origin}: {error}"))?
        };
        let value: Value = serde_json::from_str(&json).map_err(|error| format!("{origin}: {error}"))?;
        if !value.is_null() {
            let origin = origin.to_owned();
            objects.push(RenderedObject { origin, value });
        }
    }
    Ok(objects)
}

/// Renderers leave documents of comments alone.
fn without_empty(text: &str) -> String {
    let is_data = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let documents = text
        .split("\n---")
        .filter(|part| part.strip_prefix("---").unwrap_or(part).lines().any(is_data));
    documents.collect::<Vec<_>>().join("\n---")
}

impl RenderedObject {
    /// Its kind, without group and version.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.text_at("/kind")
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.text_at("/metadata/name")
    }

    /// Its namespace.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.text_at("/metadata/namespace")
    }

    /// A text in it; empty where there is none.
    pub(super) fn text_at(&self, pointer: &str) -> &str {
        self.value
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// A part of it; null where there is none.
    pub(super) fn part(&self, pointer: &str) -> &Value {
        part(&self.value, pointer)
    }
}

impl Display for RenderedObject {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {} {}", self.origin, self.kind(), self.name())
    }
}

/// The elements of a list; none of what is no list.
#[must_use]
pub fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A text of a value; empty where there is none.
#[must_use]
pub fn text_at<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// A part of a value; null where there is none.
#[must_use]
pub fn part<'v>(value: &'v Value, pointer: &str) -> &'v Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

#[cfg(test)]
mod tests {
    #[test]
    fn documents_of_comments_are_none() {
        let objects = super::read("a", "---\n# nothing\n---\nkind: A\n---\n# of b\nkind: B\n---\n").unwrap();
        let kinds: Vec<&str> = objects.iter().map(super::RenderedObject::kind).collect();
        assert_eq!(kinds, ["A", "B"]);
        assert!(super::read("a", "kind: A\nkind: B\n").is_err());
    }
}
