//! Decisions on requests, expected and actual.

use pratique::policy::DenialCause;
use pratique::{AdmissionDecision, Outcome};
use serde::Serialize;

/// The decision on a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// The request is allowed.
    Allowed,
    /// A rule denies the request: a validation is false, or a binding denies if its params do not exist.
    #[default]
    Denied,
    /// Something failed, and the failure policy denies: an expression, a mutation, the configuration of a policy or a
    /// binding.
    Error,
    /// The evaluation needs an input that the test does not give.
    Undecided,
}

impl Decision {
    /// The names of all decisions in suites.
    pub(crate) const NAMES: &[&str] = &["allowed", "denied", "error", "undecided"];
    const ALL: [Decision; 4] = [
        Decision::Allowed,
        Decision::Denied,
        Decision::Error,
        Decision::Undecided,
    ];

    /// The decision of an outcome.
    pub fn of(outcome: &Outcome) -> Self {
        match (outcome.decision(), outcome.cause) {
            (AdmissionDecision::Allowed, _) => Decision::Allowed,
            (AdmissionDecision::Undecided, _) => Decision::Undecided,
            (AdmissionDecision::Denied, Some(DenialCause::Rule)) => Decision::Denied,
            (AdmissionDecision::Denied, Some(DenialCause::Failure) | None) => Decision::Error,
        }
    }

    /// The decision with a name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|decision| decision.name() == name)
    }

    /// The name in suites.
    pub fn name(self) -> &'static str {
        match self {
            Decision::Allowed => "allowed",
            Decision::Denied => "denied",
            Decision::Error => "error",
            Decision::Undecided => "undecided",
        }
    }

    /// Whether the response has the status of a denial.
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
