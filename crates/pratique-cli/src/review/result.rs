//! The result of a review.

use pratique::Outcome;
use pratique::api_objects::Defaults;
use pratique_explain::Explanation;
use serde::Serialize;

use super::chain::Step;
use super::decisions::PolicyDecision;
use super::exchange::Exchange;
use super::received::InputRequest;
use super::record::Decision;

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
    /// The Pods that the object makes, if they are reviewed.
    pub(super) pods: Vec<MadePod>,
    /// Whether it is known that no policy matches the request.
    pub(super) is_unmatched: bool,
    /// The explanation, if requested.
    pub(super) explanation: Option<Explanation>,
    /// The steps of the chain, if it was run.
    pub(super) steps: Option<Vec<Step>>,
    /// The exchanges with webhooks, if they were called.
    pub(super) webhooks: Vec<Exchange>,
}

/// The decision on a Pod that a workload makes.
#[derive(Clone, Debug, Serialize)]
pub(super) struct MadePod {
    /// Its name, or the start of the name that a server generates.
    pub(super) name: String,
    pub(super) decision: Decision,
}

impl MadePod {
    pub(super) fn of(result: &ReviewResult<'_>) -> Self {
        MadePod {
            name: result.input.name().to_owned(),
            decision: result.outcome.decision().into(),
        }
    }

    pub(super) fn is_allowed(&self) -> bool {
        self.decision == Decision::Allowed
    }
}

impl ReviewResult<'_> {
    /// The plugin that refuses the request, where the whole chain was run.
    pub(super) fn refused_by(&self) -> Option<&str> {
        self.steps.as_ref().and(self.outcome.refused_by.as_deref())
    }
}
