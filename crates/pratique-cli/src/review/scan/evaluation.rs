//! Decisions in the form in which they are counted.

use pratique_report::{Action, Decision, Evaluation, Finding};

use crate::review::decisions::Action as PolicyAction;
use crate::review::record::{Decision as Decided, Record};

/// A decision, and what controls the object.
pub(super) struct Found {
    pub(super) record: Record,
    pub(super) owner: String,
    /// The messages of what is undecided.
    undecided: Vec<String>,
    pub(super) place: String,
}

impl Found {
    pub(super) fn new(record: Record, owner: String, place: String) -> Self {
        let undecided = record.undecided.iter();
        let undecided = undecided.map(|undecided| format!("{}: {}", undecided.message, undecided.help));
        Found {
            undecided: undecided.collect(),
            record,
            owner,
            place,
        }
    }

    /// Whether there is anything to tell of the object.
    pub(super) fn has_findings(&self) -> bool {
        let record = &self.record;
        record.decision != Decided::Allowed || !record.policies.is_empty() || !record.undecided.is_empty()
    }

    /// The decision as it is counted.
    pub(super) fn evaluation<'f>(&'f self, user: &'f str) -> Evaluation<'f> {
        let record = &self.record;
        Evaluation {
            decision: match record.decision {
                Decided::Allowed => Decision::Allowed,
                Decided::Denied => Decision::Denied,
                Decided::Undecided => Decision::Undecided,
            },
            operation: record.operation.as_str(),
            api_version: &record.api_version,
            kind: &record.kind,
            namespace: &record.namespace,
            name: &record.name,
            user,
            owner: &self.owner,
            place: &self.place,
            time: "",
            findings: self.findings(),
        }
    }

    fn findings(&self) -> Vec<Finding<'_>> {
        let record = &self.record;
        let mut findings: Vec<Finding<'_>> = record
            .policies
            .iter()
            .map(|decision| Finding {
                policy: &decision.policy,
                binding: &decision.binding,
                action: match decision.action {
                    PolicyAction::Deny => Action::Deny,
                    PolicyAction::Warn => Action::Warn,
                    PolicyAction::Audit => Action::Audit,
                    PolicyAction::Ignore => Action::Ignore,
                },
                is_error: decision.failed,
                message: &decision.message,
            })
            .collect();
        let is_told = findings.iter().any(|finding| finding.action == Action::Deny);
        if let (Decided::Denied, false, Some(message)) = (record.decision, is_told, &record.message) {
            findings.push(Finding {
                policy: record.refused_by.as_deref().unwrap_or_default(),
                binding: "",
                action: Action::Deny,
                is_error: false,
                message,
            });
        }
        let undecided = record.undecided.iter().zip(&self.undecided);
        findings.extend(undecided.map(|(undecided, message)| Finding {
            policy: match undecided.name.as_str() {
                "" => &undecided.plugin,
                name => name,
            },
            binding: undecided.binding.as_deref().unwrap_or_default(),
            action: Action::Undecided,
            is_error: false,
            message,
        }));
        findings
    }
}
