//! Values of `Object` and of the types below it.

use super::FieldData;
use super::go_types::{JSON_PATCH, native_type};
use super::json::check_keys;
use crate::arena::Arena;
use crate::context::Context;
use crate::error::Fault;
use crate::ops;
use crate::value::{List, Map, Struct, Value};

/// An object literal.
#[derive(Clone, Copy, Debug)]
struct ObjectLiteral<'v> {
    type_name: &'v str,
    fields: &'v [(&'v str, Value<'v>)],
    field_data: FieldData,
}

/// Makes an object.
pub(super) fn construct<'a>(
    context: &Context<'a>,
    field_data: FieldData,
    type_name: &str,
    fields: &[(&'a str, Value<'a>)],
) -> Value<'a> {
    let arena = context.arena;
    let object: &'a ObjectLiteral<'a> = arena.value(ObjectLiteral {
        type_name: arena.str(type_name),
        fields: arena.slice(fields),
        field_data,
    });
    Value::Struct(object)
}

/// Fields are read only where the checker knows the type: elsewhere objects seem to have none.
impl Struct for ObjectLiteral<'_> {
    fn type_name(&self) -> &str {
        self.type_name
    }

    /// The reference makes plain data of the whole object to read one field, so that one can keep another from being read.
    fn get<'a>(&'a self, context: &Context<'a>, field: &str) -> Result<Option<Value<'a>>, Fault> {
        context.work(self.weight())?;
        if !is_plain(self) {
            let message = format!("cannot get field {}", pratique_gotext::strconv::quote(field));
            return Err(Fault::error(message));
        }
        let field_entry = self.fields.iter().find(|(name, _)| *name == field);
        Ok(Some(field_entry.map_or(Value::Null, |(_, value)| {
            self.field_data.plain(context, value)
        })))
    }

    fn has(&self, context: &Context<'_>, field: &str) -> Result<bool, Fault> {
        context.work(self.weight())?;
        Ok(is_plain(self) && self.fields.iter().any(|(name, _)| *name == field))
    }

    fn fields<'a>(&'a self, _: &Context<'a>) -> Result<Vec<(&'a str, Value<'a>)>, Fault> {
        Ok(self.fields.to_vec())
    }

    fn equal(&self, other: &Value<'_>) -> Result<bool, Fault> {
        let Value::Struct(other) = other else {
            return Ok(false);
        };
        Ok(self.type_name == other.type_name() && is_same_object(self, *other))
    }

    fn runtime_type(&self) -> &str {
        "type"
    }

    fn is_indexable(&self) -> bool {
        false
    }
}

impl ObjectLiteral<'_> {
    /// The work of looking at all that is in its fields.
    fn weight(&self) -> u64 {
        let of_field = |(_, value): &(&str, Value<'_>)| match value {
            Value::List(list) => list.len(),
            Value::Map(map) => map.len(),
            _ => 1,
        };
        let parts: usize = self.fields.iter().map(of_field).sum();
        (parts as u64).saturating_mul(16)
    }
}

/// Whether the maps among the fields have keys of strings, as plain data must.
fn is_plain(object: &ObjectLiteral<'_>) -> bool {
    let is_deep = object.field_data == FieldData::Deep;
    let mut values = object.fields.iter().map(|(_, value)| value);
    values.all(|value| unfit_key(value).is_none() && !(is_deep && has_unfit_variable(value)))
}

/// Whether it is `variables`, with one that is no string: their values are taken for keys.
///
/// Upstream: k8s.io/apiserver/pkg/cel/mutation/dynamic/objects.go, convertField, over pkg/cel/lazy/lazy.go, MapValue
fn has_unfit_variable(value: &Value<'_>) -> bool {
    let Value::Struct(variables) = value else {
        return false;
    };
    let arena = Arena::new();
    let context = Context::new(&arena, u64::MAX);
    let is_text = |(_, value): &(&str, Value<'_>)| matches!(value, Value::String(_) | Value::Type(_));
    is_variables(*variables)
        && !variables
            .fields(&context)
            .is_ok_and(|fields| fields.iter().all(is_text))
}

/// A key of a map that is no string.
pub(super) fn unfit_key<'a>(value: &Value<'a>) -> Option<Value<'a>> {
    match value {
        Value::Map(Map::Json(_)) => None,
        Value::Map(map) => map
            .iter()
            .map(|(key, _)| key)
            .find(|key| !matches!(key, Value::String(_))),
        Value::Optional(Some(value)) => unfit_key(value),
        _ => None,
    }
}

impl FieldData {
    /// A field's value as it is read back: objects are maps, types are names, and optionals are their content; so are the
    /// members of lists and maps, but not the values nested within these.
    fn plain<'a>(self, context: &Context<'a>, value: &Value<'a>) -> Value<'a> {
        match value {
            Value::Optional(Some(inner)) if matches!(inner, Value::List(_) | Value::Map(_)) => {
                self.plain(context, inner)
            }
            Value::List(list @ (List::Values(_) | List::Constant(_) | List::Collected(_))) => {
                plain_list(context, list, |element| self.member(context, element))
            }
            Value::List(list @ List::Joined(_)) if self == FieldData::Deep => {
                plain_list(context, list, |element| self.plain(context, element))
            }
            Value::Map(map @ (Map::Entries(_) | Map::Constant(_))) => {
                let entries = map.iter().map(|(key, value)| (key, self.member(context, &value)));
                let entries: Vec<(Value<'a>, Value<'a>)> = entries.collect();
                Value::Map(Map::Entries(context.arena.slice(&entries)))
            }
            Value::Struct(variables) if is_variables(*variables) && self == FieldData::Deep => {
                self.plain_object(context, *variables)
            }
            other => self.member(context, other),
        }
    }

    /// A member of a list or map in a field. Abstract values become the Go values that they hold, which are no CEL values.
    fn member<'a>(self, context: &Context<'a>, value: &Value<'a>) -> Value<'a> {
        match value {
            Value::Optional(None) => Value::Null,
            Value::Optional(Some(value)) => self.member(context, value),
            Value::Type(name) => Value::String(name),
            Value::List(List::Typed(elements)) => Value::List(List::Json(elements)),
            Value::Map(Map::Typed(object)) => Value::Map(Map::Json(object)),
            Value::List(list @ List::Joined(_)) => {
                plain_list(context, list, |element| self.member(context, element))
            }
            // Upstream: k8s.io/apiserver/pkg/cel/lazy/lazy.go, MapValue.Value
            Value::Struct(variables) if is_variables(*variables) => {
                ops::failed(context, Fault::no_such_overload(), "*types.Err")
            }
            Value::Struct(object) if object.type_name() != JSON_PATCH => self.plain_object(context, *object),
            Value::Opaque(opaque) if opaque.type_name() != "kubernetes.NamedFormat" => {
                let native = native_type(value);
                let fault = match native {
                    "*types.Err" => Fault::no_such_overload(),
                    _ => Fault::error(format!(
                        "unsupported conversion to ref.Val: ({native}){}",
                        opaque.to_text()
                    )),
                };
                ops::failed(context, fault, native)
            }
            other => *other,
        }
    }

    /// An object within an object, or the error that it has keys that plain data cannot have.
    pub(super) fn plain_object<'a>(self, context: &Context<'a>, object: &'a dyn Struct) -> Value<'a> {
        let entries = object.fields(context).and_then(|fields| {
            let entries = fields.into_iter().map(|(name, value)| {
                check_keys(name, &value).map_err(Fault::from_display)?;
                Ok((Value::String(name), self.plain(context, &value)))
            });
            entries.collect::<Result<Vec<_>, Fault>>()
        });
        match entries {
            Ok(entries) => Value::Map(Map::Entries(context.arena.slice(&entries))),
            Err(fault) => ops::failed(context, fault, "*types.Err"),
        }
    }
}

/// Whether it is what a policy declares, all of it.
fn is_variables(object: &dyn Struct) -> bool {
    object.type_name() == "kubernetes.variables"
}

fn plain_list<'a>(
    context: &Context<'a>,
    list: &List<'a>,
    convert: impl Fn(&Value<'a>) -> Value<'a>,
) -> Value<'a> {
    let elements: Vec<Value<'a>> = list.iter().map(|element| convert(&element)).collect();
    Value::List(List::Values(context.arena.slice(&elements)))
}

/// Whether two objects have the same fields: the same to the last bit, numbers of the same type; and lists are never
/// the same, because the reference compares more than their elements.
fn is_same_object(left: &dyn Struct, right: &dyn Struct) -> bool {
    let arena = Arena::new();
    let context = Context::new(&arena, u64::MAX);
    let (Ok(left), Ok(right)) = (left.fields(&context), right.fields(&context)) else {
        return false;
    };
    let same = |(name, value): &(&str, Value<'_>)| {
        let other = right.iter().find(|(other_name, _)| other_name == name);
        other.is_some_and(|(_, other)| is_same(value, other))
    };
    left.len() == right.len() && left.iter().all(same)
}

fn is_same(left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left, right) {
        (Value::List(List::Typed(left)), Value::List(List::Typed(right))) => left == right,
        (Value::Map(Map::Typed(left)), Value::Map(Map::Typed(right))) => left == right,
        (Value::List(_), _) | (_, Value::List(_)) => false,
        (Value::Map(Map::Json(left)), Value::Map(Map::Json(right))) => left == right,
        (Value::Map(Map::Json(_)), _) | (_, Value::Map(Map::Json(_))) => false,
        (Value::Map(left), Value::Map(right)) => {
            let same = |(key, value): (Value<'_>, Value<'_>)| {
                let other = right.iter().find(|(other_key, _)| is_same(other_key, &key));
                other.is_some_and(|(_, other)| is_same(&value, &other))
            };
            left.len() == right.len() && left.iter().all(same)
        }
        (Value::Optional(Some(left)), Value::Optional(Some(right))) => is_same(left, right),
        (Value::Struct(left), Value::Struct(right)) => {
            left.type_name() == right.type_name() && is_same_object(*left, *right)
        }
        // An authorizer and its checks equal nothing by themselves, and equal quantities may be held differently; here they
        // are compared by what they hold.
        (Value::Opaque(opaque), Value::Opaque(others))
            if opaque.type_name() == "kubernetes.Quantity"
                || opaque.type_name().starts_with("kubernetes.authorization.") =>
        {
            opaque.type_name() == others.type_name() && format!("{opaque:?}") == format!("{others:?}")
        }
        (Value::Opaque(opaque), Value::Opaque(others)) => {
            opaque.to_text() == others.to_text() && ops::equal(left, right) == Ok(true)
        }
        _ => {
            std::mem::discriminant(left) == std::mem::discriminant(right)
                && ops::equal(left, right) == Ok(true)
        }
    }
}
