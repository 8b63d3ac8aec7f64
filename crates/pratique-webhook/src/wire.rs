//! Documents as the reference reads them from the wire: JSON or YAML, with `apiVersion` and `kind`.

use pratique_gotext::json::{TYPE_META, UnmarshalTypeError, unknown_kind};
use pratique_json::Value;
use pratique_schema::Release;
use pratique_types::{GroupVersion, GroupVersionKind};
use pratique_yaml::{is_json, json_as_json, yaml, yaml_as_json};

/// Why a document has no kind that can be read, with the reference's messages.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WireError {
    /// It is no JSON.
    #[error("{}", unknown_kind(.0))]
    Json(String),
    /// It is no YAML.
    #[error("{}", .0.message)]
    Yaml(#[from] yaml::SyntaxError),
    /// Its `apiVersion` or `kind` is no string, or it has none, as it is no object.
    #[error("{}", unknown_kind(.0))]
    Type(String),
}

/// Converts a body that is not plain JSON to plain JSON, as a server of a release. A body that does not begin as an object is YAML.
///
/// # Errors
/// It is neither.
pub(crate) fn plain(body: &[u8], release: &Release) -> Result<String, WireError> {
    Ok(if is_json(body) {
        json_as_json(body)
            .map_err(|error| WireError::Json(error.to_text(release.is_of_go_1_27()).to_owned()))?
    } else {
        yaml_as_json(body)?
    })
}

/// The `apiVersion` and `kind` of a document, as a server reads them; empty where it has none.
pub(crate) fn type_of(value: &Value<'_>, is_of_go_1_27: bool) -> Result<(String, String), WireError> {
    let members = match value {
        Value::Null => return Ok(Default::default()),
        Value::Object(members) => members,
        other => {
            return Err(WireError::Type(
                UnmarshalTypeError::of_value(other.kind(), TYPE_META).to_string(),
            ));
        }
    };
    let text = |name: &'static str| {
        // Names of fields are looked for in any case here, and the last one counts.
        let named = members.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
        let member = members.get(name).map(|value| (name, value));
        match member.or(named.last()) {
            None | Some((_, Value::Null)) => Ok(String::new()),
            Some((_, Value::String(text))) => Ok(text.clone().into_owned()),
            Some((written, other)) => {
                // Since Go 1.27, a name is told as it is written.
                let told = if is_of_go_1_27 { written } else { name };
                let error = UnmarshalTypeError::of_field(other.kind(), "", told, "string");
                Err(WireError::Type(error.to_string()))
            }
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

#[cfg(test)]
mod tests {
    use pratique_json::parse;

    use super::*;

    #[test]
    fn faults_are_told_in_the_words_of_the_release() {
        for (version, broken, name) in [
            ("1.37", "invalid character ' ' in numeric literal", "kind"),
            ("1.38", "unexpected end of JSON input", "KIND"),
        ] {
            let release = Release::by_version(version).unwrap();
            let error = plain(b"{\"a\": -", release).unwrap_err();
            assert_eq!(error.to_string(), unknown_kind(broken));
            let error = type_of(&parse(br#"{"KIND": 1}"#).unwrap(), release.is_of_go_1_27()).unwrap_err();
            let expected = UnmarshalTypeError::of_field("number", "", name, "string");
            assert_eq!(error.to_string(), unknown_kind(expected));
        }
    }
}
