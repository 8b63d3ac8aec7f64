//! The null of an expression, in a document that is being patched.
//!
//! The library behind the reference tells three nulls apart. Those of the document and of a patch's text are the
//! absence of a value. The one that an expression gives is a value, and is taken for an object without members when
//! it is looked into. A document that is being patched holds a number that JSON does not have in its place.

use pratique_json::Value;

/// A value as an operation puts it into a document.
pub(super) fn mark(value: Value<'_>) -> Value<'_> {
    match value {
        Value::Null => Value::Float(f64::NAN),
        other => other,
    }
}

/// Whether this is the null of an expression.
pub(super) fn is(value: &Value<'_>) -> bool {
    matches!(value, Value::Float(number) if number.is_nan())
}

/// Makes plain nulls of those of expressions.
pub(super) fn unmark(value: &mut Value<'_>) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(unmark),
        Value::Object(object) => object.values_mut().for_each(unmark),
        marked if is(marked) => *marked = Value::Null,
        _ => {}
    }
}
