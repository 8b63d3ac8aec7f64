//! Comparison of the decision of now with the recorded one.

use std::fmt::{self, Display, Formatter};

use pratique_replay::{RecordedOutcome, RefusedBy};
use serde::{Deserialize, Serialize};

use crate::evaluation::decision::Decision;

/// How the decision of now compares with the recorded one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Comparison {
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

impl Comparison {
    pub(super) fn new(then: &RecordedOutcome, now: Decision) -> Self {
        match (then, now) {
            // Whatever is decided now, the request failed for another reason, mostly before policies had a say.
            (RecordedOutcome::Failed { .. }, _) => Comparison::NotCompared,
            (_, Decision::Undecided) => Comparison::Undecided,
            (RecordedOutcome::Allowed, Decision::Allowed)
            | (RecordedOutcome::Refused(_), Decision::Denied | Decision::Accepted) => Comparison::Same,
            (RecordedOutcome::Allowed | RecordedOutcome::Unknown, Decision::Denied) => Comparison::RefusedNow,
            (RecordedOutcome::Allowed | RecordedOutcome::Unknown, Decision::Accepted) => Comparison::Accepted,
            (RecordedOutcome::Refused(refusal), Decision::Allowed)
                if refusal.by.is_policy() || refusal.by == RefusedBy::Recorded =>
            {
                Comparison::AllowedNow
            }
            (RecordedOutcome::Refused(_) | RecordedOutcome::Unknown, Decision::Allowed) => {
                Comparison::NotCompared
            }
        }
    }

    /// Its name in text.
    pub(super) fn label(self) -> &'static str {
        match self {
            Comparison::Same => "same",
            Comparison::RefusedNow => "refused now",
            Comparison::Accepted => "refused now, accepted",
            Comparison::AllowedNow => "allowed now",
            Comparison::NotCompared => "not compared",
            Comparison::Undecided => "undecided",
        }
    }

    /// Whether a request is shown that is compared so.
    pub(super) fn is_reported(self) -> bool {
        !matches!(
            self,
            Comparison::Same | Comparison::NotCompared | Comparison::Accepted
        )
    }
}

/// The name in results, which is that in JSON.
impl Display for Comparison {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}

#[cfg(test)]
mod tests {
    use pratique_replay::Refusal;

    use super::*;

    #[test]
    fn only_what_policies_decide_is_compared() {
        let refused = |by| {
            RecordedOutcome::Refused(Refusal {
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
            (RecordedOutcome::Allowed, Comparison::Same, Comparison::RefusedNow),
            (policy(), Comparison::AllowedNow, Comparison::Same),
            (
                refused(RefusedBy::Recorded),
                Comparison::AllowedNow,
                Comparison::Same,
            ),
            (webhook(), Comparison::NotCompared, Comparison::Same),
            (
                refused(RefusedBy::Plugin),
                Comparison::NotCompared,
                Comparison::Same,
            ),
            (failed, Comparison::NotCompared, Comparison::NotCompared),
            (
                RecordedOutcome::Unknown,
                Comparison::NotCompared,
                Comparison::RefusedNow,
            ),
        ] {
            assert_eq!(Comparison::new(&then, Decision::Allowed), allowed, "{then:?}");
            assert_eq!(Comparison::new(&then, Decision::Denied), denied, "{then:?}");
            let undecided = match then {
                RecordedOutcome::Failed { .. } => Comparison::NotCompared,
                _ => Comparison::Undecided,
            };
            assert_eq!(Comparison::new(&then, Decision::Undecided), undecided, "{then:?}");
        }
    }
}
