//! Reads fields of objects.

use pratique_json::Value;

/// The text at a path in an object; empty if there is none.
pub fn text<'v>(object: &'v Value<'_>, path: &[&str]) -> &'v str {
    object.at(path).and_then(Value::as_str).unwrap_or_default()
}
