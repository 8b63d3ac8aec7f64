//! A value's `kind` and `apiVersion`, read as the server reads them before it knows the type.

use pratique_gotext::json::{TYPE_META, UnmarshalTypeError, unknown_kind};

use crate::tree::{NodeId, Tree, Value};

/// The kind and version of a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
}

/// Reads the header; the error is the server's message and the node that it is about.
// Upstream: apimachinery/pkg/runtime/serializer/json/meta.go, SimpleMetaFactory.Interpret
pub(crate) fn interpret(tree: &Tree, id: NodeId) -> Result<Header, (String, NodeId)> {
    let entries = match &tree.get(id).value {
        Value::Map(entries) => entries,
        Value::Null => return Ok(Header::default()),
        other => {
            let error = UnmarshalTypeError::of_value(type_name(other), TYPE_META);
            return Err((unknown_kind(error), id));
        }
    };
    let mut api_version = String::new();
    let mut kind = String::new();
    let mut error = None;
    for entry in entries {
        // Before the type is known, the server ignores the case of these two keys.
        let (name, target) = match entry.key.to_lowercase().as_str() {
            "apiversion" => ("apiVersion", &mut api_version),
            "kind" => ("kind", &mut kind),
            _ => continue,
        };
        match &tree.get(entry.value).value {
            Value::String(text, _) => text.as_ref().clone_into(target),
            Value::Null => {}
            other => {
                let mismatch = UnmarshalTypeError::of_field(type_name(other), "", name, "string");
                error.get_or_insert((unknown_kind(mismatch), entry.value));
            }
        }
    }
    if let Some(error) = error {
        return Err(error);
    }
    let (group, version) = split_version(&api_version).ok_or_else(|| {
        let at = tree.entry(id, "apiVersion").map_or(id, |entry| entry.value);
        (format!("unexpected GroupVersion string: {api_version}"), at)
    })?;
    Ok(Header { group, version, kind })
}

/// Splits `group/version`; none if there is more than one slash.
// Upstream: apimachinery/pkg/runtime/schema/group_version.go, ParseGroupVersion
pub(crate) fn split_version(api_version: &str) -> Option<(String, String)> {
    if api_version == "/" {
        return Some(Default::default());
    }
    match api_version.split_once('/') {
        None => Some((String::new(), api_version.to_owned())),
        Some((_, version)) if version.contains('/') => None,
        Some((group, version)) => Some((group.to_owned(), version.to_owned())),
    }
}

impl Header {
    /// `group/version`, or the version alone in the core group.
    pub(crate) fn group_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }
}

/// The type of a value, as type errors name it.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(..) => "string",
        Value::List(_) => "array",
        Value::Map(_) => "object",
    }
}
