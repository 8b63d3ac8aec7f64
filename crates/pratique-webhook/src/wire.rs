//! Documents as the reference reads them from the wire: JSON or YAML, with `apiVersion` and `kind`.

use pratique_gotext::json::{TYPE_META, UnmarshalTypeError, unknown_kind};
use pratique_json::Value;
use pratique_types::{GroupVersion, GroupVersionKind};
use pratique_yaml::{is_json, json, json_as_json, yaml, yaml_as_json};

/// Why a document has no kind that can be read, with the reference's messages.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WireError {
    /// It is no JSON.
    #[error("{}", unknown_kind(.0))]
    Json(#[from] json::SyntaxError),
    /// It is no YAML.
    #[error("{}", .0.message)]
    Yaml(#[from] yaml::SyntaxError),
    /// Its `apiVersion` or `kind` is no string, or it has none, as it is no object.
    #[error("{}", unknown_kind(.0))]
    Type(#[from] UnmarshalTypeError<'static>),
}

/// Converts a body that is not plain JSON to plain JSON. A body that does not begin as an object is YAML.
///
/// # Errors
/// It is neither.
pub(crate) fn plain(body: &[u8]) -> Result<String, WireError> {
    Ok(if is_json(body) {
        json_as_json(body)?
    } else {
        yaml_as_json(body)?
    })
}

/// The `apiVersion` and `kind` of a document; empty where it has none.
pub(crate) fn type_of(value: &Value<'_>) -> Result<(String, String), WireError> {
    let members = match value {
        Value::Null => return Ok(Default::default()),
        Value::Object(members) => members,
        other => return Err(UnmarshalTypeError::of_value(other.kind(), TYPE_META).into()),
    };
    let text = |name: &'static str| {
        // Names of fields are looked for in any case here, and the last one counts.
        let named = members.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
        match members.get(name).or(named.last().map(|(_, value)| value)) {
            None | Some(Value::Null) => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone().into_owned()),
            Some(other) => Err(UnmarshalTypeError::of_field(other.kind(), "", name, "string")),
        }
    };
    Ok((text("apiVersion")?, text("kind")?))
}

/// The kind of a document, with the parts that it leaves out from `defaults`.
pub(crate) fn with_defaults(
    version: GroupVersion,
    kind: &str,
    defaults: &GroupVersionKind,
) -> GroupVersionKind {
    let mut full_kind = version.with_kind(kind);
    if full_kind.kind.is_empty() {
        full_kind.kind.clone_from(&defaults.kind);
    }
    if full_kind.version.is_empty() && full_kind.group.is_empty() {
        full_kind.group.clone_from(&defaults.group);
    }
    if full_kind.version.is_empty() && full_kind.group == defaults.group {
        full_kind.version.clone_from(&defaults.version);
    }
    full_kind
}
