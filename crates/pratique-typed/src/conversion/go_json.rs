//! Go's JSON of structs that conversions keep in annotations: written in the order of their declaration, and read with
//! names in any case.

use pratique_json::{Object, Progress, Value, escape_html, parse};
use pratique_schema::{Schema, Shape, TypeId};

use crate::decode::lenient;
use crate::form::typed_as;

/// How a value is written.
#[derive(Debug)]
pub(super) enum Layout {
    /// As any other.
    Plain,
    /// A list of such.
    List(&'static Layout),
    /// A struct: its fields in order; those that are missing are left out.
    Struct(&'static [Entry]),
    /// A struct without names for JSON: those of Go, and null for what is missing.
    Bare(&'static [Entry]),
}

/// A field by its name in an object, and how it is written.
pub(super) type Entry = (&'static str, &'static Layout);

impl Layout {
    /// A value as text.
    pub(super) fn text(&self, value: &Value<'_>) -> String {
        let mut text = String::new();
        self.write(value, &mut text);
        text
    }

    /// Recursion follows the layout.
    fn write(&self, value: &Value<'_>, to: &mut String) {
        match (self, value) {
            (Layout::List(element), Value::Array(elements)) => {
                to.push('[');
                for (at, value) in elements.iter().enumerate() {
                    if at > 0 {
                        to.push(',');
                    }
                    element.write(value, to);
                }
                to.push(']');
            }
            (Layout::Struct(fields), Value::Object(object)) => {
                let there = fields.iter().filter_map(|(name, layout)| {
                    let value = object.get(name)?;
                    Some(((*name).to_owned(), *layout, value))
                });
                members(there, to);
            }
            (Layout::Bare(fields), Value::Object(object)) => {
                let all = fields.iter().map(|(name, layout)| {
                    let value = object.get(name).unwrap_or(&Value::Null);
                    (capitalized(name), *layout, value)
                });
                members(all, to);
            }
            _ => to.push_str(&escape_html(&value.to_string())),
        }
    }
}

fn members<'v, 'j: 'v>(
    members: impl Iterator<Item = (String, &'static Layout, &'v Value<'j>)>,
    to: &mut String,
) {
    to.push('{');
    for (at, (name, layout, value)) in members.enumerate() {
        if at > 0 {
            to.push(',');
        }
        to.push('"');
        to.push_str(&name);
        to.push_str("\":");
        layout.write(value, to);
    }
    to.push('}');
}

fn capitalized(name: &str) -> String {
    let mut characters = name.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}

/// Reads a struct; `None` where Go does not. Null is one without values.
pub(super) fn read(text: &str, of: TypeId) -> Option<Object<'static>> {
    structure(parse(text.as_bytes()).ok()?, of)
}

/// Reads a list of structs, likewise. Null is an empty one.
pub(super) fn read_list(text: &str, of: TypeId) -> Option<Vec<Object<'static>>> {
    match parse(text.as_bytes()).ok()? {
        Value::Null => Some(Vec::new()),
        Value::Array(elements) => elements
            .into_iter()
            .map(|element| structure(element, of))
            .collect(),
        _ => None,
    }
}

fn structure(value: Value<'_>, of: TypeId) -> Option<Object<'static>> {
    let object = match value {
        Value::Null => Object::new(),
        Value::Object(object) => named(of, object),
        _ => return None,
    };
    let progress = Progress::unwatched();
    lenient(of, &object, &progress).ok()?;
    let object = Value::Object(object);
    match typed_as(of, &object, &progress)
        .unwrap_or_default()
        .unwrap_or_else(|| object.borrowed())
        .into_owned()
    {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

/// An object with the names of a type's fields, in whatever case they were. Recursion follows the type.
fn named<'a>(of: TypeId, object: Object<'a>) -> Object<'a> {
    let fields = &Schema::builtin().get(of).fields;
    let mut renamed = Object::new();
    for (name, value) in object.iter() {
        let field = fields.get(name);
        let field = field.or_else(|| fields.iter().find(|field| field.name.eq_ignore_ascii_case(name)));
        if let Some(field) = field {
            renamed.insert(field.name, named_within(&field.shape, value.clone()));
        }
    }
    renamed
}

fn named_within<'a>(shape: &Shape, value: Value<'a>) -> Value<'a> {
    match (shape, value) {
        (Shape::Struct(of), Value::Object(object)) => Value::Object(named(*of, object)),
        (Shape::List(element), Value::Array(elements)) => {
            let elements = elements.into_iter();
            Value::Array(elements.map(|value| named_within(element, value)).collect())
        }
        (_, value) => value,
    }
}
