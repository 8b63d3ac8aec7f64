//! Names of decisions in suites.

use serde::de::value::Error;
use serde::de::{DeserializeOwned, IntoDeserializer};

/// The value of an enumeration with a name.
pub(crate) fn from_name<T: DeserializeOwned>(name: &str) -> Option<T> {
    T::deserialize(IntoDeserializer::<Error>::into_deserializer(name)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugin_outcome::PluginOutcome;
    use crate::policy_outcome::PolicyOutcome;
    use pratique_review::ReviewDecision;

    #[track_caller]
    fn check<T: DeserializeOwned>(names: &[&str], name: fn(T) -> &'static str, unknown: &str) {
        let named = names.iter().filter_map(|name| from_name(name));
        assert_eq!(named.map(name).collect::<Vec<_>>(), names);
        assert!(from_name::<T>(unknown).is_none());
    }

    #[test]
    fn names_lead_to_values() {
        check(ReviewDecision::NAMES, ReviewDecision::name, "refused");
        check(PolicyOutcome::NAMES, PolicyOutcome::name, "refused");
        check(PluginOutcome::NAMES, PluginOutcome::name, "denied");
    }
}
