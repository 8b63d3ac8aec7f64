//! Results of calls, made in the arena of the evaluation.

use crate::context::Context;
use crate::error::Fault;
use crate::value::{Evaluation, List, Value};

/// A list of values.
pub(super) fn list<'a>(context: &Context<'a>, elements: &[Value<'a>]) -> Value<'a> {
    Value::List(List::Values(context.arena.slice(elements)))
}

/// A list of values, of which there may be millions.
///
/// # Errors
/// The evaluation was stopped.
pub(super) fn collected<'a>(
    context: &Context<'a>,
    values: impl Iterator<Item = Value<'a>>,
) -> Evaluation<'a> {
    Ok(list(context, &collect(context, values)?))
}

/// A list of texts, of which there may be millions.
///
/// # Errors
/// The evaluation was stopped.
///
/// Upstream: cel-go/common/types/list.go, NewStringList
pub(super) fn texts<'a>(context: &Context<'a>, texts: impl Iterator<Item = &'a str>) -> Evaluation<'a> {
    let elements = collect(context, texts.map(Value::String))?;
    Ok(Value::List(List::Texts(context.arena.slice(&elements))))
}

fn collect<'a>(
    context: &Context<'a>,
    values: impl Iterator<Item = Value<'a>>,
) -> Result<Vec<Value<'a>>, Fault> {
    /// The work of making an element.
    const ELEMENT: u64 = 16;
    let mut elements = Vec::with_capacity(values.size_hint().0);
    for value in values {
        context.work(ELEMENT)?;
        elements.push(value);
    }
    Ok(elements)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Arena;
    use crate::interrupt::Interrupt;

    #[test]
    fn long_lists_are_interrupted() {
        let interrupt = Interrupt::new();
        interrupt.set();
        let arena = Arena::new();
        let context = Context::new(&arena, 0).with_interrupt(&interrupt);
        let mut made = 0;
        let numbers = (0..1_000_000).map(|number| {
            made = number;
            Value::Int(number)
        });
        assert!(collected(&context, numbers).is_err_and(|fault| fault.is_stop()));
        assert!(made < 100_000, "{made} were made");
    }
}
