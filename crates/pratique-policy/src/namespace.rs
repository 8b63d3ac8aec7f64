//! The variable `namespaceObject`.

use std::borrow::Cow;

use pratique_json::{Object, Progress, Value};
use pratique_types::GroupVersionKind;

use crate::typed;

/// A namespace in the forms in which expressions see it, for a [`Cluster`](crate::Cluster) to keep.
#[derive(Clone, Debug)]
pub struct NamespaceObject {
    pub(crate) full: Value<'static>,
    pub(crate) reduced: Value<'static>,
}

impl NamespaceObject {
    /// Of a stored `v1` Namespace.
    pub fn new(stored: &Value<'_>) -> Self {
        let kind = GroupVersionKind::new("", "v1", "Namespace");
        // It is made once for many requests.
        let typed = typed::typed(&kind, stored, &Progress::unwatched()).unwrap_or_default();
        let full = without_kind(typed.as_ref().unwrap_or(stored));
        NamespaceObject {
            reduced: reduced(&full).into_owned(),
            full: full.into_owned(),
        }
    }
}

/// A namespace without its kind, as the server's own types have it.
pub(crate) fn without_kind<'a>(namespace: &'a Value<'a>) -> Value<'a> {
    only(namespace, |field| !matches!(field, "apiVersion" | "kind"))
}

/// A namespace with only those of its metadata that have a place in policies.
fn reduced<'a>(namespace: &'a Value<'a>) -> Value<'a> {
    let Value::Object(mut members) = namespace.borrowed() else {
        return Value::Null;
    };
    if let Some(metadata) = namespace.get("metadata") {
        members.insert("metadata", only(metadata, |field| METADATA.contains(&field)));
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

fn only<'a>(object: &'a Value<'a>, keep: impl Fn(&str) -> bool) -> Value<'a> {
    let members = object.as_object().map(Object::iter).into_iter().flatten();
    let kept = members.filter(|(field, _)| keep(field));
    Value::Object(
        kept.map(|(field, value)| (Cow::Borrowed(field), value.borrowed()))
            .collect(),
    )
}
