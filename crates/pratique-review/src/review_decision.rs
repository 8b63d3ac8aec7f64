//! The decision on a request.

use pratique::policy::DenialCause;
use pratique::{AdmissionDecision, Outcome};
use serde::{Deserialize, Serialize};

/// The decision on a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReviewDecision {
    /// The request is allowed.
    Allowed,
    /// A rule denies the request: a validation is false, or a binding denies if its params do not exist.
    #[default]
    Denied,
    /// Something failed, and the failure policy denies: an expression, a mutation, the configuration of a policy or a
    /// binding.
    Error,
    /// The evaluation needs an input that nobody gave.
    Undecided,
}

impl ReviewDecision {
    /// The names of all decisions in suites, in their order.
    pub const NAMES: &[&str] = &["allowed", "denied", "error", "undecided"];

    /// The decision of an outcome.
    pub fn from_outcome(outcome: &Outcome) -> Self {
        match (outcome.decision(), outcome.cause) {
            (AdmissionDecision::Allowed, _) => ReviewDecision::Allowed,
            (AdmissionDecision::Undecided, _) => ReviewDecision::Undecided,
            (AdmissionDecision::Denied, Some(DenialCause::Rule)) => ReviewDecision::Denied,
            (AdmissionDecision::Denied, Some(DenialCause::Failure) | None) => ReviewDecision::Error,
        }
    }

    /// The name in suites.
    pub fn name(self) -> &'static str {
        Self::NAMES.get(self as usize).copied().unwrap_or_default()
    }

    /// Whether the response has the status of a denial.
    pub fn denies(self) -> bool {
        matches!(self, ReviewDecision::Denied | ReviewDecision::Error)
    }
}
