//! What a scan has counted so far, which a run that goes on from a checkpoint begins with.

use pratique_report::{Report, ReportRun};
use serde::{Deserialize, Serialize};

use crate::acceptance::AcceptedFindings;
use crate::evaluation::assumptions::AssumedKinds;
use crate::evaluation::limitations::ObjectLimitations;
use crate::evaluation::unexpanded_workloads::UnexpandedWorkloads;
use crate::output::counted_nouns::counted;
use crate::stream::checkpoint::ResumableCounts;
use crate::stream::repeated_objects::NamedInputs;

/// The counts of a scan: its report, and what is told at its end.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScanCounts {
    pub(super) report: Report,
    /// What exceptions accepted; there is no baseline where a run can be resumed.
    pub(super) accepted: AcceptedFindings,
    /// The unknown kinds that were told.
    pub(super) assumed: AssumedKinds,
    pub(super) limitations: ObjectLimitations,
    /// Workloads whose Pods were not evaluated.
    pub(super) unexpanded: UnexpandedWorkloads,
    /// The objects of files by their names, of which each should be there once.
    pub(super) named: NamedInputs,
}

impl ScanCounts {
    /// The counts of a scan that begins.
    pub(super) fn new(report: Report) -> Self {
        ScanCounts {
            named: if report.is_whole() {
                NamedInputs::default()
            } else {
                NamedInputs::of_shard()
            },
            report,
            accepted: AcceptedFindings::default(),
            assumed: AssumedKinds::default(),
            limitations: ObjectLimitations::default(),
            unexpanded: UnexpandedWorkloads::default(),
        }
    }
}

impl ResumableCounts for ScanCounts {
    const KIND: &str = "ScanCheckpoint";
    const RUN: &str = "scan";

    fn run(&self) -> &ReportRun {
        self.report.run()
    }

    fn continues(&self, begun: &Self) -> bool {
        self.run() == begun.run() && self.report.missing() == begun.report.missing()
    }

    fn counted(&self) -> String {
        counted(self.report.tally().total().requests(), "object", "objects")
    }
}
