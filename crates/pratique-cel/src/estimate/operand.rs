//! Calls and their operands, as the estimates of all libraries see them.

use crate::ast::ExprId;
use crate::cost::Range;
use crate::types::Type;

/// Where a value stands in the declared variables: `["object", "spec", "containers", "@items"]`. It has no root where
/// the value is part of what the expression made.
pub(super) type OperandPath = Vec<String>;

/// The path of a part of the value at a path.
pub(super) fn below(mut path: OperandPath, step: &str) -> OperandPath {
    path.push(step.to_owned());
    path
}

/// An operand of a call, with its size and cost as far as they are known.
#[derive(Clone)]
pub(super) struct EstimatedOperand<'c> {
    pub(super) id: ExprId,
    pub(super) of: &'c Type,
    pub(super) path: OperandPath,
    pub(super) known: Option<Range>,
    pub(super) cost: Range,
}

/// A call by one of the overloads that it may be of.
pub(super) struct EstimatedCall<'o, 'c> {
    pub(super) function: &'o str,
    pub(super) overload: &'o str,
    pub(super) target: Option<&'o EstimatedOperand<'c>>,
    pub(super) args: &'o [EstimatedOperand<'c>],
}

/// The cost of traversing a string, per character.
pub(super) const PER_CHARACTER: f64 = 0.1;
/// The cost of matching a pattern, per character of it, times the cost of traversing the text.
pub(super) const PER_PATTERN_CHARACTER: f64 = 0.25;

impl EstimatedOperand<'_> {
    pub(super) fn size(&self) -> Range {
        self.known.unwrap_or(Range::UNKNOWN)
    }

    /// The cost of traversing it as a string.
    pub(super) fn traversal(&self) -> Range {
        self.size().scaled(PER_CHARACTER)
    }
}

/// The cost of making a list, apart from its elements.
pub(super) const NEW_LIST: Range = Range::exactly(10);

/// The cost of matching a text with a pattern; an empty text counts as one character.
pub(super) fn matching(text: &EstimatedOperand<'_>, pattern: &EstimatedOperand<'_>) -> Range {
    let text = text.size().plus(Range::exactly(1)).scaled(PER_CHARACTER);
    text.times(pattern.size().scaled(PER_PATTERN_CHARACTER))
}
