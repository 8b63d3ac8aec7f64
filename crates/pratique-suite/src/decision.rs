//! What is decided on a request: what tests expect, and what comes of them.

use pratique::policy::DenialCause;
use pratique::{AdmissionDecision, Outcome};
use serde::Serialize;

/// What is decided on a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It is let in.
    Allowed,
    /// A rule says no: a validation evaluated to false, or a binding denies where its params do not exist.
    #[default]
    Denied,
    /// Something failed, and failures deny: an expression, a mutation, the configuration of a policy or a binding.
    Error,
    /// The evaluation needs something that the test does not give.
    Undecided,
}

impl Decision {
    /// All decisions, as suites name them.
    pub(crate) const NAMES: &[&str] = &["allowed", "denied", "error", "undecided"];
    const ALL: [Decision; 4] = [
        Decision::Allowed,
        Decision::Denied,
        Decision::Error,
        Decision::Undecided,
    ];

    /// What came of a request.
    pub(crate) fn of(outcome: &Outcome) -> Self {
        match (outcome.decision(), outcome.cause) {
            (AdmissionDecision::Allowed, _) => Decision::Allowed,
            (AdmissionDecision::Undecided, _) => Decision::Undecided,
            (AdmissionDecision::Denied, Some(DenialCause::Rule)) => Decision::Denied,
            (AdmissionDecision::Denied, Some(DenialCause::Failure) | None) => Decision::Error,
        }
    }

    /// The decision that a suite names; none if there is no such.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|decision| decision.name() == name)
    }

    /// How suites name it.
    pub fn name(self) -> &'static str {
        match self {
            Decision::Allowed => "allowed",
            Decision::Denied => "denied",
            Decision::Error => "error",
            Decision::Undecided => "undecided",
        }
    }

    /// Whether the user gets the status of a denial.
    pub fn denies(self) -> bool {
        matches!(self, Decision::Denied | Decision::Error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_decisions() {
        let named: Vec<_> = Decision::NAMES
            .iter()
            .filter_map(|name| Decision::from_name(name))
            .collect();
        assert_eq!(named, Decision::ALL);
        assert_eq!(Decision::from_name("refused"), None);
    }
}
