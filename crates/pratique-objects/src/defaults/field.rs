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
pub(crate) fn text<'o>(object: &'o Object<'_>, field: &str) -> &'o str {
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
    let found = object.get(field).and_then(Value::as_object);
    found.unwrap_or(&NOTHING)
}

/// The structs in a list.
pub(crate) fn elements<'o, 'a>(
    object: &'o mut Object<'a>,
    field: &str,
) -> impl Iterator<Item = &'o mut Object<'a>> {
    let list = match object.get_mut(field) {
        Some(Value::Array(list)) => list.as_mut_slice(),
        _ => &mut [],
    };
    list.iter_mut().filter_map(|element| match element {
        Value::Object(object) => Some(object),
        _ => None,
    })
}

/// A copy of a value at a path, where there is one.
pub(crate) fn copied<'a>(object: &Object<'a>, path: &[&str]) -> Option<Value<'a>> {
    let (first, rest) = path.split_first()?;
    let value = object.get(first)?.at(rest)?;
    (!value.is_null()).then(|| value.clone())
}

/// Adds to a map what another has and it has not.
pub(crate) fn add_missing<'a>(to: &mut Object<'a>, from: &Object<'a>) {
    for (name, value) in from.members() {
        if !to.contains_key(name) {
            to.insert(name.clone(), value.clone());
        }
    }
}
