//! Objects that have no place in a cluster.

use pratique_json::Value;

use crate::{GroupVersion, GroupVersionKind, InvalidGroupVersion};

/// An object that a cluster in memory does not keep, because it has no place there: it is given back.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("an object {reason}")]
pub struct RejectedObject {
    /// What it lacks.
    pub reason: RejectedReason,
    /// The object.
    pub object: Box<Value<'static>>,
}

/// Why an object has no place in a cluster.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RejectedReason {
    /// It has no kind.
    #[error("without kind")]
    NoKind,
    /// It has no name.
    #[error("of kind {0} without metadata.name")]
    NoName(String),
    /// Its `apiVersion` is none.
    #[error("of kind {kind} with an apiVersion that is none: {error}")]
    ApiVersion {
        /// Its kind.
        kind: String,
        /// What is wrong.
        error: InvalidGroupVersion,
    },
}

/// The place of an object in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectPlace {
    /// Its kind.
    pub kind: GroupVersionKind,
    /// Its namespace; empty where it has none.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl ObjectPlace {
    /// The place of an object.
    ///
    /// # Errors
    /// It lacks a kind or a name, or its `apiVersion` is none.
    pub fn of_object(object: &Value<'_>) -> Result<Self, RejectedReason> {
        let text = |path: &[&str]| object.at(path).and_then(Value::as_str).unwrap_or_default();
        let (kind, name) = (text(&["kind"]), text(&["metadata", "name"]));
        if kind.is_empty() {
            return Err(RejectedReason::NoKind);
        }
        let version = GroupVersion::parse(text(&["apiVersion"]));
        let version = version.map_err(|error| RejectedReason::ApiVersion {
            kind: kind.to_owned(),
            error,
        })?;
        if name.is_empty() {
            return Err(RejectedReason::NoName(kind.to_owned()));
        }
        Ok(ObjectPlace {
            kind: version.with_kind(kind),
            namespace: text(&["metadata", "namespace"]).to_owned(),
            name: name.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(object: &str, expected: Result<&str, &str>) {
        let object = pratique_json::parse(object.as_bytes()).unwrap();
        let place = ObjectPlace::of_object(&object);
        let shown =
            place.map(|place| format!("{}/{}/{}", place.kind.api_version(), place.namespace, place.name));
        let shown = shown.map_err(|reason| reason.to_string());
        assert_eq!(shown.as_deref().map_err(String::as_str), expected);
    }

    #[test]
    fn objects_have_a_kind_and_a_name() {
        let object =
            r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop"}}"#;
        check(object, Ok("apps/v1/shop/web"));
        check(r#"{"apiVersion":"v1"}"#, Err("without kind"));
        check(
            r#"{"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"a-"}}"#,
            Err("of kind Pod without metadata.name"),
        );
        check(
            r#"{"apiVersion":"a/b/c","kind":"Pod","metadata":{"name":"a"}}"#,
            Err("of kind Pod with an apiVersion that is none: unexpected GroupVersion string: a/b/c"),
        );
        check("[]", Err("without kind"));
    }
}
