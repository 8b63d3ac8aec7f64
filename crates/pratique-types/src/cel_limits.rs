//! How much CEL may cost, in the units of an API server.
// Upstream: apiserver/pkg/apis/cel/config.go

/// The cost that one evaluation of one expression may have.
// Upstream: PerCallLimit
pub const PER_CALL_LIMIT: u64 = 1_000_000;

/// The cost that may be had together: by all validations of a policy for one binding and param, by its annotations, by
/// all rules over a custom resource.
// Upstream: RuntimeCELCostBudget
pub const RUNTIME_BUDGET: u64 = 10_000_000;

/// The cost that the match conditions of a policy or a webhook may have together.
// Upstream: RuntimeCELCostBudgetMatchConditions
pub const MATCH_CONDITIONS_BUDGET: u64 = 2_500_000;

/// The longest message, in bytes, that the expression of a message may give.
// Upstream: MaxEvaluatedMessageExpressionSizeBytes
pub const MAX_MESSAGE_BYTES: usize = 5 * 1024;

/// Why a server does not use the text that the expression of a message gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MessageFault {
    /// There is nothing in it.
    Empty,
    /// It has more than one line.
    SeveralLines,
    /// It has too many bytes.
    TooLong,
}

/// The text of a message as the user gets it, or why the server takes another in its place.
// Upstream: plugin/policy/validating/validator.go, Validate
pub fn read_message(text: &str) -> Result<&str, MessageFault> {
    match text.trim() {
        "" => Err(MessageFault::Empty),
        text if text.len() > MAX_MESSAGE_BYTES => Err(MessageFault::TooLong),
        text if text.contains('\n') => Err(MessageFault::SeveralLines),
        text => Ok(text),
    }
}
