//! The result of a review.

use pratique::Outcome;
use pratique::api_objects::Defaults;
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
    /// What a server set in the object, if that is shown.
    pub(super) defaults: Vec<Defaults>,
    /// Whether the server itself refuses the request.
    pub(super) is_refused: bool,
    /// The explanation, if requested.
    pub(super) explanation: Option<Explanation>,
    /// The exchanges with webhooks, if they were called.
    pub(super) webhooks: Vec<Exchange>,
}
