//! Comparison of the decision of now with the recorded one.

use std::fmt::{self, Display, Formatter};

use pratique_replay::{RecordedOutcome, RefusedBy};
use serde::{Deserialize, Serialize};

use pratique_report::Decision;

/// How the decision of now compares with the recorded one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum DecisionComparison {
    /// It is the same.
    Same,
    /// The request was carried out, or it is not known what came of it, and it is refused now.
    RefusedNow,
    /// The same, where all that refuses it is accepted.
    Accepted,
    /// A policy refused the request, and it is allowed now.
    AllowedNow,
    /// Something that is not evaluated refused the request, or it failed.
    NotCompared,
    /// The decision of now depends on something that is not known.
    Undecided,
}

impl DecisionComparison {
    pub(super) fn new(then: &RecordedOutcome, now: Decision) -> Self {
        match (then, now) {
            // Whatever is decided now, the request failed for another reason, mostly before policies had a say.
            (RecordedOutcome::Failed { .. }, _) => DecisionComparison::NotCompared,
            (_, Decision::Undecided | Decision::Failed) => DecisionComparison::Undecided,
            (RecordedOutcome::Allowed, Decision::Allowed)
            | (RecordedOutcome::Refused(_), Decision::Denied | Decision::Error | Decision::Accepted) => {
                DecisionComparison::Same
            }
            (RecordedOutcome::Allowed | RecordedOutcome::Unknown, Decision::Denied | Decision::Error) => {
                DecisionComparison::RefusedNow
            }
            (RecordedOutcome::Allowed | RecordedOutcome::Unknown, Decision::Accepted) => {
                DecisionComparison::Accepted
            }
            (RecordedOutcome::Refused(refusal), Decision::Allowed)
                if refusal.by.is_policy() || refusal.by == RefusedBy::Recorded =>
            {
                DecisionComparison::AllowedNow
            }
            (RecordedOutcome::Refused(_) | RecordedOutcome::Unknown, Decision::Allowed) => {
                DecisionComparison::NotCompared
            }
        }
    }

    /// Its name in text.
    pub(super) fn label(self) -> &'static str {
        match self {
            DecisionComparison::Same => "same",
            DecisionComparison::RefusedNow => "refused now",
            DecisionComparison::Accepted => "refused now, accepted",
            DecisionComparison::AllowedNow => "allowed now",
            DecisionComparison::NotCompared => "not compared",
            DecisionComparison::Undecided => "undecided",
        }
    }

    /// Whether a request is shown that is compared so.
    pub(super) fn is_reported(self) -> bool {
        !matches!(
            self,
            DecisionComparison::Same | DecisionComparison::NotCompared | DecisionComparison::Accepted
        )
    }
}

/// The name in results, which is that in JSON.
impl Display for DecisionComparison {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}

#[cfg(test)]
mod tests {
    use pratique_replay::RecordedRefusal;

    use super::*;

    #[test]
    fn only_what_policies_decide_is_compared() {
        let refused = |by| {
            RecordedOutcome::Refused(RecordedRefusal {
                by,
                code: 403,
                message: String::new(),
            })
        };
        let failed = RecordedOutcome::Failed {
            code: 409,
            message: String::new(),
        };
        let policy = || refused(RefusedBy::ValidatingPolicy("p".to_owned()));
        let webhook = || refused(RefusedBy::Webhook("w".to_owned()));
        for (then, allowed, denied) in [
            (
                RecordedOutcome::Allowed,
                DecisionComparison::Same,
                DecisionComparison::RefusedNow,
            ),
            (policy(), DecisionComparison::AllowedNow, DecisionComparison::Same),
            (
                refused(RefusedBy::Recorded),
                DecisionComparison::AllowedNow,
                DecisionComparison::Same,
            ),
            (
                webhook(),
                DecisionComparison::NotCompared,
                DecisionComparison::Same,
            ),
            (
                refused(RefusedBy::Plugin),
                DecisionComparison::NotCompared,
                DecisionComparison::Same,
            ),
            (
                failed,
                DecisionComparison::NotCompared,
                DecisionComparison::NotCompared,
            ),
            (
                RecordedOutcome::Unknown,
                DecisionComparison::NotCompared,
                DecisionComparison::RefusedNow,
            ),
        ] {
            assert_eq!(
                DecisionComparison::new(&then, Decision::Allowed),
                allowed,
                "{then:?}"
            );
            assert_eq!(
                DecisionComparison::new(&then, Decision::Denied),
                denied,
                "{then:?}"
            );
            let undecided = match then {
                RecordedOutcome::Failed { .. } => DecisionComparison::NotCompared,
                _ => DecisionComparison::Undecided,
            };
            assert_eq!(
                DecisionComparison::new(&then, Decision::Undecided),
                undecided,
                "{then:?}"
            );
        }
    }
}
