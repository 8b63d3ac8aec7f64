//! Names of decisions in suites.

use serde::de::value::Error;
use serde::de::{DeserializeOwned, IntoDeserializer};

use pratique_review::Decision;

/// The decisions that a test may expect, in their order. Nothing is accepted in a suite, and a test that cannot be evaluated fails.
const EXPECTABLE: [Decision; 4] = [
    Decision::Allowed,
    Decision::Denied,
    Decision::Error,
    Decision::Undecided,
];

/// The decision with a name, where a test may expect it.
pub(crate) fn expectable_decision(name: &str) -> Option<Decision> {
    EXPECTABLE.into_iter().find(|decision| decision.as_str() == name)
}

/// The value of an enumeration with a name.
pub(crate) fn from_name<T: DeserializeOwned>(name: &str) -> Option<T> {
    T::deserialize(IntoDeserializer::<Error>::into_deserializer(name)).ok()
}

/// The names of the decisions that a test may expect.
#[cfg(test)]
pub(crate) fn expectable_names() -> [&'static str; 4] {
    EXPECTABLE.map(Decision::as_str)
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
        check(PolicyOutcome::NAMES, PolicyOutcome::name, "refused");
        check(PluginOutcome::NAMES, PluginOutcome::name, "denied");
    }

    #[test]
    fn decisions_that_no_test_has_cannot_be_expected() {
        for decision in EXPECTABLE {
            assert_eq!(expectable_decision(decision.as_str()), Some(decision));
        }
        for decision in [Decision::Accepted, Decision::Failed] {
            assert_eq!(expectable_decision(decision.as_str()), None);
        }
        assert_eq!(expectable_decision("refused"), None);
    }
}
