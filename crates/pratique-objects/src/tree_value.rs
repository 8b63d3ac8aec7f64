//! Documents with positions as the decoder sees them, and the values that Go makes of them.

use std::borrow::Cow;

use pratique_json::{MAX_DEPTH, Object, Value};
use pratique_schema::{Field, Presence, Scalar, Schema, Shape};
use pratique_typed::decode::Node;
use pratique_yaml::tree;
use pratique_yaml::{NodeId, Tree};

/// A value of a document, in the order in which it is written, with members that are given twice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeNode<'t> {
    tree: &'t Tree,
    id: NodeId,
}

impl<'t> TreeNode<'t> {
    pub(crate) fn new(tree: &'t Tree, id: NodeId) -> Self {
        TreeNode { tree, id }
    }

    fn raw(self) -> &'t tree::Value {
        &self.tree.get(self.id).value
    }
}

impl<'t> Node<'t> for TreeNode<'t> {
    const MAY_REPEAT: bool = true;

    fn value(self) -> Cow<'t, Value<'t>> {
        Cow::Owned(match self.raw() {
            tree::Value::List(_) => Value::Array(Vec::new()),
            tree::Value::Map(_) => Value::Object(Object::new()),
            other => scalar(other),
        })
    }

    fn literal(self) -> Option<&'t str> {
        match self.raw() {
            tree::Value::Number(text) => Some(text),
            _ => None,
        }
    }

    fn elements(self) -> impl Iterator<Item = Self> {
        let items = match self.raw() {
            tree::Value::List(items) => items.as_slice(),
            _ => &[],
        };
        items.iter().map(move |id| TreeNode::new(self.tree, *id))
    }

    fn members(self) -> impl Iterator<Item = (&'t str, Self)> {
        let entries = match self.raw() {
            tree::Value::Map(entries) => entries.as_slice(),
            _ => &[],
        };
        entries
            .iter()
            .map(move |entry| (&*entry.key, TreeNode::new(self.tree, entry.value)))
    }
}

/// A scalar as it is written.
pub(crate) enum Literal<'t> {
    Value(Value<'t>),
    /// A number that no float is.
    OutOfRange(&'t str),
}

/// A scalar of a document; null of everything else.
pub(crate) fn literal(value: &tree::Value) -> Literal<'_> {
    match (scalar(value), value) {
        (Value::Float(number), tree::Value::Number(text)) if number.is_infinite() => {
            Literal::OutOfRange(text)
        }
        (value, _) => Literal::Value(value),
    }
}

fn scalar(value: &tree::Value) -> Value<'_> {
    match value {
        tree::Value::Bool(value) => Value::Bool(*value),
        tree::Value::Number(text) => number(text),
        tree::Value::String(text, _) => Value::String(Cow::Borrowed(text)),
        _ => Value::Null,
    }
}

fn number(text: &str) -> Value<'static> {
    match text.parse() {
        Ok(number) => Value::Int(number),
        // The literal tells one that is out of range.
        Err(_) => Value::Float(text.parse().unwrap_or(f64::INFINITY)),
    }
}

/// It nests deeper than values may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooDeep;

/// The value that Go has after decoding a document into a type: without unknown fields; of what is given twice, structs
/// and maps are merged, and lists replace what was there, in whose memory they are decoded.
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
    match (node.raw(), shape) {
        // It reads itself from the text.
        (tree::Value::Number(text), Some(Shape::Scalar(Scalar::Quantity))) => {
            *into = Value::from(text.to_string());
        }
        (tree::Value::List(items), _) => {
            let element = match shape {
                Some(Shape::List(element)) => Some(&**element),
                _ => None,
            };
            let mut elements = match std::mem::replace(into, Value::Null) {
                Value::Array(old) if element.is_some() => old,
                _ => Vec::new(),
            };
            elements.resize(items.len(), Value::Null);
            for (item, element_value) in items.iter().zip(&mut elements) {
                merge(
                    schema,
                    element,
                    TreeNode::new(node.tree, *item),
                    element_value,
                    depth,
                )?;
            }
            *into = Value::Array(elements);
        }
        (tree::Value::Map(entries), _) => {
            let mut object = match (std::mem::replace(into, Value::Null), shape) {
                (Value::Object(old), Some(Shape::Struct(_) | Shape::Map(_))) => old,
                _ => Object::new(),
            };
            for entry in entries {
                let member = TreeNode::new(node.tree, entry.value);
                let of = match shape {
                    Some(Shape::Struct(id)) => match schema.get(*id).field(&entry.key) {
                        None => continue,
                        // A null changes nothing.
                        Some(field) if matches!(member.raw(), tree::Value::Null) && !has_null(field) => {
                            continue;
                        }
                        Some(field) => Some(&field.shape),
                    },
                    Some(Shape::Map(of)) => Some(&**of),
                    _ => None,
                };
                // The values of maps are decoded anew.
                let is_field = matches!(shape, Some(Shape::Struct(_)));
                let mut value = match object.remove(&entry.key) {
                    Some(old) if is_field => old,
                    _ => Value::Null,
                };
                merge(schema, of, member, &mut value, depth)?;
                object.insert(entry.key.to_string(), value);
            }
            *into = Value::Object(object);
        }
        (other, _) => *into = scalar(other).into_owned(),
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
