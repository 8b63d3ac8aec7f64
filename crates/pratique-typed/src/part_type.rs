//! The Go types of the parts of objects.

use pratique_json::{Object, Value};
use pratique_schema::{Field, Schema, Shape, TypeId};
use pratique_types::GroupVersionKind;

/// The Go type of a part of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartType {
    /// A struct.
    Struct(TypeId),
    /// A map.
    Map,
}

/// The type of a part of an object of a kind, which is that part in memory; `None` where it is no part of it. Stops with the
/// error of `visit`, which is called for each value that is looked at.
///
/// # Errors
/// That of `visit`.
pub fn part_type<E>(
    schema: &'static Schema,
    kind: &GroupVersionKind,
    object: &Value<'_>,
    part: &Object<'_>,
    visit: impl FnMut() -> Result<(), E>,
) -> Result<Option<PartType>, E> {
    let is_part = |value: &Value<'_>| value.as_object().is_some_and(|object| is_same(object, part));
    let typed_part = find(schema, kind, object, is_part, visit)?;
    Ok(typed_part.and_then(|typed_part| match typed_part.shape {
        Shape::Struct(id) => Some(PartType::Struct(id)),
        Shape::Map(_) => Some(PartType::Map),
        Shape::List(_) | Shape::Scalar(_) => None,
    }))
}

/// A part of an object with its type.
pub(crate) struct TypedPart<'v, 'a> {
    pub(crate) shape: Shape,
    pub(crate) field: Option<&'static Field>,
    pub(crate) value: &'v Value<'a>,
}

/// Finds a part of an object of a kind. Stops with the error of `visit`, which is called for each value that is looked at.
pub(crate) fn find<'v, 'a, E>(
    schema: &'static Schema,
    kind: &GroupVersionKind,
    object: &'v Value<'a>,
    is_part: impl Fn(&Value<'_>) -> bool,
    mut visit: impl FnMut() -> Result<(), E>,
) -> Result<Option<TypedPart<'v, 'a>>, E> {
    let Some(root) = root(schema, kind) else {
        return Ok(None);
    };
    let mut pending = vec![(&root, None, object)];
    while let Some((shape, field, value)) = pending.pop() {
        visit()?;
        if is_part(value) {
            let shape = shape.clone();
            return Ok(Some(TypedPart { shape, field, value }));
        }
        match (shape, value) {
            (Shape::Struct(id), Value::Object(members)) => {
                let of = schema.get(*id);
                pending.extend(members.iter().filter_map(|(name, value)| {
                    let field = of.field(name)?;
                    Some((&field.shape, Some(field), value))
                }));
            }
            (Shape::List(inner), Value::Array(elements)) => {
                pending.extend(elements.iter().map(|value| (&**inner, None, value)));
            }
            (Shape::Map(inner), Value::Object(members)) => {
                pending.extend(members.iter().map(|(_, value)| (&**inner, None, value)));
            }
            _ => {}
        }
    }
    Ok(None)
}

/// The type of objects of a kind. The request is one too: expressions see it through its Go type.
fn root(schema: &Schema, kind: &GroupVersionKind) -> Option<Shape> {
    let request = || match (&*kind.group, &*kind.kind) {
        ("admission.k8s.io", "AdmissionRequest") => {
            schema.named(&format!("admission/{}.AdmissionRequest", kind.version))
        }
        _ => None,
    };
    schema.kind(kind).or_else(request).map(Shape::Struct)
}

/// Whether two references lead to one place.
fn is_same(one: &Object<'_>, other: &Object<'_>) -> bool {
    std::ptr::addr_eq(one, other)
}
