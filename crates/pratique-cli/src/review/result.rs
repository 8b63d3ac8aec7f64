//! The result of a review.

use pratique::Outcome;
use pratique::api_objects::Defaults;
use pratique_explain::Explanation;

use super::chain::Step;
use super::decisions::PolicyDecision;
use super::exchange::Exchange;
use super::received::InputRequest;

/// A request and its outcome.
pub(super) struct ReviewResult<'q> {
    pub(super) input: &'q InputRequest<'q>,
    /// The decisions of policies, in order.
    pub(super) decisions: Vec<PolicyDecision>,
    pub(super) outcome: Outcome,
    /// The fields that a server set in the object, if they are shown.
    pub(super) defaults: Vec<Defaults>,
    /// Whether the server itself refuses the request.
    pub(super) is_refused: bool,
    /// The explanation, if requested.
    pub(super) explanation: Option<Explanation>,
    /// The steps of the chain, if it was run.
    pub(super) steps: Option<Vec<Step>>,
    /// The exchanges with webhooks, if they were called.
    pub(super) webhooks: Vec<Exchange>,
}

impl ReviewResult<'_> {
    /// The plugin that refuses the request, where the whole chain was run.
    pub(super) fn refused_by(&self) -> Option<&str> {
        self.steps.as_ref().and(self.outcome.refused_by.as_deref())
    }
}
