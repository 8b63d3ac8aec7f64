//! Values as Go writes them: the members of structs in the order of their declaration, those of maps by name.

use pratique_json::{Object, Value, escape_html};
use pratique_schema::{Layouts, Release, Schema, Shape, TypeId, names_in_order};

/// Writes values of types as JSON.
#[derive(Clone, Copy, Debug)]
pub struct Encoder<'e> {
    /// The types.
    pub schema: &'e Schema,
    /// The fields of types, in order.
    pub layouts: &'static Layouts,
    /// The shape of a field of a type, where it follows from the value.
    pub shape_of: fn(&Schema, TypeId, &str, &Value<'_>) -> Option<Shape>,
    /// Whether structs have no names for JSON: members have the names of Go, and are null where they are missing.
    pub is_bare: bool,
}

impl Encoder<'static> {
    /// Writes values of the types of a release.
    pub fn of_release(release: &'static Release) -> Self {
        Encoder {
            schema: release.schema(),
            layouts: release.layouts(),
            shape_of: |_, _, _, _| None,
            is_bare: false,
        }
    }
}

impl Encoder<'_> {
    /// A value of a shape as text; members of an unknown shape are written by name.
    pub fn to_text(&self, shape: Option<&Shape>, value: &Value<'_>) -> String {
        let mut text = String::new();
        self.write(shape, value, &mut text);
        escape_html(&text).into_owned()
    }

    /// Recursion follows the nesting of the value, which its parser bounds.
    fn write(&self, shape: Option<&Shape>, value: &Value<'_>, text: &mut String) {
        match (shape, value) {
            (Some(Shape::Struct(id)), Value::Object(object)) => {
                let of = self.schema.get(*id);
                let order = names_in_order(self.layouts.for_type(of.name));
                let members = order.into_iter().filter_map(|name| {
                    let missing = self.is_bare.then_some(&Value::Null);
                    let value = object.get(name).or(missing)?;
                    let by_value = (self.shape_of)(self.schema, *id, name, value);
                    let shape = by_value.or_else(|| of.field(name).map(|field| field.shape.clone()));
                    Some((name, value, shape))
                });
                self.members(members, self.is_bare, text);
            }
            (Some(Shape::Map(of)), Value::Object(object)) => self.by_name(Some(&**of), object, text),
            (_, Value::Object(object)) => self.by_name(None, object, text),
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
                    self.write(element, value, text);
                }
                text.push(']');
            }
            (_, scalar) => text.push_str(&scalar.to_string()),
        }
    }

    fn by_name(&self, shape: Option<&Shape>, object: &Object<'_>, text: &mut String) {
        let members = object.iter();
        self.members(
            members.map(|(name, value)| (name, value, shape.cloned())),
            false,
            text,
        );
    }

    fn members<'m>(
        &self,
        members: impl Iterator<Item = (&'m str, &'m Value<'m>, Option<Shape>)>,
        is_bare: bool,
        text: &mut String,
    ) {
        text.push('{');
        for (at, (name, value, shape)) in members.enumerate() {
            if at > 0 {
                text.push(',');
            }
            let name = if is_bare {
                Value::from(capitalized(name))
            } else {
                Value::from(name)
            };
            text.push_str(&name.to_string());
            text.push(':');
            self.write(shape.as_ref(), value, text);
        }
        text.push('}');
    }
}

fn capitalized(name: &str) -> String {
    let mut characters = name.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}
