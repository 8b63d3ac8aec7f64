//! Looking on while an expression is evaluated.

use crate::ast::ExprId;
use crate::value::Evaluation;

/// Somebody who wants to know the value of each expression within an expression, as it is evaluated.
pub trait Observer {
    /// Whether it wants to know at all: where it does not, it costs nothing.
    const ACTIVE: bool = true;

    /// Takes note of a value. Expressions in comprehensions are seen once for each element.
    fn observe(&mut self, expression: ExprId, value: &Evaluation<'_>);
}

/// Nobody.
#[derive(Clone, Copy, Debug)]
pub struct Unobserved;

impl Observer for Unobserved {
    const ACTIVE: bool = false;

    fn observe(&mut self, _: ExprId, _: &Evaluation<'_>) {}
}
