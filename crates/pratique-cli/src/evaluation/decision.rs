//! The decisions of commands: that something failed is no decision of its own, but a mark of what was found.

use pratique::Outcome;
use pratique_report::Decision;

/// The decision of an outcome.
pub(crate) fn read_decision(outcome: &Outcome) -> Decision {
    pratique_review::read_decision(outcome).without_cause()
}

/// The decision on a workload where its Pods are allowed, denied or undecided: the graver one.
pub(crate) fn choose_graver(workload: Decision, pods: Decision) -> Decision {
    if gravity(pods) > gravity(workload) {
        pods
    } else {
        workload
    }
}

fn gravity(decision: Decision) -> u8 {
    match decision {
        Decision::Allowed => 0,
        Decision::Accepted => 1,
        Decision::Undecided | Decision::Failed => 2,
        Decision::Denied | Decision::Error => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_graver_decision_counts() {
        use Decision::{Accepted, Allowed, Denied, Undecided};
        for (workload, pods, expected) in [
            (Allowed, Allowed, Allowed),
            (Allowed, Denied, Denied),
            (Undecided, Denied, Denied),
            (Allowed, Undecided, Undecided),
            (Accepted, Undecided, Undecided),
            (Allowed, Accepted, Accepted),
            (Denied, Accepted, Denied),
            (Denied, Allowed, Denied),
        ] {
            assert_eq!(choose_graver(workload, pods), expected, "{workload:?} {pods:?}");
        }
    }
}
