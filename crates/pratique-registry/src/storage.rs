//! What storing an object and reading it again does to it.

use pratique_json::Value;
use pratique_schema::{Schema, Shape, TypeId};
use pratique_types::GroupVersionKind;

/// An object once it was written as protocol buffers and read again: these have no empty lists and maps.
pub(crate) fn through_protobuf(kind: &GroupVersionKind, object: &Value<'static>) -> Value<'static> {
    let mut object = object.clone();
    if let Some(id) = Schema::builtin().kind(kind) {
        empty_to_null(id, &mut object);
    }
    object
}

/// Recursion follows the nesting of the value, which its parser bounds.
fn empty_to_null(id: TypeId, object: &mut Value<'static>) {
    for field in Schema::builtin().get(id).fields.iter() {
        if let Some(value) = object.get_mut(field.name) {
            shape_to_null(&field.shape, value);
        }
    }
}

fn shape_to_null(shape: &Shape, value: &mut Value<'static>) {
    match (shape, value) {
        (Shape::Struct(id), value) => empty_to_null(*id, value),
        (Shape::List(_), value @ Value::Array(_)) | (Shape::Map(_), value @ Value::Object(_))
            if value.is_empty() =>
        {
            *value = Value::Null;
        }
        (Shape::List(element), Value::Array(elements)) => {
            for value in elements {
                shape_to_null(element, value);
            }
        }
        (Shape::Map(of), Value::Object(members)) => {
            for value in members.values_mut() {
                shape_to_null(of, value);
            }
        }
        _ => {}
    }
}
