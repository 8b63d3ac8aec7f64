//! Access to members: `x.field`, `x[key]`, and whether they are there.

use super::container::{cost_of_search, exact_int, lookup};
use super::error_values::failed;
use super::naming::{format_metered, go_type};
use crate::context::Context;
use crate::error::Fault;
use crate::value::{List, Map, Value};

/// The result of looking up a member.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MemberLookup<'a> {
    /// The member.
    Found(Value<'a>),
    /// No such key or field.
    NoKey,
    /// An index past the end of a list.
    NoIndex,
}

impl<'a> MemberLookup<'a> {
    /// The member, or the error that it is missing.
    #[inline]
    pub(crate) fn or_missing(self, context: &Context<'a>, key: &Value<'_>) -> Result<Value<'a>, Fault> {
        match self {
            MemberLookup::Found(value) => Ok(value),
            missing => Err(missing.fault(context, key)),
        }
    }

    /// The error that a member is missing, or a stop, as its key may be long.
    #[cold]
    fn fault(self, context: &Context<'a>, key: &Value<'_>) -> Fault {
        match (format_metered(context, key), self) {
            (Err(stop), _) => stop,
            (Ok(index), MemberLookup::NoIndex) => Fault::error(format!("index out of bounds: {index}")),
            (Ok(key), _) => Fault::no_such_key(key),
        }
    }

    /// The member, if it is present.
    pub(crate) fn found(self) -> Option<Value<'a>> {
        match self {
            MemberLookup::Found(value) => Some(value),
            MemberLookup::NoKey | MemberLookup::NoIndex => None,
        }
    }
}

impl<'a> From<Option<Value<'a>>> for MemberLookup<'a> {
    fn from(value: Option<Value<'a>>) -> Self {
        value.map_or(MemberLookup::NoKey, MemberLookup::Found)
    }
}

/// Looks up a member by its name. `declared` is whether the checker knows that the type of the object has fields.
#[inline]
pub(crate) fn member_str<'a>(
    context: &Context<'a>,
    object: Value<'a>,
    field: &str,
    declared: bool,
) -> Result<MemberLookup<'a>, Fault> {
    match object {
        Value::Map(Map::Json(object)) => Ok(object.get(field).map(Value::from_json).into()),
        Value::Map(map) => {
            context.work(cost_of_search(&map))?;
            Ok(map.get_str(field).into())
        }
        Value::Struct(value) if declared || value.is_indexable() => value.get(context, field).map(Into::into),
        Value::List(_) => Err(Fault::error("unsupported index type 'string' in list")),
        _ => Ok(MemberLookup::NoKey),
    }
}

/// Looks up a member by a key or index.
pub(crate) fn member<'a>(
    context: &Context<'a>,
    object: Value<'a>,
    key: &Value<'_>,
) -> Result<MemberLookup<'a>, Fault> {
    match (object, key) {
        (object, Value::String(field)) => member_str(context, object, field, false),
        (Value::List(list), key) => element(context, &list, key),
        (Value::Map(map), key) => lookup(context, &map, key).map(Into::into),
        (Value::Struct(value), key) if value.is_indexable() => Err(value.unfit_index(key)),
        _ => Ok(MemberLookup::NoKey),
    }
}

fn element<'a>(context: &Context<'a>, list: &List<'a>, key: &Value<'_>) -> Result<MemberLookup<'a>, Fault> {
    let index = match key {
        Value::Int(index) => Some(*index),
        Value::Uint(index) => i64::try_from(*index).ok(),
        Value::Double(index) => exact_int(*index),
        other => {
            let name = other.type_name();
            return Err(Fault::error(format!("unsupported index type '{name}' in list")));
        }
    };
    let Some(index) = index else {
        let index = format_metered(context, key)?;
        return Err(Fault::error(format!("unsupported index value {index} in list")));
    };
    let list_element = usize::try_from(index).ok().and_then(|index| list.get(index));
    match (list, key, list_element) {
        (_, _, None) => Ok(MemberLookup::NoIndex),
        (List::Typed(_), Value::Uint(_) | Value::Double(_), Some(_)) => {
            let fault = Fault::error(format!("unsupported index type: {}", go_type(key)));
            Ok(MemberLookup::Found(failed(context, fault, "*types.Err")))
        }
        (_, _, Some(value)) => Ok(MemberLookup::Found(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Arena;
    use crate::ops::format_value;

    #[test]
    fn members_of_lists_and_maps() {
        let arena = Arena::new();
        let context = Context::new(&arena, 0);
        let list = Value::List(List::Values(&[Value::Int(7)]));
        let map = Value::Map(Map::Entries(&[(Value::String("a"), Value::Int(1))]));
        let check = |object: Value<'_>, key: Value<'_>, expected: &str| {
            let found = member(&context, object, &key).and_then(|found| found.or_missing(&context, &key));
            let text = found.map_or_else(|fault| fault.to_string(), |value| format_value(&value));
            assert_eq!(text, expected, "{key:?}");
        };
        check(list, Value::Int(0), "7");
        check(list, Value::Double(0.0), "7");
        check(list, Value::Int(1), "index out of bounds: 1");
        check(list, Value::Int(-1), "index out of bounds: -1");
        check(list, Value::Double(0.5), "unsupported index value 0.5 in list");
        check(
            list,
            Value::String("a"),
            "unsupported index type 'string' in list",
        );
        check(map, Value::String("a"), "1");
        check(map, Value::String("b"), "no such key: b");
        check(map, Value::Int(1), "no such key: 1");
        check(Value::Int(1), Value::String("a"), "no such key: a");
    }
}
