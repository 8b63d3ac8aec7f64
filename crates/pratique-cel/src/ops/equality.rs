//! Equality of values.

use std::cmp::Ordering;

use super::associative;
use super::container::{cost_of_search, find_key};
use super::error_values::is_wrong;
use super::order::{int_with_double, int_with_uint, uint_with_double};
use pratique_json::Object;

use crate::error::Fault;
use crate::meter::{TypedWork, UnmeteredWork, WorkMeter};
use crate::value::{List, Map, Struct, Value};

/// The least work of comparing two members of lists or maps.
const PAIR: u64 = 8;

/// Whether two values are equal: numbers by their value whatever their type, lists and maps by their members.
///
/// Values of different types are unequal. Some abstract types return an error for other types; within lists and maps such an
/// error counts as equality.
pub(crate) fn equal(left: &Value<'_>, right: &Value<'_>) -> Result<bool, Fault> {
    equal_by(&UnmeteredWork, left, right)
}

/// [`equal`], with the work accounted for.
#[inline(always)]
pub(crate) fn equal_by<M: WorkMeter>(meter: &M, left: &Value<'_>, right: &Value<'_>) -> Result<bool, Fault> {
    match (left, right) {
        (Value::String(left), Value::String(right)) => Ok(left == right),
        (Value::Int(left), Value::Int(right)) => Ok(left == right),
        (Value::Bool(left), Value::Bool(right)) => Ok(left == right),
        (left, right) => less_common(meter, left, right),
    }
}

/// Whether two values of other types are equal.
fn less_common<M: WorkMeter>(meter: &M, left: &Value<'_>, right: &Value<'_>) -> Result<bool, Fault> {
    Ok(match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Null, _) | (_, Value::Null) => false,
        (Value::Uint(left), Value::Uint(right)) => left == right,
        (Value::Double(left), Value::Double(right)) => left == right,
        (Value::Bytes(left), Value::Bytes(right)) => left == right,
        (Value::Timestamp(left), Value::Timestamp(right)) => left == right,
        (Value::Duration(left), Value::Duration(right)) => left == right,
        (Value::Type(left), Value::Type(right)) => left == right,
        (Value::List(left), Value::List(right)) => return lists(meter, left, right),
        (Value::Map(Map::Typed(left)), Value::Map(Map::Typed(right))) => {
            return typed_maps(meter, left, right);
        }
        (Value::Map(left), Value::Map(right)) => return maps(meter, left, right),
        (Value::List(List::Typed(_)) | Value::Map(Map::Typed(_)), _) => return Err(Fault::no_such_overload()),
        (Value::Optional(left), Value::Optional(right)) => return optionals(meter, *left, *right),
        (Value::Struct(left), right) => {
            // The type compares any number of parts without accounting for them.
            meter.work(STRUCT)?;
            return structs(*left, right);
        }
        (Value::Opaque(left), right) => return left.equal(right),
        (left, right) => numbers(left, right),
    })
}

fn numbers(left: &Value<'_>, right: &Value<'_>) -> bool {
    let order = match (left, right) {
        (Value::Int(int), Value::Uint(uint)) | (Value::Uint(uint), Value::Int(int)) => {
            Some(int_with_uint(*int, *uint))
        }
        (Value::Int(int), Value::Double(double)) | (Value::Double(double), Value::Int(int)) => {
            int_with_double(*int, *double)
        }
        (Value::Uint(uint), Value::Double(double)) | (Value::Double(double), Value::Uint(uint)) => {
            uint_with_double(*uint, *double)
        }
        _ => None,
    };
    order == Some(Ordering::Equal)
}

/// Whether members of maps are equal. Members that cannot be compared count as equal, except in typed maps.
fn members<M: WorkMeter>(meter: &M, left: &Value<'_>, right: &Value<'_>, typed: bool) -> Result<bool, Fault> {
    match equal_by(meter, left, right) {
        Err(fault) if !fault.is_stop() && !is_wrong(left) => Ok(!typed),
        result => result,
    }
}

/// Whether two values are equal; false if they cannot be compared.
pub(crate) fn surely_equal<M: WorkMeter>(
    meter: &M,
    left: &Value<'_>,
    right: &Value<'_>,
) -> Result<bool, Fault> {
    match equal_by(meter, left, right) {
        Err(fault) if !fault.is_stop() => Ok(false),
        result => result,
    }
}

/// The most work that comparing a value with another takes, unless it is a list or map.
pub(crate) fn pair(value: &Value<'_>) -> u64 {
    match value {
        Value::String(text) => PAIR + text.len() as u64 / 16,
        Value::Bytes(bytes) => PAIR + bytes.len() as u64 / 16,
        Value::Opaque(opaque) => PAIR + (opaque.owned_bytes() as u64).saturating_mul(64),
        _ => PAIR,
    }
}

/// Whether lists are equal. For lists that were added, elements that cannot be compared are an error.
fn lists<M: WorkMeter>(meter: &M, left: &List<'_>, right: &List<'_>) -> Result<bool, Fault> {
    if left.len() != right.len() {
        return Ok(false);
    }
    if let List::Associative(left) = left {
        return associative::equal(meter, left, right);
    }
    let mut refusal = None;
    for (element, other) in left.iter().zip(right.iter()) {
        meter.work(pair(&element))?;
        match (equal_by(meter, &element, &other), left) {
            (Err(stop), _) if stop.is_stop() || is_wrong(&element) => return Err(stop),
            (Ok(false), _) | (Err(_), List::Typed(_)) => return Ok(false),
            (Err(fault), List::Joined(_)) => {
                refusal.get_or_insert(fault);
            }
            _ => {}
        }
    }
    refusal.map_or(Ok(true), Err)
}

fn maps<M: WorkMeter>(meter: &M, left: &Map<'_>, right: &Map<'_>) -> Result<bool, Fault> {
    if left.len() != right.len() {
        return Ok(false);
    }
    let typed = matches!(left, Map::Typed(_));
    let both_typed = typed && matches!(right, Map::Typed(_));
    let of_search = cost_of_search(right);
    for (key, value) in left.iter() {
        meter.work(of_search.saturating_add(pair(&value)))?;
        let Some(other) = find_key(right, &key) else {
            return Ok(false);
        };
        if both_typed && is_list_without_elements(&value, &other) {
            continue;
        }
        if !members(meter, &value, &other, typed)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether objects of Go types are equal.
// Upstream: apiserver/pkg/cel/common/valuesreflect.go, typedStruct.Equal
fn typed_maps<'a, M: WorkMeter>(
    meter: &M,
    left: &'a Object<'a>,
    right: &'a Object<'a>,
) -> Result<bool, Fault> {
    let same = maps(&TypedWork(meter), &Map::Typed(left), &Map::Typed(right))?;
    Ok(same && (std::ptr::eq(left, right) || meter.are_of_one_type(left, right)?))
}

/// Whether one is null and the other an empty list, which are the same in a field of a Go type.
// Upstream: apiserver/pkg/cel/common/valuesreflect.go, typedStruct.Equal
fn is_list_without_elements(one: &Value<'_>, other: &Value<'_>) -> bool {
    match (one, other) {
        (Value::Null, Value::List(list)) | (Value::List(list), Value::Null) => list.is_empty(),
        _ => false,
    }
}

fn optionals<M: WorkMeter>(
    meter: &M,
    left: Option<&Value<'_>>,
    right: Option<&Value<'_>>,
) -> Result<bool, Fault> {
    match (left, right) {
        (Some(left), Some(right)) => equal_by(meter, left, right),
        (left, right) => Ok(left.is_none() && right.is_none()),
    }
}

/// The work of comparing values of a structured type: enough to check the limits.
const STRUCT: u64 = 100_000;

fn structs(left: &dyn Struct, right: &Value<'_>) -> Result<bool, Fault> {
    match right {
        Value::Struct(right) if std::ptr::addr_eq(left, *right) => Ok(true),
        right => left.equal(right),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_compare_by_value() {
        let check = |left: Value<'_>, right: Value<'_>, expected: bool| {
            assert_eq!(equal(&left, &right), Ok(expected), "{left:?} {right:?}");
            assert_eq!(equal(&right, &left), Ok(expected), "{right:?} {left:?}");
        };
        check(Value::Int(1), Value::Double(1.0), true);
        check(Value::Int(1), Value::Uint(1), true);
        check(Value::Int(-1), Value::Uint(u64::MAX), false);
        check(
            Value::Uint(u64::MAX),
            Value::Double(18_446_744_073_709_551_615.0),
            true,
        );
        check(Value::Double(f64::NAN), Value::Double(f64::NAN), false);
        check(Value::Double(f64::NAN), Value::Int(0), false);
        check(Value::Int(1), Value::String("1"), false);
        check(Value::Null, Value::Bool(false), false);
    }

    #[test]
    fn lists_and_maps_compare_by_members() {
        let (ints, doubles) = ([Value::Int(1)], [Value::Double(1.0)]);
        let list = |values| Value::List(List::Values(values));
        assert_eq!(equal(&list(&ints), &list(&doubles)), Ok(true));
        assert_eq!(equal(&list(&ints), &list(&[])), Ok(false));
        let left = [(Value::String("a"), Value::Int(1)), (Value::Int(2), Value::Null)];
        let right = [
            (Value::Uint(2), Value::Null),
            (Value::String("a"), Value::Uint(1)),
        ];
        let map = |entries| Value::Map(Map::Entries(entries));
        assert_eq!(equal(&map(&left), &map(&right)), Ok(true));
        assert_eq!(equal(&map(&left), &list(&ints)), Ok(false));
    }
}
