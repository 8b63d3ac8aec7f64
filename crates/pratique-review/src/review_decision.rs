//! The decision of an outcome, with what a server does not say: whether a denial is for a failure.

use pratique::policy::DenialCause;
use pratique::{AdmissionDecision, Outcome};
use pratique_report::Decision;

/// The decision of an outcome: where it is denied since something failed, it is an [error](Decision::Error).
pub fn read_decision(outcome: &Outcome) -> Decision {
    match (outcome.decision(), outcome.cause) {
        (AdmissionDecision::Allowed, _) => Decision::Allowed,
        (AdmissionDecision::Undecided, _) => Decision::Undecided,
        (AdmissionDecision::Denied, Some(DenialCause::Rule)) => Decision::Denied,
        (AdmissionDecision::Denied, Some(DenialCause::Failure) | None) => Decision::Error,
    }
}
