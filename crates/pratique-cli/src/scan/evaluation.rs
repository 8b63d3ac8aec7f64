//! Decisions in the form in which they are counted.

use pratique_report::{Decision, Evaluation, Finding};

use crate::acceptance::accepted_finding::AcceptedFinding;
use crate::evaluation::findings::DecisionCauses;
use crate::evaluation::record::DecisionRecord;

/// A decision, and what controls the object.
pub(super) struct ControlledDecision {
    pub(super) record: DecisionRecord,
    pub(super) owner: String,
    /// The UID of an object that was stored.
    uid: String,
    /// The messages of what is undecided.
    undecided: Vec<String>,
    /// What is accepted, with why.
    accepted: Vec<(AcceptedFinding, String)>,
    pub(super) place: String,
    /// Whether the object has changed since it began to be listed.
    pub(super) is_changed: bool,
    /// Whether it is known that no policy matched it, nor a plugin decides about such objects.
    pub(super) is_unmatched: bool,
}

impl ControlledDecision {
    pub(super) fn new(record: DecisionRecord, owner: String, uid: String, place: String) -> Self {
        let undecided = record.undecided.iter();
        let undecided = undecided.map(|undecided| format!("{}: {}", undecided.message, undecided.help));
        let accepted = record.accepted.iter();
        let accepted = accepted.map(|finding| (finding.clone(), finding.told()));
        ControlledDecision {
            undecided: undecided.collect(),
            accepted: accepted.collect(),
            record,
            owner,
            uid,
            place,
            is_changed: false,
            is_unmatched: false,
        }
    }

    /// Whether there is anything to report about the object.
    pub(super) fn has_findings(&self) -> bool {
        let record = &self.record;
        record.decision != Decision::Allowed
            || !(record.policies.is_empty()
                && record.accepted.is_empty()
                && record.server_warnings.is_empty()
                && record.dropped.is_empty()
                && record.undecided.is_empty())
    }

    /// The decision as it is counted.
    pub(super) fn evaluation<'f>(&'f self, user: &'f str) -> Evaluation<'f> {
        let record = &self.record;
        Evaluation {
            decision: record.decision,
            operation: record.operation.as_str(),
            api_version: &record.api_version,
            kind: &record.kind,
            namespace: &record.namespace,
            name: &record.name,
            uid: &self.uid,
            user,
            owner: &self.owner,
            place: &self.place,
            time: "",
            is_changed: self.is_changed,
            is_unmatched: self.is_unmatched,
            findings: self.findings(),
        }
    }

    fn findings(&self) -> Vec<Finding<'_>> {
        let record = &self.record;
        let refused_by = record.refused_by.as_deref().unwrap_or_default();
        let causes = DecisionCauses {
            decision: record.decision,
            policies: &record.policies,
            refusal: record.message.as_deref().map(|message| (refused_by, message)),
            warnings: &record.server_warnings,
            dropped: &record.dropped,
            accepted: &self.accepted,
        };
        let messages = self.undecided.iter().map(String::as_str);
        causes.findings(record.undecided.iter().zip(messages))
    }
}
