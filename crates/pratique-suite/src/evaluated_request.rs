//! The evaluation of a case's request.

use pratique::Outcome;
use pratique_json::Value;
use pratique_types::AdmissionRequest;

use pratique_review::chain::ReviewStep;

/// An evaluation of a case's request.
pub(crate) struct EvaluatedRequest {
    pub(crate) outcome: Outcome,
    pub(crate) request: AdmissionRequest<'static>,
    /// The steps of the chain, if it went through it.
    pub(crate) steps: Vec<ReviewStep>,
    /// The object as it is stored, if it went through the chain.
    pub(crate) stored: Value<'static>,
}
