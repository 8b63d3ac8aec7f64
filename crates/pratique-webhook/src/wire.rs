//! Documents as the reference reads them from the wire: JSON or YAML, and the kind that they say they have.

use pratique_gotext::json::{TYPE_META, UnmarshalTypeError, unknown_kind};
use pratique_json::Value;
use pratique_types::{GroupVersion, GroupVersionKind};
use pratique_yaml::{is_json, json_as_json, yaml_as_json};

/// What a body says, as plain JSON: for bodies that are no plain JSON. What does not begin as an object is YAML.
///
/// # Errors
/// What the reference says of a body that is neither.
pub(crate) fn plain(body: &[u8]) -> Result<String, String> {
    match is_json(body) {
        true => json_as_json(body).map_err(unknown_kind),
        false => yaml_as_json(body).map_err(|error| error.message),
    }
}

/// The `apiVersion` and `kind` of a document; empty where it has none.
pub(crate) fn type_of(value: &Value<'_>) -> Result<(String, String), String> {
    let members = match value {
        Value::Null => return Ok(Default::default()),
        Value::Object(members) => members,
        other => {
            let error = UnmarshalTypeError::of_value(other.kind(), TYPE_META);
            return Err(unknown_kind(error));
        }
    };
    let text = |name: &str| {
        // Names of fields are looked for in any case here, and the last one counts.
        let named = members.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
        match members.get(name).or(named.last().map(|(_, value)| value)) {
            None | Some(Value::Null) => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone().into_owned()),
            Some(other) => {
                let error = UnmarshalTypeError::of_field(other.kind(), "", name, "string");
                Err(unknown_kind(error))
            }
        }
    };
    Ok((text("apiVersion")?, text("kind")?))
}

/// The kind of a document that leaves out what `defaults` has.
pub(crate) fn with_defaults(
    version: GroupVersion,
    kind: &str,
    defaults: &GroupVersionKind,
) -> GroupVersionKind {
    let mut found = version.with_kind(kind);
    if found.kind.is_empty() {
        found.kind.clone_from(&defaults.kind);
    }
    if found.version.is_empty() && found.group.is_empty() {
        found.group.clone_from(&defaults.group);
    }
    if found.version.is_empty() && found.group == defaults.group {
        found.version.clone_from(&defaults.version);
    }
    found
}
