//! The failure policy of policies and webhooks.

use crate::conditions::OnConditionError;

/// How errors of a policy or a webhook are handled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailurePolicy {
    /// The request is refused.
    Fail,
    /// Errors are ignored.
    Ignore,
    /// A name that no API server accepts, as an object stored by another version may have.
    Unknown(String),
}

impl FailurePolicy {
    /// The failure policy of a name; `Fail` without one.
    pub fn parse(name: Option<&str>) -> Self {
        match name {
            None | Some("Fail") => FailurePolicy::Fail,
            Some("Ignore") => FailurePolicy::Ignore,
            Some(other) => FailurePolicy::Unknown(other.to_owned()),
        }
    }

    /// Whether errors are ignored.
    pub fn ignores(&self) -> bool {
        *self == FailurePolicy::Ignore
    }

    /// How errors of match conditions are handled.
    // Upstream: pkg/admission/plugin/webhook/matchconditions/matcher.go, Match
    pub fn on_condition_error(&self) -> OnConditionError {
        match self {
            FailurePolicy::Fail => OnConditionError::Fail,
            FailurePolicy::Ignore => OnConditionError::Exclude,
            FailurePolicy::Unknown(_) => OnConditionError::Match,
        }
    }
}
