//! `string.format`, bound to values.

use super::super::{bounds, cost};
use crate::context::Context;
use crate::error::Fault;
use crate::text::format::{Argument, Shape, format};
use crate::value::{Evaluation, Value};

pub(super) fn call<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let [Value::String(text), Value::List(list)] = arguments else {
        return Err(Fault::no_such_overload());
    };
    // Walking over the arguments costs a tenth of the characters they are written with.
    let cost = cost::traverses_first(arguments.get(1..).unwrap_or(&[]), None);
    bounds::text(
        context,
        usize::try_from(cost).unwrap_or(usize::MAX).saturating_mul(10),
    )?;
    context.work(cost.saturating_mul(100))?;
    let values: Vec<Value<'a>> = list.iter().collect();
    let formatted = format(text, &values).map_err(|error| Fault::error(error.to_string()))?;
    Ok(Value::String(context.arena.str(&formatted)))
}

impl<'a> Argument for Value<'a> {
    fn shape(&self) -> Shape<'_, Self> {
        match self {
            Value::Null => Shape::Null,
            Value::Bool(value) => Shape::Bool(*value),
            Value::Int(value) => Shape::Int(*value),
            Value::Uint(value) => Shape::Uint(*value),
            Value::Double(value) => Shape::Double(*value),
            Value::String(value) => Shape::String(value),
            Value::Bytes(value) => Shape::Bytes(value),
            Value::Timestamp(value) => Shape::Timestamp(*value),
            Value::Duration(value) => Shape::Duration(*value),
            Value::Type(name) => Shape::Type(name),
            Value::List(list) => Shape::List(list.iter().collect()),
            Value::Map(map) => Shape::Map(map.iter().collect()),
            Value::Struct(_) | Value::Optional(_) | Value::Opaque(_) => Shape::Other,
        }
    }

    fn type_name(&self) -> &str {
        Value::type_name(self)
    }
}
