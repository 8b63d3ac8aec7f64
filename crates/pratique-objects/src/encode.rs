//! Objects as an API server writes them: the members of structs in Go's order, those of maps by name.

use pratique_json::{Object, Value, escape_html};
use pratique_schema::{Shape, names_in_order};
use pratique_types::GroupVersionKind;

use crate::json_schema;
use crate::release::{layouts, schema, type_of};

/// Writes an object of a kind as an API server does; it has the form of its kind. Objects of other kinds are written by
/// name.
pub fn encode(kind: &GroupVersionKind, object: &Value<'_>) -> String {
    let shape = type_of(kind).map(Shape::Struct);
    let mut text = String::new();
    write(shape.as_ref(), object, &mut text);
    escape_html(&text).into_owned()
}

/// Recursion follows the nesting of the value, which its parser bounds.
fn write(shape: Option<&Shape>, value: &Value<'_>, text: &mut String) {
    match (shape, value) {
        (Some(Shape::Struct(id)), Value::Object(object)) => {
            let of = schema().get(*id);
            let order = names_in_order(layouts().of(of.name));
            let known = order.into_iter().filter_map(|name| {
                let value = object.get(name)?;
                let free = json_schema::shape_of(*id, name, value);
                let shape = free.or_else(|| of.field(name).map(|field| field.shape.clone()));
                Some((name, value, shape))
            });
            members(known, text);
        }
        (Some(Shape::Map(of)), Value::Object(object)) => by_name(Some(&**of), object, text),
        (_, Value::Object(object)) => by_name(None, object, text),
        (shape, Value::Array(elements)) => {
            let element = match shape {
                Some(Shape::List(element)) => Some(&**element),
                _ => None,
            };
            text.push('[');
            for (at, value) in elements.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                write(element, value, text);
            }
            text.push(']');
        }
        (_, scalar) => text.push_str(&scalar.to_string()),
    }
}

fn by_name(shape: Option<&Shape>, object: &Object<'_>, text: &mut String) {
    members(
        object.iter().map(|(name, value)| (name, value, shape.cloned())),
        text,
    );
}

fn members<'m>(members: impl Iterator<Item = (&'m str, &'m Value<'m>, Option<Shape>)>, text: &mut String) {
    text.push('{');
    for (at, (name, value, shape)) in members.enumerate() {
        if at > 0 {
            text.push(',');
        }
        text.push_str(&Value::from(name).to_string());
        text.push(':');
        write(shape.as_ref(), value, text);
    }
    text.push('}');
}
