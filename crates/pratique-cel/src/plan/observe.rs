//! Observation of evaluations.

use crate::ast::ExprId;
use crate::value::Evaluation;

/// Receives the value of each subexpression as it is evaluated.
pub trait EvaluationObserver {
    /// Whether values are observed at all. Without, evaluations spend nothing on it.
    const ACTIVE: bool = true;

    /// Called with the value of a subexpression. Those in comprehensions are observed once for each element.
    fn observe(&mut self, expression: ExprId, value: &Evaluation<'_>);
}

/// The observer of evaluations that are not observed.
#[derive(Clone, Copy, Debug)]
pub struct UnobservedRun;

impl EvaluationObserver for UnobservedRun {
    const ACTIVE: bool = false;

    fn observe(&mut self, _: ExprId, _: &Evaluation<'_>) {}
}
