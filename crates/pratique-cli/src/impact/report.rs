//! The counts of a comparison.

use std::collections::{BTreeMap, BTreeSet};

use pratique_replay::{RequestApproximation, UnknownRequest};
use pratique_report::{Action, Evaluation, Finding, Limits, ReportRun, Tally};
use serde::{Deserialize, Serialize};

use super::change::{DecisionChange, ImpactRow};
use crate::acceptance::AcceptedFindings;
use crate::evaluation::assumptions::AssumedKinds;
use crate::evaluation::limitations::ObjectLimitations;
use crate::evaluation::unexpanded_workloads::UnexpandedWorkloads;
use crate::output::counted_nouns::counted;
use crate::output::notice::InputNotices;
use crate::output::text::PrintableText;
use crate::replay::counters::KeyedCounters;
use crate::replay::decision::{ReplayDecision, evaluation};
use crate::replay::faults::CountedFaults;
use crate::stream::checkpoint::ResumableCounts;
use crate::stream::repeated_objects::NamedInputs;

/// Of how many policies a refusal is explained.
const MAX_EXPLAINED: usize = 20;

/// The counts of a comparison.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ImpactReport {
    pub(super) run: ReportRun,
    pub(super) faults: CountedFaults,
    changes: KeyedCounters<DecisionChange>,
    pub(super) unknown: KeyedCounters<UnknownRequest>,
    pub(super) approximations: KeyedCounters<RequestApproximation>,
    pub(super) not_subject: u64,
    /// Notes on what is left out.
    pub(super) notes: BTreeSet<String>,
    /// What exceptions accepted; there is no baseline where a run can be resumed.
    pub(super) accepted: AcceptedFindings,
    /// Warnings, which were told.
    pub(super) notices: InputNotices,
    /// The kinds that are not known, which are told at the end.
    pub(super) assumed: AssumedKinds,
    pub(super) limitations: ObjectLimitations,
    /// Workloads whose Pods were not compared, which are told at the end.
    pub(super) unexpanded: UnexpandedWorkloads,
    /// The objects of files by their names, of which each should be there once.
    pub(super) named: NamedInputs,
    /// Requests for objects that changed while objects were listed.
    pub(super) changed_meanwhile: u64,
    /// The newly refused requests, with the findings of the new policies; and the newly allowed, with those of the old ones.
    pub(super) refused: Tally,
    pub(super) allowed: Tally,
    /// The policies that are undecided, old and new.
    pub(super) undecided: Tally,
    /// By policy: the first request that it newly refuses, and why.
    pub(super) explanations: BTreeMap<String, (String, PrintableText)>,
}

impl ImpactReport {
    /// The report of a run that begins; `faults` and `notices` are those that were found and told before.
    pub(super) fn new(
        run: ReportRun,
        faults: CountedFaults,
        notes: BTreeSet<String>,
        notices: InputNotices,
    ) -> Self {
        let tally = || Tally::new(Limits::default());
        ImpactReport {
            run,
            faults,
            changes: KeyedCounters::default(),
            unknown: KeyedCounters::default(),
            approximations: KeyedCounters::default(),
            not_subject: 0,
            notes,
            accepted: AcceptedFindings::default(),
            notices,
            assumed: AssumedKinds::default(),
            limitations: ObjectLimitations::default(),
            unexpanded: UnexpandedWorkloads::default(),
            named: NamedInputs::default(),
            changed_meanwhile: 0,
            refused: tally(),
            allowed: tally(),
            undecided: tally(),
            explanations: BTreeMap::new(),
        }
    }

    pub(super) fn count_not_subject(&mut self, count: u64) {
        self.not_subject = self.not_subject.saturating_add(count);
    }

    pub(super) fn count(&mut self, row: ImpactRow) {
        self.changes.add(row.change);
        if row.changed_meanwhile {
            self.changed_meanwhile = self.changed_meanwhile.saturating_add(1);
        }
        for approximation in &row.approximations {
            self.approximations.add(*approximation);
        }
        match row.change {
            DecisionChange::Same | DecisionChange::Accepted => {}
            DecisionChange::NewlyRefused => self.refused.count(&only(&row, &row.new, Action::Deny)),
            DecisionChange::NewlyAllowed => self.allowed.count(&only(&row, &row.old, Action::Deny)),
            DecisionChange::Undecided => {
                if let Some(why) = row.unknown {
                    self.unknown.add(why);
                }
                let by = if row.new.undecided.is_empty() {
                    &row.old
                } else {
                    &row.new
                };
                self.undecided.count(&only(&row, by, Action::Undecided));
            }
        }
        if let Some(explanation) = row.explanation {
            let findings = row.new.findings();
            let refuses = findings.iter().find(|finding| finding.action == Action::Deny);
            let policy = refuses
                .map(|finding| finding.policy.to_owned())
                .unwrap_or_default();
            if self.explanations.len() < MAX_EXPLAINED {
                let subject = format!("{}: {}", row.place, row.subject);
                self.explanations.entry(policy).or_insert((subject, explanation));
            }
        }
    }

    pub(super) fn count_of(&self, change: DecisionChange) -> u64 {
        self.changes.count_of(&change)
    }

    pub(super) fn requests(&self) -> u64 {
        self.changes.total()
    }
}

impl ResumableCounts for ImpactReport {
    const KIND: &str = "ImpactCheckpoint";
    const RUN: &str = "comparison";

    fn run(&self) -> &ReportRun {
        &self.run
    }

    fn counted(&self) -> String {
        counted(self.requests(), "request", "requests")
    }
}

/// A decision with the findings of one action only.
fn only<'r>(row: &'r ImpactRow, decided: &'r ReplayDecision, action: Action) -> Evaluation<'r> {
    let mut evaluation = evaluation(&row.subject, decided, &row.place);
    evaluation.is_changed = row.changed_meanwhile;
    evaluation
        .findings
        .retain(|finding: &Finding<'_>| finding.action == action);
    evaluation
}
