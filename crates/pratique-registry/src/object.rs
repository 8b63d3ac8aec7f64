//! Fields of objects by their paths.

pub(crate) use pratique_json::text_at as text;
use pratique_json::{Object, Value};

use crate::edited_object::EditTarget;

/// A path of field names.
pub(crate) type FieldPath<'p> = &'p [&'p str];

pub(crate) const GENERATION: FieldPath<'static> = &["metadata", "generation"];
pub(crate) const MANAGED_FIELDS: FieldPath<'static> = &["metadata", "managedFields"];

/// The number at a path; 0 where there is none.
pub(crate) fn number(object: &Value<'_>, path: FieldPath<'_>) -> i64 {
    object.at(path).and_then(Value::as_int).unwrap_or_default()
}

/// The elements of the list at a path.
pub(crate) fn list<'v, 'a>(object: &'v Value<'a>, path: FieldPath<'_>) -> &'v [Value<'a>] {
    object.at(path).and_then(Value::as_array).unwrap_or_default()
}

/// The elements of the list at a path, to be changed.
pub(crate) fn list_mut<'v, 'a: 'v>(
    object: &'v mut impl EditTarget<'a>,
    path: FieldPath<'_>,
) -> &'v mut [Value<'a>] {
    if list(object.view(), path).is_empty() {
        return &mut [];
    }
    match at_mut(object, path) {
        Some(Value::Array(elements)) => elements,
        _ => &mut [],
    }
}

/// Whether there is something at a path that is not null.
pub(crate) fn has(object: &Value<'_>, path: FieldPath<'_>) -> bool {
    object.at(path).is_some_and(|value| !value.is_null())
}

/// The value at a path, to be changed.
pub(crate) fn at_mut<'v, 'a: 'v>(
    object: &'v mut impl EditTarget<'a>,
    path: FieldPath<'_>,
) -> Option<&'v mut Value<'a>> {
    let object = object.edit(path.first().copied());
    path.iter().try_fold(object, |value, name| value.get_mut(name))
}

/// Sets the value at a path. Objects on the way are made.
pub(crate) fn set<'a>(object: &mut impl EditTarget<'a>, path: FieldPath<'_>, value: impl Into<Value<'a>>) {
    set_within(object.edit(path.first().copied()), path, value.into());
}

/// Recursion follows the path.
fn set_within<'a>(object: &mut Value<'a>, path: FieldPath<'_>, value: Value<'a>) {
    let Some((first, rest)) = path.split_first() else {
        *object = value;
        return;
    };
    if !matches!(object, Value::Object(_)) {
        *object = Object::new().into();
    }
    if let Value::Object(members) = object {
        if !members.contains_key(first) {
            members.insert((*first).to_owned(), Value::Null);
        }
        if let Some(member) = members.get_mut(first) {
            set_within(member, rest, value);
        }
    }
}

/// Removes the value at a path.
pub(crate) fn remove<'a>(object: &mut impl EditTarget<'a>, path: FieldPath<'_>) -> Option<Value<'a>> {
    object.view().at(path)?;
    let (last, parents) = path.split_last()?;
    let object = object.edit(path.first().copied());
    match at_mut(object, parents) {
        Some(Value::Object(members)) => members.remove(last),
        _ => None,
    }
}

/// Sets the value at a path, or removes it where there is none.
pub(crate) fn put<'v>(object: &mut impl EditTarget<'v>, path: FieldPath<'_>, value: Option<Value<'v>>) {
    match value {
        Some(value) => set(object, path, value),
        None => drop(remove(object, path)),
    }
}

/// Copies the value at a path from another object, or removes it where that has none.
pub(crate) fn copy<'v>(object: &mut impl EditTarget<'v>, from: &Value<'v>, path: FieldPath<'_>) {
    put(object, path, from.at(path).cloned());
}

/// Makes the generation of an object one more than that of the object before.
pub(crate) fn increment_generation<'v>(object: &mut impl EditTarget<'v>, old: &Value<'v>) {
    let generation = number(old, GENERATION);
    set(object, GENERATION, generation.saturating_add(1));
}

/// Removes the object at a path if it has no members.
pub(crate) fn remove_if_empty<'v>(object: &mut impl EditTarget<'v>, path: FieldPath<'_>) {
    if object.view().at(path).is_some_and(Value::is_empty) {
        remove(object, path);
    }
}

/// Whether two objects have the same at a path, see [`equal`].
// Upstream: apimachinery/pkg/api/equality, Semantic.DeepEqual
pub(crate) fn same(one: &Value<'_>, other: &Value<'_>, path: FieldPath<'_>) -> bool {
    equal(one.at(path), other.at(path))
}

/// Whether two values are equal, where absent values, null and empty lists are, and an empty map and null.
///
/// An empty object differs from an absent one: in the form of their kind, objects have no empty maps that may be left
/// out, so it is a struct that is set, such as the `podSelector` of a peer.
pub(crate) fn equal(one: Option<&Value<'_>>, other: Option<&Value<'_>>) -> bool {
    let is_nothing = |value: Option<&Value<'_>>| match value {
        None | Some(Value::Null) => true,
        Some(Value::Array(elements)) => elements.is_empty(),
        Some(_) => false,
    };
    match (one, other) {
        (Some(Value::Object(members)), Some(Value::Null))
        | (Some(Value::Null), Some(Value::Object(members))) => members.is_empty(),
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            one.iter()
                .all(|(name, value)| equal(Some(value), other.get(name)))
                && other
                    .iter()
                    .all(|(name, value)| one.contains_key(name) || is_nothing(Some(value)))
        }
        (Some(Value::Array(one)), Some(Value::Array(other))) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| equal(Some(one), Some(other)))
        }
        (one, other) => is_nothing(one) && is_nothing(other) || one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Value<'static> {
        pratique_json::parse(text.as_bytes()).unwrap().into_owned()
    }

    #[test]
    fn values_are_set_and_removed_by_path() {
        let mut object = parse(r#"{"a":{"b":1},"c":null}"#);
        set(&mut object, &["a", "d"], "x");
        set(&mut object, &["c", "e"], 2);
        assert_eq!(object.to_string(), r#"{"a":{"b":1,"d":"x"},"c":{"e":2}}"#);
        assert_eq!(remove(&mut object, &["a", "b"]), Some(Value::Int(1)));
        assert_eq!(remove(&mut object, &["x", "b"]), None);
        remove(&mut object, &["c", "e"]);
        remove_if_empty(&mut object, &["c"]);
        let other = parse(r#"{"a":{"b":5}}"#);
        copy(&mut object, &other, &["a", "b"]);
        copy(&mut object, &other, &["a", "d"]);
        assert_eq!(object, other);
    }

    #[test]
    fn nothing_and_empty_are_the_same() {
        for (one, other, expected) in [
            (r#"{"a":[]}"#, "{}", true),
            (r#"{"a":{"b":null}}"#, r#"{"a":{}}"#, true),
            (r#"{"a":0}"#, "{}", false),
            (r#"{"a":[1]}"#, r#"{"a":[1,2]}"#, false),
            (r#"{"a":[{}]}"#, r#"{"a":[{"b":null}]}"#, true),
            (r#"{"a":{}}"#, r#"{"a":null}"#, true),
            (r#"{"a":{}}"#, "{}", false),
            (r#"{"a":[{"b":{}}]}"#, r#"{"a":[{"c":{}}]}"#, false),
        ] {
            assert_eq!(same(&parse(one), &parse(other), &[]), expected, "{one} {other}");
            assert_eq!(same(&parse(other), &parse(one), &[]), expected, "{one} {other}");
        }
    }
}
