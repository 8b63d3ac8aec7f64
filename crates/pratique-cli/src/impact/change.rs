//! How the decision on a request changes.

use pratique_replay::{RequestApproximation, UnknownRequest};
use pratique_report::Decision;
use serde::{Deserialize, Serialize};

use crate::output::text::PrintableText;
use crate::replay::decision::ReplayDecision;
use crate::replay::subject::RequestSubject;

/// How a decision changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum DecisionChange {
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

impl DecisionChange {
    pub(crate) fn compare(old: Decision, new: Decision) -> Self {
        match (old, new) {
            (Decision::Undecided | Decision::Failed, _) | (_, Decision::Undecided | Decision::Failed) => {
                DecisionChange::Undecided
            }
            (Decision::Allowed, Decision::Denied | Decision::Error) => DecisionChange::NewlyRefused,
            (Decision::Allowed, Decision::Accepted) => DecisionChange::Accepted,
            (Decision::Denied | Decision::Error | Decision::Accepted, Decision::Allowed) => {
                DecisionChange::NewlyAllowed
            }
            (Decision::Allowed, Decision::Allowed)
            | (
                Decision::Denied | Decision::Error | Decision::Accepted,
                Decision::Denied | Decision::Error | Decision::Accepted,
            ) => DecisionChange::Same,
        }
    }
}

/// A request with the decisions of both sets of policies.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ImpactRow {
    pub(super) place: String,
    #[serde(flatten)]
    pub(super) subject: RequestSubject,
    pub(super) change: DecisionChange,
    pub(super) old: ReplayDecision,
    pub(super) new: ReplayDecision,
    /// Why the log does not have enough of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unknown: Option<UnknownRequest>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) approximations: Vec<RequestApproximation>,
    /// Whether the object changed while objects were listed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) changed_meanwhile: bool,
    /// Why the new policies refuse it, if that is to be explained.
    #[serde(skip)]
    pub(super) explanation: Option<PrintableText>,
}

impl ImpactRow {
    pub(super) fn new(
        place: String,
        subject: RequestSubject,
        old: ReplayDecision,
        new: ReplayDecision,
    ) -> Self {
        ImpactRow {
            place,
            subject,
            change: DecisionChange::compare(old.decision, new.decision),
            old,
            new,
            unknown: None,
            approximations: Vec::new(),
            changed_meanwhile: false,
            explanation: None,
        }
    }

    pub(super) fn unknown(self, why: UnknownRequest) -> Self {
        ImpactRow {
            unknown: Some(why),
            ..self
        }
    }

    pub(super) fn approximated(self, approximations: Vec<RequestApproximation>) -> Self {
        ImpactRow {
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
            (Allowed, Accepted, DecisionChange::Accepted),
            (Denied, Accepted, DecisionChange::Same),
            (Allowed, Allowed, DecisionChange::Same),
            (Denied, Denied, DecisionChange::Same),
            (Allowed, Denied, DecisionChange::NewlyRefused),
            (Denied, Allowed, DecisionChange::NewlyAllowed),
            (Undecided, Denied, DecisionChange::Undecided),
            (Allowed, Undecided, DecisionChange::Undecided),
            (Undecided, Undecided, DecisionChange::Undecided),
        ] {
            assert_eq!(DecisionChange::compare(old, new), expected, "{old:?} {new:?}");
        }
    }
}
