//! Decisions on requests, expected and actual.

use pratique::policy::DenialCause;
use pratique::{AdmissionDecision, Outcome};
use serde::de::value::Error;
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::{Deserialize, Serialize};

/// The decision on a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    /// The names of all decisions in suites, in their order.
    pub(crate) const NAMES: &[&str] = &["allowed", "denied", "error", "undecided"];

    /// The decision of an outcome.
    pub fn of(outcome: &Outcome) -> Self {
        match (outcome.decision(), outcome.cause) {
            (AdmissionDecision::Allowed, _) => Decision::Allowed,
            (AdmissionDecision::Undecided, _) => Decision::Undecided,
            (AdmissionDecision::Denied, Some(DenialCause::Rule)) => Decision::Denied,
            (AdmissionDecision::Denied, Some(DenialCause::Failure) | None) => Decision::Error,
        }
    }

    /// The name in suites.
    pub fn name(self) -> &'static str {
        Self::NAMES.get(self as usize).copied().unwrap_or_default()
    }

    /// Whether the response has the status of a denial.
    pub fn denies(self) -> bool {
        matches!(self, Decision::Denied | Decision::Error)
    }
}

/// The value of an enumeration with a name.
pub(crate) fn from_name<T: DeserializeOwned>(name: &str) -> Option<T> {
    T::deserialize(IntoDeserializer::<Error>::into_deserializer(name)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugin_outcome::PluginOutcome;
    use crate::policy_outcome::PolicyOutcome;

    #[track_caller]
    fn check<T: DeserializeOwned>(names: &[&str], name: fn(T) -> &'static str, unknown: &str) {
        let named = names.iter().filter_map(|name| from_name(name));
        assert_eq!(named.map(name).collect::<Vec<_>>(), names);
        assert!(from_name::<T>(unknown).is_none());
    }

    #[test]
    fn names_lead_to_values() {
        check(Decision::NAMES, Decision::name, "refused");
        check(PolicyOutcome::NAMES, PolicyOutcome::name, "refused");
        check(PluginOutcome::NAMES, PluginOutcome::name, "denied");
    }
}
