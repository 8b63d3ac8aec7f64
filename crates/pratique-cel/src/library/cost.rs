//! What calls cost, in the reference's units: ten characters read are one.

use crate::value::Value;

/// A call that only looks something up.
pub(super) fn nominal(_: &[Value<'_>], _: Option<&Value<'_>>) -> u64 {
    1
}

/// A call that reads its first argument once.
pub(super) fn reads_first(arguments: &[Value<'_>], _: Option<&Value<'_>>) -> u64 {
    traversal(size_at(arguments, 0))
}

/// A call that reads its first argument twice.
pub(super) fn reads_first_twice(arguments: &[Value<'_>], _: Option<&Value<'_>>) -> u64 {
    traversal(size_at(arguments, 0).saturating_mul(2))
}

/// Reading `size` characters, bytes or elements.
pub(crate) fn traversal(size: u64) -> u64 {
    ceil(size as f64 * 0.1)
}

/// Matching a text of `size` characters with a regular expression of `regex_size` characters.
pub(crate) fn regex(size: u64, regex_size: u64) -> u64 {
    ceil((1.0 + size as f64) * 0.1).saturating_mul(ceil(regex_size as f64 * 0.25))
}

/// The size of the argument at a position.
pub(crate) fn size_at(arguments: &[Value<'_>], index: usize) -> u64 {
    arguments.get(index).map_or(1, size)
}

/// How many characters, bytes or elements a value has; 1 for what has none.
pub(crate) fn size(value: &Value<'_>) -> u64 {
    match value {
        Value::String(text) => length(text.chars().count()),
        Value::Bytes(bytes) => length(bytes.len()),
        Value::List(list) => length(list.len()),
        Value::Map(map) => length(map.len()),
        Value::Opaque(opaque) => opaque.size().unwrap_or(1),
        _ => 1,
    }
}

fn length(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn ceil(cost: f64) -> u64 {
    cost.ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding() {
        for (size, expected) in [(0, 0), (1, 1), (10, 1), (11, 2), (30, 3), (70, 7)] {
            assert_eq!(traversal(size), expected, "{size}");
        }
        assert_eq!(regex(0, 1), 1);
        assert_eq!(regex(9, 60), 15);
        assert_eq!(regex(10, 60), 30);
    }

    #[test]
    fn sizes() {
        assert_eq!(size(&Value::String("日本語")), 3);
        assert_eq!(size(&Value::Bytes("日本語".as_bytes())), 9);
        assert_eq!(size(&Value::Int(1_000)), 1);
    }
}
