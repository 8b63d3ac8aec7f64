//! Reading members of objects.

use pratique_json::Value;
pub(crate) use pratique_json::text_at;

/// A member that is not null.
pub(crate) fn present<'a>(value: &'a Value<'a>, name: &str) -> Option<&'a Value<'a>> {
    value.get(name).filter(|value| !value.is_null())
}

/// The elements of a list.
pub(crate) fn items<'a, 'v>(value: &'a Value<'v>, name: &str) -> &'a [Value<'v>] {
    value.get(name).and_then(Value::as_array).unwrap_or_default()
}
