//! Go's JSON of structs that conversions keep in annotations, read with names in any case.

use pratique_json::{Object, Progress, Value, parse};
use pratique_schema::{Schema, Shape, TypeId};

use crate::decode::lenient;
use crate::form::typed_as;

/// Reads a struct; `None` where Go does not. Null is one without values.
pub(super) fn read(schema: &'static Schema, text: &str, of: TypeId) -> Option<Object<'static>> {
    structure(schema, parse(text.as_bytes()).ok()?, of)
}

/// Reads a list of structs, likewise. Null is an empty one.
pub(super) fn read_list(schema: &'static Schema, text: &str, of: TypeId) -> Option<Vec<Object<'static>>> {
    match parse(text.as_bytes()).ok()? {
        Value::Null => Some(Vec::new()),
        Value::Array(elements) => elements
            .into_iter()
            .map(|element| structure(schema, element, of))
            .collect(),
        _ => None,
    }
}

fn structure(schema: &'static Schema, value: Value<'_>, of: TypeId) -> Option<Object<'static>> {
    let object = match value {
        Value::Null => Object::new(),
        Value::Object(object) => named(schema, of, object),
        _ => return None,
    };
    let progress = Progress::unwatched();
    lenient(schema, of, &object, &progress).ok()?;
    let object = Value::Object(object);
    match typed_as(schema, of, &object, &progress)
        .unwrap_or_default()
        .unwrap_or_else(|| object.borrowed())
        .into_owned()
    {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

/// An object with the names of a type's fields, which may be written in any case. Recursion follows the type.
fn named<'a>(schema: &Schema, of: TypeId, object: Object<'a>) -> Object<'a> {
    let fields = &schema.get(of).fields;
    let mut renamed = Object::new();
    for (name, value) in object.iter() {
        let field = fields.get(name);
        let field = field.or_else(|| fields.iter().find(|field| field.name.eq_ignore_ascii_case(name)));
        if let Some(field) = field {
            renamed.insert(field.name, named_within(schema, &field.shape, value.clone()));
        }
    }
    renamed
}

fn named_within<'a>(schema: &Schema, shape: &Shape, value: Value<'a>) -> Value<'a> {
    match (shape, value) {
        (Shape::Struct(of), Value::Object(object)) => Value::Object(named(schema, *of, object)),
        (Shape::List(element), Value::Array(elements)) => {
            let elements = elements.into_iter();
            Value::Array(
                elements
                    .map(|value| named_within(schema, element, value))
                    .collect(),
            )
        }
        (_, value) => value,
    }
}
