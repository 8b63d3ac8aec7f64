//! `string.format`, bound to values.

mod argument;
mod nested_values;
#[cfg(test)]
mod tests;

use argument::{FormatRefusal, write};

use super::super::arguments::{list, string};
use super::super::bounds;
use crate::context::Context;
use crate::cost;
use crate::error::Fault;
use crate::text::format::{FormatError, interpolate};
use crate::value::{Evaluation, Value};

pub(super) fn call<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let (text, values) = (string(arguments, 0)?, list(arguments, 1)?);
    // Walking over the arguments costs a tenth of the characters they are written with.
    let cost = cost::walk(context, arguments.get(1))?;
    bounds::check_text(
        context,
        usize::try_from(cost).unwrap_or(usize::MAX).saturating_mul(10),
    )?;
    let mut formatted = String::with_capacity(text.len());
    let outcome = interpolate(text, values.len(), &mut formatted, |clause, index, out| {
        values
            .get(index)
            .map_or(Ok(()), |value| write(context, out, clause, &value))
    });
    match outcome {
        Ok(_) => Ok(Value::String(context.arena.str(&formatted))),
        Err(FormatError::Argument(FormatRefusal::Stopped(stop))) => Err(stop),
        Err(error) => Err(Fault::from_display(error)),
    }
}
