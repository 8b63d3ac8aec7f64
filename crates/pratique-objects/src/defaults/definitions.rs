//! `apiextensions`: names and versions of CustomResourceDefinitions.

use pratique_json::{Object, Value};

use super::DefaultContext;
use super::field::{empty, is_empty, part, text_member};

/// The names that are made of the kind.
pub(super) fn names(names: &mut Object<'_>, _: &DefaultContext<'_>) {
    let kind = text_member(names, "kind").to_owned();
    // Go's lower case of a text is that of its letters, one by one.
    let singular: String = kind
        .chars()
        .map(|c| {
            let mut lower = c.to_lowercase();
            match (lower.next(), lower.next()) {
                (Some(lower), None) => lower,
                (Some('i'), Some(_)) => 'i',
                _ => c,
            }
        })
        .collect();
    if !kind.is_empty() {
        empty(names, "singular", singular);
        empty(names, "listKind", format!("{kind}List"));
    }
}

/// Of `v1beta1`: the one version is the first of the list of them.
pub(super) fn versions(spec: &mut Object<'_>, _: &DefaultContext<'_>) {
    let version = text_member(spec, "version").to_owned();
    if !version.is_empty() {
        let mut first = Object::new();
        first.insert("name", version);
        first.insert("served", true);
        first.insert("storage", true);
        empty(spec, "versions", vec![Value::Object(first)]);
    }
    let first = spec
        .get("versions")
        .and_then(Value::as_array)
        .and_then(<[_]>::first);
    let name = first
        .and_then(|first| first.get("name"))
        .filter(|name| !name.is_empty());
    if let Some(name) = name.cloned() {
        empty(spec, "version", name);
    }
}

pub(super) fn stored_versions(object: &mut Object<'_>, _: &DefaultContext<'_>) {
    let versions = object.get("spec").and_then(|spec| spec.get("versions"));
    let mut versions = versions.and_then(Value::as_array).unwrap_or_default().iter();
    let stored = versions.find(|version| version.get("storage") == Some(&Value::Bool(true)));
    let name = stored.map(|version| version.get("name").cloned().unwrap_or_else(|| "".into()));
    if let (Some(name), Some(status)) = (name, part(object, "status"))
        && is_empty(status, "storedVersions")
    {
        status.insert("storedVersions", vec![name]);
    }
}
