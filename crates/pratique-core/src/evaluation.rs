//! Evaluating one expression: its limits, and the faults that end the evaluation of the whole request.

use pratique_cel::{Fault, FaultKind, Stop};
use pratique_expression::{Expression, ExpressionError, MissingDependency};

/// The message of an exhausted budget.
// Upstream: pkg/admission/plugin/cel/activation.go, Evaluate
pub const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// Why an evaluation ended without a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnfinishedEvaluation {
    /// An authorization check has no answer yet, or params are still to be looked up: evaluate again once they are known.
    #[error("an authorization check is pending")]
    Pending,
    /// The caller interrupted the evaluation.
    #[error("interrupted")]
    Interrupted,
    /// Expressions hold more memory than the request may have.
    #[error("evaluating policies takes more memory than a request may have")]
    MemoryLimit,
    /// The memory that requests share is exhausted.
    #[error("no memory is left for evaluating policies")]
    MemoryBudget,
}

/// Why the expressions of a policy or a webhook are not evaluated further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvaluationHalt {
    /// Their budget is exhausted.
    OutOfBudget,
    /// The evaluation of the request ended.
    Unfinished(UnfinishedEvaluation),
    /// An expression depends on missing input. Later expressions can still be evaluated.
    Undecided(Box<MissingDependency>),
}

impl From<UnfinishedEvaluation> for EvaluationHalt {
    fn from(unfinished: UnfinishedEvaluation) -> Self {
        EvaluationHalt::Unfinished(unfinished)
    }
}

impl UnfinishedEvaluation {
    /// The reason, for a fault that ends the evaluation of the request, and not only that of an expression.
    pub fn from_fault(fault: &Fault) -> Option<Self> {
        match fault.kind() {
            FaultKind::Stopped(Stop::Pending) => Some(UnfinishedEvaluation::Pending),
            FaultKind::Stopped(Stop::Interrupted) => Some(UnfinishedEvaluation::Interrupted),
            FaultKind::Stopped(Stop::MemoryLimit) => Some(UnfinishedEvaluation::MemoryLimit),
            FaultKind::Stopped(Stop::MemoryBudget) => Some(UnfinishedEvaluation::MemoryBudget),
            _ => None,
        }
    }
}

impl EvaluationHalt {
    /// The reason, for a fault that is not an error of the expression. `namespace` is that of the request.
    pub fn from_fault(fault: &Fault, namespace: &str) -> Option<Self> {
        match fault.kind() {
            FaultKind::Unknown(unknown) => Some(EvaluationHalt::Undecided(Box::new(
                MissingDependency::from_unknown(unknown, namespace),
            ))),
            _ => UnfinishedEvaluation::from_fault(fault).map(EvaluationHalt::Unfinished),
        }
    }
}

/// The message for an expression that does not compile.
// Upstream: pkg/admission/plugin/cel/activation.go, Evaluate
pub fn compilation_error(error: &ExpressionError) -> String {
    format!("compilation error: {error}")
}

/// The message for an expression whose evaluation failed.
// Upstream: pkg/admission/plugin/cel/activation.go, Evaluate
pub fn evaluation_error(expression: &Expression, fault: &Fault) -> String {
    format!(
        "expression '{}' resulted in error: {fault}",
        expression.source_text()
    )
}
