//! Objects around a default, as parts of which it is pruned and validated.

use pratique_json::{Object, Value};

/// A step from an object to a place in it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PlaceStep<'s> {
    /// To a member.
    Child(&'s str),
    /// To an item of a list.
    Index,
}

/// The smallest object that has a value at a place.
// Upstream: apiextensions-apiserver/pkg/apiserver/schema/defaulting/surroundingobject.go
pub(crate) fn surround(value: Value<'static>, steps: &[PlaceStep<'_>]) -> Value<'static> {
    steps.iter().rev().fold(value, |inner, step| match step {
        PlaceStep::Index => Value::Array(vec![inner]),
        PlaceStep::Child(name) => {
            let mut object = Object::new();
            object.insert((*name).to_owned(), inner);
            Value::Object(object)
        }
    })
}

/// The value at a place of an object.
pub(crate) fn surrounded(object: Value<'static>, steps: &[PlaceStep<'_>]) -> Option<Value<'static>> {
    steps.iter().try_fold(object, |outer, step| match (step, outer) {
        (PlaceStep::Index, Value::Array(items)) => items.into_iter().next(),
        (PlaceStep::Child(name), Value::Object(mut object)) => object.remove(name),
        _ => None,
    })
}
