//! Reading and setting fields of decoded objects.

use pratique_json::{Object, Value};

static NOTHING: Object<'static> = Object::new();

/// Whether a field that is a pointer, a list or a map is not there.
pub(crate) fn is_absent(object: &Object<'_>, field: &str) -> bool {
    object.get(field).is_none_or(Value::is_null)
}

/// Whether a field is not there or has the zero value of its type.
pub(crate) fn is_empty(object: &Object<'_>, field: &str) -> bool {
    object.get(field).is_none_or(Value::is_empty)
}

/// Sets a field where it is not there.
pub(crate) fn absent<'a>(object: &mut Object<'a>, field: &'static str, value: impl Into<Value<'a>>) {
    if is_absent(object, field) {
        object.insert(field, value);
    }
}

/// Sets a field where it is not there or empty.
pub(crate) fn empty<'a>(object: &mut Object<'a>, field: &'static str, value: impl Into<Value<'a>>) {
    if is_empty(object, field) {
        object.insert(field, value);
    }
}

/// A text; `""` where there is none.
pub(crate) fn text_member<'o>(object: &'o Object<'_>, field: &str) -> &'o str {
    object.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// A struct that is not a pointer: one that is not there is empty.
pub(crate) fn part<'o, 'a>(object: &'o mut Object<'a>, field: &'static str) -> Option<&'o mut Object<'a>> {
    if is_absent(object, field) {
        object.insert(field, Object::new());
    }
    pointer(object, field)
}

/// A struct that may not be there.
pub(crate) fn pointer<'o, 'a>(object: &'o mut Object<'a>, field: &str) -> Option<&'o mut Object<'a>> {
    match object.get_mut(field) {
        Some(Value::Object(object)) => Some(object),
        _ => None,
    }
}

/// A map or struct to be read, empty where there is none.
pub(crate) fn members<'o, 'a>(object: &'o Object<'a>, field: &str) -> &'o Object<'a> {
    let member = object.get(field).and_then(Value::as_object);
    member.unwrap_or(&NOTHING)
}

/// The value at a path.
pub(crate) fn at<'o, 'a>(object: &'o Object<'a>, path: &[&str]) -> Option<&'o Value<'a>> {
    let (first, rest) = path.split_first()?;
    object.get(first)?.at(rest)
}

/// Copies the value at a path to another, if the former is present and the latter is absent or empty.
pub(crate) fn copy<'a>(object: &mut Object<'a>, to: &[&'static str], from: &[&str]) {
    if !at(object, to).is_none_or(Value::is_empty) {
        return;
    }
    let Some(value) = at(object, from).filter(|value| !value.is_null()).cloned() else {
        return;
    };
    let Some((field, holders)) = to.split_last() else {
        return;
    };
    let mut holder = Some(object);
    for field in holders {
        holder = holder.and_then(|holder| part(holder, field));
    }
    if let Some(holder) = holder {
        holder.insert(*field, value);
    }
}

/// Adds the members of a map to another of the same object, except those whose key it has; an empty one makes an empty one.
pub(crate) fn merge(object: &mut Object<'_>, to: &'static str, from: &str) {
    let Some(Value::Object(from)) = object.get(from).cloned() else {
        return;
    };
    let Some(to) = part(object, to) else { return };
    for (name, value) in from.members() {
        if !to.contains_key(name) {
            to.insert(name.clone(), value.clone());
        }
    }
}
