//! The Go types of the parts of objects.

use pratique_json::{Object, Value};
use pratique_schema::{Schema, Shape, TypeId};
use pratique_types::GroupVersionKind;

/// What a part of an object is in Go.
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
    kind: &GroupVersionKind,
    object: &Value<'_>,
    part: &Object<'_>,
    mut visit: impl FnMut() -> Result<(), E>,
) -> Result<Option<PartType>, E> {
    let schema = Schema::builtin();
    let Some(root) = root(kind) else {
        return Ok(None);
    };
    let mut left = vec![(&root, object)];
    while let Some((shape, value)) = left.pop() {
        visit()?;
        match (shape, value) {
            (Shape::Struct(id), Value::Object(members)) => {
                if is_same(members, part) {
                    return Ok(Some(PartType::Struct(*id)));
                }
                let of = schema.get(*id);
                left.extend(
                    members
                        .iter()
                        .filter_map(|(name, value)| Some((&of.field(name)?.shape, value))),
                );
            }
            (Shape::Map(inner), Value::Object(members)) => {
                if is_same(members, part) {
                    return Ok(Some(PartType::Map));
                }
                left.extend(members.iter().map(|(_, value)| (&**inner, value)));
            }
            (Shape::List(inner), Value::Array(elements)) => {
                left.extend(elements.iter().map(|value| (&**inner, value)));
            }
            _ => {}
        }
    }
    Ok(None)
}

/// The type of objects of a kind. The request is one too: expressions see it through its Go type.
pub(crate) fn root(kind: &GroupVersionKind) -> Option<Shape> {
    let schema = Schema::builtin();
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
