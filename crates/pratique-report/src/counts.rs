//! Numbers of decisions.

use serde::{Deserialize, Serialize};

use crate::evaluation::{Action, Decision, Evaluation, Finding};

/// Numbers of requests by decision, and of what policies found. In a row of a policy, all of them are numbers of requests in which
/// it found something, and `allowed` and `failed` are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Counts {
    /// Allowed requests.
    #[serde(skip_serializing_if = "is_zero")]
    pub allowed: u64,
    /// Denied requests.
    #[serde(skip_serializing_if = "is_zero")]
    pub denied: u64,
    /// Requests whose decision depends on something that was not given.
    #[serde(skip_serializing_if = "is_zero")]
    pub undecided: u64,
    /// Requests that could not be read or evaluated.
    #[serde(skip_serializing_if = "is_zero")]
    pub failed: u64,
    /// Denied requests of which all denials are accepted; in a row of a policy, accepted findings of any action.
    #[serde(skip_serializing_if = "is_zero")]
    pub accepted: u64,
    /// Findings of which the user is warned.
    #[serde(skip_serializing_if = "is_zero")]
    pub warned: u64,
    /// Findings that are recorded in the audit log.
    #[serde(skip_serializing_if = "is_zero")]
    pub audited: u64,
    /// Errors that a failure policy ignores.
    #[serde(skip_serializing_if = "is_zero")]
    pub ignored: u64,
    /// Findings to which an error led, and not a validation. Each is counted by its action as well.
    #[serde(skip_serializing_if = "is_zero")]
    pub errors: u64,
    /// Requests about objects that changed while they were read. Each is counted by its decision as well.
    #[serde(skip_serializing_if = "is_zero")]
    pub changed: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives references")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Counts {
    /// The number of requests.
    pub fn requests(&self) -> u64 {
        let decided = self.allowed.saturating_add(self.denied);
        let known = decided
            .saturating_add(self.undecided)
            .saturating_add(self.accepted);
        known.saturating_add(self.failed)
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        *self == Counts::default()
    }

    /// Whether no number is below that of other counts.
    pub(crate) fn covers(&self, other: Counts) -> bool {
        self.allowed >= other.allowed
            && self.denied >= other.denied
            && self.undecided >= other.undecided
            && self.failed >= other.failed
            && self.accepted >= other.accepted
            && self.warned >= other.warned
            && self.audited >= other.audited
            && self.ignored >= other.ignored
            && self.errors >= other.errors
            && self.changed >= other.changed
    }

    /// Adds other counts. Numbers stay at their maximum.
    pub fn add(&mut self, other: Counts) {
        let Counts {
            allowed,
            denied,
            undecided,
            failed,
            accepted,
            warned,
            audited,
            ignored,
            errors,
            changed,
        } = other;
        let pairs = [
            (&mut self.allowed, allowed),
            (&mut self.denied, denied),
            (&mut self.undecided, undecided),
            (&mut self.failed, failed),
            (&mut self.accepted, accepted),
            (&mut self.warned, warned),
            (&mut self.audited, audited),
            (&mut self.ignored, ignored),
            (&mut self.errors, errors),
            (&mut self.changed, changed),
        ];
        for (count, more) in pairs {
            *count = count.saturating_add(more);
        }
    }

    /// The counts of one request: its decision, and the findings that do not make the decision.
    pub(crate) fn of_request(evaluation: &Evaluation<'_>) -> Self {
        let mut counts = Counts {
            changed: u64::from(evaluation.is_changed),
            ..Counts::default()
        };
        match evaluation.decision {
            Decision::Allowed => counts.allowed = 1,
            Decision::Denied | Decision::Error => counts.denied = 1,
            Decision::Undecided => counts.undecided = 1,
            Decision::Failed => counts.failed = 1,
            Decision::Accepted => counts.accepted = 1,
        }
        for finding in &evaluation.findings {
            let finding_counts = Counts::of_finding(finding);
            counts.add(Counts {
                denied: 0,
                undecided: 0,
                accepted: 0,
                ..finding_counts
            });
        }
        counts
    }

    /// The counts of one finding.
    pub(crate) fn of_finding(finding: &Finding<'_>) -> Self {
        let mut counts = Counts {
            errors: u64::from(finding.is_error),
            ..Counts::default()
        };
        match finding.action {
            Action::Deny => counts.denied = 1,
            Action::Warn => counts.warned = 1,
            Action::Audit => counts.audited = 1,
            Action::Ignore => counts.ignored = 1,
            Action::Undecided => counts.undecided = 1,
            Action::Accepted => counts.accepted = 1,
        }
        counts
    }
}
