//! Membership: `x in y`, and the lookup of keys that are not strings.

use super::equality::{equal, pair, surely_equal};
use super::naming::go_type;
use crate::context::Context;
use crate::error::Fault;
use crate::value::{List, Map, Opaque, Value};

/// Whether a list has an element, or a map a key.
pub(crate) fn is_in(
    context: &Context<'_>,
    element: &Value<'_>,
    container: &Value<'_>,
) -> Result<bool, Fault> {
    match container {
        Value::List(list) => is_among(context, element, list),
        Value::Map(map) => lookup(context, map, element).map(|entry| entry.is_some()),
        _ => Err(Fault::no_such_overload()),
    }
}

/// Whether a value is equal to an element of a list.
pub(crate) fn is_among(context: &Context<'_>, value: &Value<'_>, list: &List<'_>) -> Result<bool, Fault> {
    let of_pair = pair(value);
    for element in list.iter() {
        context.work(of_pair)?;
        if surely_equal(context, value, &element)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The work of looking up a key: maps of the input are sorted, others are searched.
pub(crate) fn cost_of_search(map: &Map<'_>) -> u64 {
    match map {
        Map::Json(_) | Map::Typed(_) => 8,
        Map::Entries(_) | Map::Constant(_) => (map.len() as u64).saturating_mul(4),
    }
}

/// The value of a key, which a typed map takes only as a string.
pub(super) fn lookup<'a>(
    context: &Context<'_>,
    map: &Map<'a>,
    key: &Value<'_>,
) -> Result<Option<Value<'a>>, Fault> {
    context.work(cost_of_search(map))?;
    match (map, key) {
        (Map::Typed(_), key) if !matches!(key, Value::String(_)) => Err(Fault::error(format!(
            "unsupported map key type: {}",
            go_type(key)
        ))),
        (Map::Entries(_) | Map::Constant(_), key) if !map.is_empty() => {
            check_hash(key)?;
            Ok(find_key(map, key))
        }
        (map, key) => Ok(find_key(map, key)),
    }
}

/// The reference's name of the type of a value that it cannot hash.
pub(crate) fn unhashable(key: &Value<'_>) -> Option<&'static str> {
    match key {
        Value::Bytes(_) => Some("types.Bytes"),
        Value::Opaque(value) => match value.type_name() {
            "kubernetes.NamedFormat" => Some("cel.Format"),
            "kubernetes.Semver" => Some("cel.Semver"),
            _ => None,
        },
        _ => None,
    }
}

/// An error for a value that the reference cannot hash.
pub(crate) fn check_hash(key: &Value<'_>) -> Result<(), Fault> {
    match unhashable(key) {
        Some(of) => Err(Fault::internal(format!(
            "runtime error: hash of unhashable type {of}"
        ))),
        None => Ok(()),
    }
}

/// The value of a key: a double or an unsigned integer also finds the integer that equals it, and an integer the
/// unsigned one, but nothing finds a key that is a double except itself.
pub(crate) fn find_key<'a>(map: &Map<'a>, key: &Value<'_>) -> Option<Value<'a>> {
    match key {
        Value::String(text) => map.get_str(text),
        _ if matches!(map, Map::Json(_) | Map::Typed(_)) => None,
        Value::Int(int) => find_exact(map, key).or_else(|| find_uint(map, u64::try_from(*int).ok()?)),
        Value::Uint(uint) => find_exact(map, key).or_else(|| find_int(map, i64::try_from(*uint).ok()?)),
        Value::Double(double) => find_exact(map, key)
            .or_else(|| find_int(map, exact_int(*double)?))
            .or_else(|| find_uint(map, exact_uint(*double)?)),
        _ => find_exact(map, key),
    }
}

fn find_int<'a>(map: &Map<'a>, key: i64) -> Option<Value<'a>> {
    find_exact(map, &Value::Int(key))
}

fn find_uint<'a>(map: &Map<'a>, key: u64) -> Option<Value<'a>> {
    find_exact(map, &Value::Uint(key))
}

fn find_exact<'a>(map: &Map<'a>, key: &Value<'_>) -> Option<Value<'a>> {
    map.iter()
        .find(|(other, _)| is_same_key(other, key))
        .map(|(_, value)| value)
}

/// Whether two keys are the same: equal, and of one type. Lists, maps, objects, optionals, quantities and URLs are pointers in
/// the reference, so that only the identical value is the same key.
pub(crate) fn is_same_key(left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left, right) {
        (Value::List(left), Value::List(right)) => left.is_same(right),
        (Value::Map(left), Value::Map(right)) => left.is_same(right),
        (Value::Struct(left), Value::Struct(right)) => std::ptr::addr_eq(*left, *right),
        (Value::Optional(Some(left)), Value::Optional(Some(right))) => std::ptr::eq(*left, *right),
        (Value::Opaque(left), Value::Opaque(right)) if is_pointer(*left) => std::ptr::addr_eq(*left, *right),
        _ => std::mem::discriminant(left) == std::mem::discriminant(right) && equal(left, right) == Ok(true),
    }
}

fn is_pointer(value: &dyn Opaque) -> bool {
    matches!(value.type_name(), "kubernetes.Quantity" | "kubernetes.URL")
}

/// The integer that a double is.
pub(crate) fn exact_int(double: f64) -> Option<i64> {
    let int = double as i64;
    // To the reference the bounds themselves are not integers.
    (double > i64::MIN as f64 && double < i64::MAX as f64 && int as f64 == double).then_some(int)
}

fn exact_uint(double: f64) -> Option<u64> {
    let uint = double as u64;
    (double >= 0.0 && double < u64::MAX as f64 && uint as f64 == double).then_some(uint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_convert_towards_integers() {
        let entries = [
            (Value::Int(1), Value::String("int")),
            (Value::Uint(2), Value::String("uint")),
            (Value::Double(3.0), Value::String("double")),
        ];
        let check = |key: Value<'_>, expected: Option<&str>| {
            let found = find_key(&Map::Entries(&entries), &key);
            let text = found.map(|value| match value {
                Value::String(text) => text,
                _ => "",
            });
            assert_eq!(text, expected, "{key:?}");
        };
        check(Value::Uint(1), Some("int"));
        check(Value::Double(1.0), Some("int"));
        check(Value::Int(2), Some("uint"));
        check(Value::Double(2.0), Some("uint"));
        check(Value::Double(3.0), Some("double"));
        check(Value::Int(3), None);
        check(Value::Double(1.5), None);
        check(Value::String("1"), None);
    }
}
