//! What was decided about an object.

use pratique::AdmissionDecision;
use serde::Serialize;

/// A decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RequestDecision {
    Allowed,
    Denied,
    Undecided,
    /// A server denies it, and all of the findings that deny it are accepted.
    Accepted,
}

impl From<AdmissionDecision> for RequestDecision {
    fn from(decision: AdmissionDecision) -> Self {
        match decision {
            AdmissionDecision::Allowed => RequestDecision::Allowed,
            AdmissionDecision::Denied => RequestDecision::Denied,
            AdmissionDecision::Undecided => RequestDecision::Undecided,
        }
    }
}

impl RequestDecision {
    /// The decision as it is written.
    pub(crate) fn as_str(self) -> &'static str {
        pratique_report::Decision::from(self).as_str()
    }
}
