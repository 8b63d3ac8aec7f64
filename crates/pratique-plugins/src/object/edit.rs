//! Editing decoded objects in place.

use pratique_json::{Object, Value};

/// The object in a member, made where there is none; `None` where the member or the value itself is something else.
fn child_mut<'v, 'o>(value: &'v mut Value<'o>, key: &'static str) -> Option<&'v mut Value<'o>> {
    let Value::Object(members) = value else {
        return None;
    };
    if members.get(key).is_none_or(Value::is_null) {
        members.insert(key, Object::new());
    }
    members.get_mut(key)
}

/// The object at a path, made where there is none.
pub(crate) fn descend_mut<'v, 'o>(
    value: &'v mut Value<'o>,
    path: &[&'static str],
) -> Option<&'v mut Object<'o>> {
    let mut value = value;
    for key in path {
        value = child_mut(value, key)?;
    }
    match value {
        Value::Object(members) => Some(members),
        _ => None,
    }
}

/// The list in a member, made where there is none.
pub(crate) fn elements_mut<'v, 'o>(
    value: &'v mut Value<'o>,
    path: &[&'static str],
    key: &'static str,
) -> Option<&'v mut Vec<Value<'o>>> {
    let members = descend_mut(value, path)?;
    if members.get(key).is_none_or(Value::is_null) {
        members.insert(key, Vec::new());
    }
    match members.get_mut(key) {
        Some(Value::Array(elements)) => Some(elements),
        _ => None,
    }
}

/// Adds an element to the list in a member, which is made where there is none.
pub(crate) fn push<'o>(members: &mut Object<'o>, key: &'static str, element: Value<'o>) {
    match members.get_mut(key) {
        Some(Value::Array(elements)) => elements.push(element),
        Some(list @ (Value::Null | Value::NilArray)) => *list = vec![element].into(),
        Some(_) => {}
        None => {
            members.insert(key, vec![element]);
        }
    }
}

/// Sets a member of the object at a path.
pub(crate) fn set_at<'o>(
    value: &mut Value<'o>,
    path: &[&'static str],
    key: &'static str,
    new: impl Into<Value<'o>>,
) {
    if let Some(members) = descend_mut(value, path) {
        members.insert(key, new);
    }
}

/// Removes a member of the object at a path.
pub(crate) fn remove_at(value: &mut Value<'_>, path: &[&'static str], key: &'static str) {
    if let Some(members) = descend_mut(value, path) {
        members.remove(key);
    }
}

/// An object with members.
pub(crate) fn object<'o, const N: usize>(members: [(&'static str, Value<'o>); N]) -> Value<'o> {
    let members = members
        .into_iter()
        .map(|(key, value)| (std::borrow::Cow::Borrowed(key), value));
    Value::Object(members.collect())
}
