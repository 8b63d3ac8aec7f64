//! Reading and editing decoded objects.

mod edit;
mod kind;

use pratique_json::{Object, Value};

pub(crate) use edit::{descend_mut, elements_mut, object, push, remove_at, set_at};
pub(crate) use kind::{go_type, is_kind};
pub(crate) use pratique_json::text_at as text;

/// The elements of the list at a path; none where there is no list.
pub(crate) fn elements<'v, 'o>(value: &'v Value<'o>, path: &[&str]) -> &'v [Value<'o>] {
    value.at(path).and_then(Value::as_array).unwrap_or_default()
}

/// The members of the object at a path.
pub(crate) fn members<'v, 'o>(value: &'v Value<'o>, path: &[&str]) -> Option<&'v Object<'o>> {
    value.at(path).and_then(Value::as_object)
}

/// An annotation of an object.
pub(crate) fn annotation<'v>(object: &'v Value<'_>, key: &str) -> Option<&'v str> {
    members(object, &["metadata", "annotations"])?.get(key)?.as_str()
}

/// The name in an object.
pub(crate) fn name<'v>(object: &'v Value<'_>) -> &'v str {
    text(object, &["metadata", "name"])
}

/// Whether an object carries an annotation with any value.
pub(crate) fn has_annotation(object: &Value<'_>, key: &str) -> bool {
    members(object, &["metadata", "annotations"]).is_some_and(|annotations| annotations.contains_key(key))
}
