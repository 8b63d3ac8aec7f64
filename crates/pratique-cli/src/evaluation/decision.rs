//! What was decided about an object.

use pratique::AdmissionDecision;
use serde::Serialize;

/// A decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Decision {
    Allowed,
    Denied,
    Undecided,
    /// A server denies it, and all of the findings that deny it are accepted.
    Accepted,
}

impl From<AdmissionDecision> for Decision {
    fn from(decision: AdmissionDecision) -> Self {
        match decision {
            AdmissionDecision::Allowed => Decision::Allowed,
            AdmissionDecision::Denied => Decision::Denied,
            AdmissionDecision::Undecided => Decision::Undecided,
        }
    }
}

impl Decision {
    /// The decision as it is written.
    pub(crate) fn as_str(self) -> &'static str {
        pratique_report::Decision::from(self).as_str()
    }
}
