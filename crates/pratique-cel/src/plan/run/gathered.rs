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
            Gathered::Placed { room, len } => {
                if let Some(place) = room.get_mut(*len) {
                    *place = value;
                    *len += 1;
                }
            }
            Gathered::Apart(values) => values.push(value),
        }
    }

    pub(super) fn done(self, context: &Context<'a>) -> &'a [Value<'a>] {
        match self {
            Gathered::Placed { room, len } => room.get(..len).unwrap_or_default(),
            Gathered::Apart(values) => context.arena.slice(&values),
        }
    }
}
