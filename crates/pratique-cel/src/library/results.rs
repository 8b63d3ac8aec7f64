//! Results of calls, made in the arena of the evaluation.

use crate::context::Context;
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
    /// The work of making an element.
    const ELEMENT: u64 = 16;
    let mut elements = Vec::with_capacity(values.size_hint().0);
    for value in values {
        context.work(ELEMENT)?;
        elements.push(value);
    }
    Ok(list(context, &elements))
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
