//! The result of a review.

use pratique::Outcome;
use pratique_explain::Explanation;

use super::decisions::PolicyDecision;
use super::exchange::Exchange;
use super::received::InputRequest;

/// A request and its outcome.
pub(super) struct ReviewResult<'q> {
    pub(super) input: &'q InputRequest<'q>,
    /// What policies decided, in order.
    pub(super) decisions: Vec<PolicyDecision>,
    pub(super) outcome: Outcome,
    /// The explanation, if requested.
    pub(super) explanation: Option<Explanation>,
    /// The exchanges with webhooks, if they were called.
    pub(super) webhooks: Vec<Exchange>,
}
