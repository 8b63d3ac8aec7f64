//! The results that a memo holds, and their keys.

use std::sync::Arc;

use pratique_cel::value::Evaluation;
use pratique_cel::{Fault, FaultKind};
use pratique_expression::{BoundExpression, InputSet};

use crate::inputs::InputKey;
use pratique_core::UnfinishedEvaluation;

/// The result of an expression.
#[derive(Clone, Debug)]
pub(crate) struct MemoEntry<'s> {
    pub(crate) evaluation: Evaluation<'s>,
    /// Its cost, without that of the variables that it read.
    pub(crate) cost: u64,
    /// The variables that it read, a bit for each that it names.
    pub(crate) reads: u64,
}

/// Identifies an expression together with its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MemoKey {
    expression: ExpressionAddress,
    inputs: u32,
}

/// Identifies an expression that is bound to its variables.
// Equal ones are one, which policies keep for longer than a request: its address is as good as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ExpressionAddress(usize);

impl ExpressionAddress {
    pub(crate) fn new(expression: &Arc<BoundExpression>) -> Self {
        ExpressionAddress(Arc::as_ptr(expression).addr())
    }
}

impl MemoKey {
    /// `None` for inputs whose results are never reused.
    pub(crate) fn new(expression: &Arc<BoundExpression>, inputs: InputKey) -> Option<Self> {
        (inputs != InputKey::UNSHARED).then(|| MemoKey {
            expression: ExpressionAddress::new(expression),
            inputs: inputs.restricted_to(expression.inputs()),
        })
    }

    pub(crate) fn expression(self) -> ExpressionAddress {
        self.expression
    }

    /// Whether an expression with this set of inputs has the key among `inputs`.
    pub(crate) fn has_inputs(self, inputs: InputKey, set: InputSet) -> bool {
        self.inputs == inputs.restricted_to(set)
    }
}

/// Whether a fault says nothing about the expression: its evaluation did not end, or depends on missing input.
pub(crate) fn is_incomplete(fault: &Fault) -> bool {
    matches!(fault.kind(), FaultKind::Unknown(_)) || UnfinishedEvaluation::from_fault(fault).is_some()
}

/// Why a request ends, for a fault that ended more than the evaluation.
pub(crate) fn ended(fault: &Fault) -> UnfinishedEvaluation {
    UnfinishedEvaluation::from_fault(fault).unwrap_or(UnfinishedEvaluation::Interrupted)
}
