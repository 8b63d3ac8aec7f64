//! The changes of an object that is stored and read again.

use pratique_json::Value;
use pratique_schema::{Schema, Shape, TypeId};
use pratique_types::GroupVersionKind;

/// The groups of which objects are stored as JSON: those of servers of their own.
// Upstream: cmd/kube-apiserver/app/{apiextensions,aggregator}.go, whose storage has a LegacyCodec
const AS_JSON: [&str; 2] = ["apiextensions.k8s.io", "apiregistration.k8s.io"];

/// An object once it was stored and read again: as protocol buffers, as most are stored, it has no empty lists and maps.
pub(crate) fn read_back(schema: &Schema, kind: &GroupVersionKind, object: &Value<'_>) -> Value<'static> {
    let mut object = object.owned_within("");
    if let (Some(id), false) = (schema.kind(kind), AS_JSON.contains(&kind.group.as_str())) {
        empty_to_null(schema, id, &mut object);
    }
    object
}

/// Recursion follows the nesting of the value, which its parser bounds.
fn empty_to_null(schema: &Schema, id: TypeId, object: &mut Value<'static>) {
    for field in schema.get(id).fields.iter() {
        if let Some(value) = object.get_mut(field.name) {
            shape_to_null(schema, &field.shape, value);
        }
    }
}

fn shape_to_null(schema: &Schema, shape: &Shape, value: &mut Value<'static>) {
    match (shape, value) {
        (Shape::Struct(id), value) => empty_to_null(schema, *id, value),
        (Shape::List(_), value @ Value::Array(_)) | (Shape::Map(_), value @ Value::Object(_))
            if value.is_empty() =>
        {
            *value = Value::Null;
        }
        (Shape::List(element), Value::Array(elements)) => {
            for value in elements {
                shape_to_null(schema, element, value);
            }
        }
        (Shape::Map(of), Value::Object(members)) => {
            for value in members.values_mut() {
                shape_to_null(schema, of, value);
            }
        }
        _ => {}
    }
}
