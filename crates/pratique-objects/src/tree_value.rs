//! The values that Go's decoder makes of documents.

use pratique_json::{MAX_DEPTH, Object, Value};
use pratique_schema::{Field, Presence, Scalar, Schema, Shape};
use pratique_typed::decode::{Node, TreeNode};
use pratique_yaml::TreeValue;

/// A number of a document that is larger than any float.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutOfRange(pub(crate) String);

/// A scalar of a document.
pub(crate) fn scalar(node: TreeNode<'_>) -> Result<Value<'static>, OutOfRange> {
    match (&*node.value(), node.literal()) {
        (Value::Float(number), Some(literal)) if number.is_infinite() => Err(OutOfRange(literal.to_owned())),
        (value, _) => Ok(value.clone().into_owned()),
    }
}

/// It nests deeper than values may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooDeep;

/// The value that Go has after decoding a document into a type: without unknown fields; of a field that is written
/// twice, structs and maps are merged, and lists replace the earlier one, in whose memory they are decoded.
// Upstream: sigs.k8s.io/json/internal/golang/encoding/json/decode.go, decodeState.array, decodeState.object
pub(crate) fn decoded(schema: &Schema, shape: &Shape, node: TreeNode<'_>) -> Result<Value<'static>, TooDeep> {
    let mut value = Value::Null;
    merge(schema, Some(shape), node, &mut value, MAX_DEPTH)?;
    Ok(value)
}

fn merge(
    schema: &Schema,
    shape: Option<&Shape>,
    node: TreeNode<'_>,
    into: &mut Value<'static>,
    depth: usize,
) -> Result<(), TooDeep> {
    let depth = depth.checked_sub(1).ok_or(TooDeep)?;
    match (&node.node().value, shape) {
        // A quantity is parsed from the literal.
        (TreeValue::Number(text), Some(Shape::Scalar(Scalar::Quantity))) => {
            *into = Value::from(text.to_string());
        }
        (TreeValue::List(items), _) => {
            let element = match shape {
                Some(Shape::List(element)) => Some(&**element),
                _ => None,
            };
            let mut elements = match std::mem::replace(into, Value::Null) {
                Value::Array(old) if element.is_some() => old,
                _ => Vec::new(),
            };
            elements.resize(items.len(), Value::Null);
            for (item, value) in node.elements().zip(&mut elements) {
                merge(schema, element, item, value, depth)?;
            }
            *into = Value::Array(elements);
        }
        (TreeValue::Map(_), _) => {
            let mut object = match (std::mem::replace(into, Value::Null), shape) {
                (Value::Object(old), Some(Shape::Struct(_) | Shape::Map(_))) => old,
                _ => Object::new(),
            };
            for (name, member) in node.members() {
                let of = match shape {
                    Some(Shape::Struct(id)) => match schema.get(*id).field(name) {
                        None => continue,
                        // A null changes nothing.
                        Some(field) if member.value().is_null() && !has_null(field) => continue,
                        Some(field) => Some(&field.shape),
                    },
                    Some(Shape::Map(of)) => Some(&**of),
                    _ => None,
                };
                // The values of maps are decoded anew.
                let is_field = matches!(shape, Some(Shape::Struct(_)));
                let mut value = match object.remove(name) {
                    Some(old) if is_field => old,
                    _ => Value::Null,
                };
                merge(schema, of, member, &mut value, depth)?;
                object.insert(name.to_owned(), value);
            }
            *into = Value::Object(object);
        }
        _ => *into = node.value().into_owned().into_owned(),
    }
    Ok(())
}

/// Whether null is a value of a field in Go, or decoded by a method: not of plain scalars and structs that are no pointers.
fn has_null(field: &Field) -> bool {
    match (&field.shape, field.presence) {
        (_, Presence::UnlessNull | Presence::Nullable) | (Shape::List(_) | Shape::Map(_), _) => true,
        (Shape::Struct(_), _) => false,
        (Shape::Scalar(kind), _) => !matches!(
            kind,
            Scalar::Bool | Scalar::Int32 | Scalar::Int64 | Scalar::Float | Scalar::String
        ),
    }
}
