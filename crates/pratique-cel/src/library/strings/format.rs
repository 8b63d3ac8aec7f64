//! `string.format`, bound to values.

use std::cell::RefCell;

use super::super::bounds;
use crate::context::Context;
use crate::cost;
use crate::error::Fault;
use crate::text::format::{Argument, Shape, format};
use crate::value::{Evaluation, Value};

pub(super) fn call<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let [Value::String(text), Value::List(list)] = arguments else {
        return Err(Fault::no_such_overload());
    };
    // Walking over the arguments costs a tenth of the characters they are written with.
    let cost = cost::walk(context, arguments.get(1))?;
    bounds::text(
        context,
        usize::try_from(cost).unwrap_or(usize::MAX).saturating_mul(10),
    )?;
    let stopped = RefCell::new(Ok(()));
    let counted = |value| Counted {
        value,
        context,
        stopped: &stopped,
    };
    let values: Vec<Counted<'_, 'a>> = list.iter().map(counted).collect();
    let formatted = format(text, &values);
    drop(values);
    stopped.into_inner()?;
    let formatted = formatted.map_err(|error| Fault::error(error.to_string()))?;
    Ok(Value::String(context.arena.str(&formatted)))
}

/// A value that counts its parts while they are written.
struct Counted<'c, 'a> {
    value: Value<'a>,
    context: &'c Context<'a>,
    /// Whether the evaluation is to go on; else what was written is of no use.
    stopped: &'c RefCell<Result<(), Fault>>,
}

impl<'c, 'a> Counted<'c, 'a> {
    fn part(&self, value: Value<'a>) -> Self {
        Counted { value, ..*self }
    }

    /// Whether to go on with the value.
    fn count(&self) -> bool {
        /// What writing a value counts for, besides its text.
        const VALUE: u64 = 50;
        let size = match &self.value {
            Value::String(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            Value::List(list) => list.len(),
            Value::Map(map) => map.len(),
            _ => 0,
        };
        self.work(VALUE.saturating_add(size as u64))
    }

    fn work(&self, units: u64) -> bool {
        let counted = self.context.work(units);
        let goes_on = counted.is_ok();
        if !goes_on {
            *self.stopped.borrow_mut() = counted;
        }
        goes_on
    }
}

impl Argument for Counted<'_, '_> {
    fn shape(&self) -> Shape<'_, Self> {
        match &self.value {
            _ if !self.count() => Shape::Null,
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
            Value::List(list) => Shape::List(list.iter().map(|part| self.part(part)).collect()),
            Value::Map(map) => {
                let entries = map.iter();
                Shape::Map(
                    entries
                        .map(|(key, value)| (self.part(key), self.part(value)))
                        .collect(),
                )
            }
            Value::Struct(_) | Value::Optional(_) | Value::Opaque(_) => Shape::Other,
        }
    }

    fn type_name(&self) -> &str {
        self.value.type_name()
    }

    fn moves(&self, bytes: usize) -> bool {
        self.work(bytes as u64)
    }
}
