//! The costs of calls, as functions declare them.

use super::range::Range;
use crate::value::Value;

/// The cost of a call from its arguments and its result; `result` is `None` where the call gave an error, and an
/// argument null where it was one.
pub type CostFn = for<'a> fn(arguments: &[Value<'a>], result: Option<&Value<'a>>) -> u64;

/// The estimated cost of a call from the sizes of its arguments, the receiver's first; [`Range::UNKNOWN`] where a size
/// is not known.
pub type EstimateFn = fn(sizes: &[Range]) -> CallCost;

/// The type that an argument must have for the cost of a call to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostNeed {
    /// A list.
    List,
    /// A signed integer.
    Int,
}

/// The estimated cost of a call, and the size of its result where that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallCost {
    /// The cost of the call, without that of its arguments.
    pub cost: Range,
    /// The size of the result.
    pub result: Option<Range>,
}

impl CallCost {
    /// A cost, of a call whose result has any size.
    pub fn new(cost: Range) -> Self {
        CallCost { cost, result: None }
    }

    /// The same cost, with the size of the result.
    pub fn giving(self, size: Range) -> Self {
        CallCost {
            result: Some(size),
            ..self
        }
    }
}
