//! Giving an object of one's own the form of its kind, in place.

use std::borrow::Cow;

use pratique_json::{Object, Value};
use pratique_schema::{Field, Presence, Scalar, Schema, Shape, TypeId};

use super::{Typing, scalar};

/// Gives an object the form of a type, as [`typed_as`](super::typed_as) does with one that cannot be changed.
pub(crate) fn settle(id: TypeId, object: &mut Object<'_>) {
    let schema = Schema::builtin();
    Typing { schema }.settle(id, object);
}

/// Recursion follows the nesting of the value, which the parser and the evaluator bound, and of the schema's own structs.
impl Typing {
    fn settle(&self, id: TypeId, object: &mut Object<'_>) {
        let of = self.schema.get(id);
        let mut walk = of.fields.walk();
        let mut always = 0;
        object.retain(|name, value| match walk.field(name) {
            Some(field) if self.settle_field(field, value) => {
                always += usize::from(field.is_always());
                true
            }
            _ => false,
        });
        if always == of.fields.always_count() {
            return;
        }
        for field in of.fields.always() {
            if !object.contains_key(&field.name) {
                object.insert(Cow::Borrowed(field.name.as_str()), self.absent(field));
            }
        }
    }

    /// Whether the field stays.
    fn settle_field(&self, field: &'static Field, value: &mut Value<'_>) -> bool {
        match field.presence {
            Presence::UnlessNull if value.is_null() => return false,
            Presence::UnlessEmpty if value.is_empty() => return false,
            Presence::Nullable if value.is_null() => {}
            _ => self.settle_value(&field.shape, value),
        }
        true
    }

    fn settle_value(&self, shape: &'static Shape, value: &mut Value<'_>) {
        match (shape, value) {
            (Shape::Struct(id), Value::Object(object)) => self.settle(*id, object),
            (Shape::List(element), Value::Array(elements)) => {
                elements
                    .iter_mut()
                    .for_each(|own| self.settle_value(element, own));
            }
            (Shape::Map(of), Value::Object(object)) => {
                object.values_mut().for_each(|own| self.settle_value(of, own));
            }
            (Shape::Scalar(Scalar::Json | Scalar::Time | Scalar::MicroTime | Scalar::Bytes), Value::Null)
            | (Shape::List(_) | Shape::Map(_), Value::Null) => {}
            (shape, value @ Value::Null) => *value = self.zero(shape),
            (Shape::Scalar(kind), value) => {
                if let Some(canonical) = scalar::canonical(*kind, value) {
                    *value = canonical;
                }
            }
            // No API server would have taken it.
            _ => {}
        }
    }
}
