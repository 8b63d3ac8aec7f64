//! The variable `namespaceObject`.

use std::borrow::Cow;

use pratique_json::{Object, Progress, Value};
use pratique_schema::Release;
use pratique_types::GroupVersionKind;

/// A namespace in the forms in which expressions see it, for a [`Cluster`](crate::Cluster) to keep.
#[derive(Clone, Debug)]
pub struct NamespaceObject {
    /// With all of its fields.
    pub full: Value<'static>,
    /// With the fields that the type of the variable declares.
    pub reduced: Value<'static>,
}

impl NamespaceObject {
    /// The forms of a stored `v1` Namespace on a server of a release.
    pub fn new(release: &'static Release, stored: &Value<'_>) -> Self {
        let kind = GroupVersionKind::new("", "v1", "Namespace");
        // The result serves many requests, so no request's limits apply.
        let typed = pratique_typed::typed(release, &kind, stored, &Progress::unwatched()).unwrap_or_default();
        let full = without_type_meta(typed.as_ref().unwrap_or(stored));
        NamespaceObject {
            reduced: reduced(&full).into_owned(),
            full: full.into_owned(),
        }
    }
}

/// A namespace without `apiVersion` and `kind`, as a typed object of the server has it.
pub fn without_type_meta<'a>(namespace: &'a Value<'a>) -> Value<'a> {
    filtered(namespace, |field| !matches!(field, "apiVersion" | "kind"))
}

/// A namespace with the fields of metadata that the type of `namespaceObject` declares.
// Upstream: pkg/admission/plugin/cel/condition.go, CreateNamespaceObject
fn reduced<'a>(namespace: &'a Value<'a>) -> Value<'a> {
    let Value::Object(mut members) = namespace.borrowed() else {
        return Value::Null;
    };
    if let Some(metadata) = namespace.get("metadata") {
        members.insert("metadata", filtered(metadata, |field| METADATA.contains(&field)));
    }
    Value::Object(members)
}

const METADATA: [&str; 12] = [
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "name",
    "namespace",
    "resourceVersion",
    "uid",
];

fn filtered<'a>(object: &'a Value<'a>, keep: impl Fn(&str) -> bool) -> Value<'a> {
    let members = object.as_object().map(Object::iter).into_iter().flatten();
    let kept = members.filter(|(field, _)| keep(field));
    Value::Object(
        kept.map(|(field, value)| (Cow::Borrowed(field), value.borrowed()))
            .collect(),
    )
}
