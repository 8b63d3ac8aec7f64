//! The elements of a list while a comprehension gathers them.

use crate::context::Context;
use crate::value::Value;

/// Elements that were gathered so far.
///
/// Mostly they are put where they stay. A filter over many elements may pass few of them, and runs often where it is
/// within another comprehension: its elements are copied there once they are known.
pub(super) enum Gathered<'a> {
    Placed { room: &'a mut [Value<'a>], len: usize },
    Apart(Vec<Value<'a>>),
}

/// Up to so many elements there is room for all that a filter may pass.
const FEW: usize = 16;

impl<'a> Gathered<'a> {
    /// For at most so many elements; with a filter perhaps fewer.
    pub(super) fn new(context: &Context<'a>, most: usize, filtered: bool) -> Self {
        match filtered && most > FEW {
            true => Gathered::Apart(Vec::new()),
            false => Gathered::Placed {
                room: context.arena.filled(most, Value::Null),
                len: 0,
            },
        }
    }

    #[inline]
    pub(super) fn push(&mut self, value: Value<'a>) {
        match self {
            Gathered::Placed { room, len } => match room.get_mut(*len) {
                Some(place) => {
                    *place = value;
                    *len += 1;
                }
                None => self.push_beyond(value),
            },
            Gathered::Apart(values) => values.push(value),
        }
    }

    /// Elements may cost less than was thought: the reference gives some of their cost back.
    #[cold]
    fn push_beyond(&mut self, value: Value<'a>) {
        let mut values = match self {
            Gathered::Placed { room, .. } => room.to_vec(),
            Gathered::Apart(values) => std::mem::take(values),
        };
        values.push(value);
        *self = Gathered::Apart(values);
    }

    pub(super) fn done(self, context: &Context<'a>) -> &'a [Value<'a>] {
        match self {
            Gathered::Placed { room, len } => room.get(..len).unwrap_or_default(),
            Gathered::Apart(values) => context.arena.slice(&values),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Arena;

    #[test]
    fn nothing_that_is_gathered_is_lost() {
        let arena = Arena::new();
        let context = Context::new(&arena, 0);
        for (most, filtered) in [(0, false), (3, false), (5, true), (FEW + 1, true)] {
            let mut gathered = Gathered::new(&context, most, filtered);
            (0..10).for_each(|number| gathered.push(Value::Int(number)));
            let numbers = gathered.done(&context).iter().map(|value| match value {
                Value::Int(number) => *number,
                _ => -1,
            });
            assert!(numbers.eq(0..10), "{most} {filtered}");
        }
    }
}
