//! How the decision on a request changes.

use pratique_replay::{Approximation, Unknown};
use serde::{Deserialize, Serialize};

use crate::evaluation::decision::Decision;
use crate::output::text::Text;
use crate::replay::decision::ReplayDecision;
use crate::replay::subject::Subject;

/// How a decision changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Change {
    /// The decision is the same.
    Same,
    /// The request is allowed by the old policies, and refused by the new ones.
    NewlyRefused,
    /// The same, where all that refuses it is accepted.
    Accepted,
    /// The request is refused by the old policies, and allowed by the new ones.
    NewlyAllowed,
    /// One of the decisions depends on something that is not known.
    Undecided,
}

impl Change {
    pub(crate) fn compare(old: Decision, new: Decision) -> Self {
        match (old, new) {
            (Decision::Undecided, _) | (_, Decision::Undecided) => Change::Undecided,
            (Decision::Allowed, Decision::Denied) => Change::NewlyRefused,
            (Decision::Allowed, Decision::Accepted) => Change::Accepted,
            (Decision::Denied | Decision::Accepted, Decision::Allowed) => Change::NewlyAllowed,
            (Decision::Allowed, Decision::Allowed)
            | (Decision::Denied | Decision::Accepted, Decision::Denied | Decision::Accepted) => Change::Same,
        }
    }
}

/// A request with the decisions of both sets of policies.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Row {
    pub(super) place: String,
    #[serde(flatten)]
    pub(super) subject: Subject,
    pub(super) change: Change,
    pub(super) old: ReplayDecision,
    pub(super) new: ReplayDecision,
    /// Why the log does not have enough of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unknown: Option<Unknown>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) approximations: Vec<Approximation>,
    /// Whether the object changed while objects were listed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) changed_meanwhile: bool,
    /// Why the new policies refuse it, if that is to be explained.
    #[serde(skip)]
    pub(super) explanation: Option<Text>,
}

impl Row {
    pub(super) fn new(place: String, subject: Subject, old: ReplayDecision, new: ReplayDecision) -> Self {
        Row {
            place,
            subject,
            change: Change::compare(old.decision, new.decision),
            old,
            new,
            unknown: None,
            approximations: Vec::new(),
            changed_meanwhile: false,
            explanation: None,
        }
    }

    pub(super) fn unknown(self, why: Unknown) -> Self {
        Row {
            unknown: Some(why),
            ..self
        }
    }

    pub(super) fn approximated(self, approximations: Vec<Approximation>) -> Self {
        Row {
            approximations,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_undecided_changes_nothing_for_certain() {
        use Decision::{Accepted, Allowed, Denied, Undecided};
        for (old, new, expected) in [
            (Allowed, Accepted, Change::Accepted),
            (Denied, Accepted, Change::Same),
            (Allowed, Allowed, Change::Same),
            (Denied, Denied, Change::Same),
            (Allowed, Denied, Change::NewlyRefused),
            (Denied, Allowed, Change::NewlyAllowed),
            (Undecided, Denied, Change::Undecided),
            (Allowed, Undecided, Change::Undecided),
            (Undecided, Undecided, Change::Undecided),
        ] {
            assert_eq!(Change::compare(old, new), expected, "{old:?} {new:?}");
        }
    }
}
