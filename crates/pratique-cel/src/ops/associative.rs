//! Sets and lists by keys: equality without order, and union.
//!
//! Upstream: apiserver/pkg/cel/common/valuesunstructured.go, unstructuredSetList, unstructuredMapList

use std::collections::HashMap;
use std::fmt::Write as _;

use super::equality::equal_by;
use crate::context::Context;
use crate::error::Fault;
use crate::meter::WorkMeter;
use crate::value::{Associative, List, Map, Value};

/// The work of finding an item by its keys.
const FIND: u64 = 64;

/// Whether a list has the items of another of the same length, in any order.
pub(super) fn equal<M: WorkMeter>(
    meter: &M,
    left: &Associative<'_>,
    right: &List<'_>,
) -> Result<bool, Fault> {
    let mut places = HashMap::new();
    for item in left.elements {
        meter.work(FIND)?;
        if let Some(key) = key(left, item) {
            places.insert(key, item);
        }
    }
    for item in right.iter() {
        meter.work(FIND)?;
        let Some(same) = key(left, &item).and_then(|key| places.get(&key)) else {
            return Ok(false);
        };
        if left.keys.is_some() && !equal_by(meter, same, &item)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The items of two lists, each of its keys once.
pub(super) fn union<'a>(
    context: &Context<'a>,
    left: &Associative<'a>,
    right: &List<'a>,
) -> Result<List<'a>, Fault> {
    let mut elements = left.elements.to_vec();
    let mut places = HashMap::new();
    for (at, item) in left.elements.iter().enumerate() {
        context.work(FIND)?;
        if let Some(key) = key(left, item) {
            places.insert(key, at);
        }
    }
    for item in right.iter() {
        context.work(FIND)?;
        let key = key(left, &item);
        let known = key.as_ref().and_then(|key| places.get(key).copied());
        match known.and_then(|at| elements.get_mut(at)) {
            Some(place) => {
                if left.keys.is_some() {
                    *place = item;
                }
            }
            None => {
                // Of the right list, items with the same keys are all kept.
                if let (Some(key), None) = (key, left.keys) {
                    places.insert(key, elements.len());
                }
                elements.push(item);
            }
        }
    }
    context.reserve(size_of_val(elements.as_slice()))?;
    Ok(List::Associative(context.arena.value(Associative {
        elements: context.arena.slice(&elements),
        keys: left.keys,
    })))
}

/// The key of an item as a text; `None` if it has none.
fn key(list: &Associative<'_>, item: &Value<'_>) -> Option<String> {
    let mut text = String::new();
    match (list.keys, item) {
        (None, item) => write_scalar(&mut text, item)?,
        (Some(keys), Value::Map(map)) => {
            for name in keys {
                write_key(&mut text, map, name)?;
            }
        }
        (Some(_), _) => return None,
    }
    Some(text)
}

fn write_key(text: &mut String, map: &Map<'_>, name: &str) -> Option<()> {
    match map.get_str(name) {
        Some(value) => write_scalar(text, &value),
        None => {
            text.push_str("-;");
            Some(())
        }
    }
}

/// The type is part of it: integers are never equal to floats here.
fn write_scalar(text: &mut String, value: &Value<'_>) -> Option<()> {
    // Writing to a string does not fail.
    let _ = match value {
        Value::Null => write!(text, "null;"),
        Value::Bool(value) => write!(text, "b{value};"),
        Value::Int(number) => write!(text, "i{number};"),
        Value::Uint(number) => write!(text, "u{number};"),
        Value::Double(number) => write!(text, "d{number};"),
        Value::String(string) => write!(text, "s{}:{string};", string.len()),
        Value::Timestamp(time) => write!(text, "t{time};"),
        Value::Duration(time) => write!(text, "p{};", time.nanos()),
        _ => return None,
    };
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Arena;
    use crate::meter::UnmeteredWork;

    #[test]
    fn sets_have_no_order() {
        let (ab, ba) = ([Value::Int(1), Value::Int(2)], [Value::Int(2), Value::Int(1)]);
        let set = Associative {
            elements: &ab,
            keys: None,
        };
        assert_eq!(equal(&UnmeteredWork, &set, &List::Values(&ba)), Ok(true));
        assert_eq!(
            equal(
                &UnmeteredWork,
                &set,
                &List::Values(&[Value::Int(1), Value::Double(2.0)])
            ),
            Ok(false)
        );
        let arena = Arena::new();
        let context = Context::new(&arena, 0);
        let union = union(
            &context,
            &set,
            &List::Values(&[Value::Int(3), Value::Int(2), Value::Int(3)]),
        );
        assert_eq!(union.map(|list| list.len()), Ok(3));
    }

    #[test]
    fn items_with_the_same_keys_are_replaced() {
        let item = |arena, value| {
            let entries: &[_] = Arena::slice(
                arena,
                &[
                    (Value::String("k"), Value::Int(1)),
                    (Value::String("v"), Value::Int(value)),
                ],
            );
            Value::Map(Map::Entries(entries))
        };
        let arena = Arena::new();
        let context = Context::new(&arena, 0);
        let (one, two) = ([item(&arena, 1)], [item(&arena, 2)]);
        let list = Associative {
            elements: &one,
            keys: Some(&["k"]),
        };
        assert_eq!(equal(&UnmeteredWork, &list, &List::Values(&two)), Ok(false));
        let union = union(&context, &list, &List::Values(&two)).unwrap();
        let Some(Value::Map(map)) = union.get(0) else {
            panic!("{union:?}");
        };
        assert_eq!(union.len(), 1);
        assert!(matches!(map.get_str("v"), Some(Value::Int(2))));
    }
}
