//! The kind and version that an object says it is of, as they are read before its type is known.

use pratique_gotext::json::{TYPE_META, UnmarshalTypeError, unknown_kind};
use pratique_types::GroupVersionKind;
use pratique_yaml::{NodeId, Tree, Value};

/// Reads the kind; what is not given is that of the endpoint. The error is the server's message.
// Upstream: apimachinery/pkg/runtime/serializer/json/meta.go, SimpleMetaFactory.Interpret
pub(crate) fn interpret(
    tree: &Tree,
    id: NodeId,
    endpoint: &GroupVersionKind,
) -> Result<GroupVersionKind, String> {
    let entries = match &tree.get(id).value {
        Value::Map(entries) => entries.as_slice(),
        Value::Null => &[],
        other => {
            let error = UnmarshalTypeError::of_value(type_name(other), TYPE_META);
            return Err(unknown_kind(error));
        }
    };
    let (mut api_version, mut kind) = ("", "");
    let mut error = None;
    for entry in entries {
        // The case of these two does not matter here.
        let (name, target) = match entry.key.to_lowercase().as_str() {
            "apiversion" => ("apiVersion", &mut api_version),
            "kind" => ("kind", &mut kind),
            _ => continue,
        };
        match &tree.get(entry.value).value {
            Value::String(text, _) => *target = text,
            Value::Null => {}
            other => {
                let mismatch = UnmarshalTypeError::of_field(type_name(other), "", name, "string");
                error.get_or_insert_with(|| unknown_kind(mismatch));
            }
        }
    }
    if let Some(error) = error {
        return Err(error);
    }
    let (group, version) = match api_version.split_once('/') {
        _ if api_version == "/" => ("", ""),
        None => ("", api_version),
        Some((_, version)) if version.contains('/') => {
            return Err(format!("unexpected GroupVersion string: {api_version}"));
        }
        Some(of) => of,
    };
    Ok(with_defaults(
        GroupVersionKind::new(group, version, kind),
        endpoint,
    ))
}

// Upstream: apimachinery/pkg/runtime/serializer/json/json.go, gvkWithDefaults
fn with_defaults(mut actual: GroupVersionKind, endpoint: &GroupVersionKind) -> GroupVersionKind {
    if actual.kind.is_empty() {
        actual.kind.clone_from(&endpoint.kind);
    }
    if actual.version.is_empty() && (actual.group.is_empty() || actual.group == endpoint.group) {
        actual.group.clone_from(&endpoint.group);
        actual.version.clone_from(&endpoint.version);
    }
    actual
}

/// The type of a value, as type errors name it.
fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(..) => "string",
        Value::List(_) => "array",
        Value::Map(_) => "object",
    }
}
