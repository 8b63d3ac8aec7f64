//! The counts of a replay.

use pratique_report::{Limits, ReportRun, Tally};
use serde::{Deserialize, Serialize};

use super::counts::ReplayCounts;
use super::faults::CountedFaults;
use crate::acceptance::AcceptedFindings;
use crate::evaluation::limitations::ObjectLimitations;
use crate::output::counted_nouns::counted;
use crate::stream::checkpoint::ResumableCounts;

/// The counts of a replay.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ReplayReport {
    pub(super) run: ReportRun,
    pub(super) counts: ReplayCounts,
    /// The decisions of now.
    pub(super) now: Tally,
    pub(super) faults: CountedFaults,
    pub(super) limitations: ObjectLimitations,
    /// What exceptions accepted; there is no baseline where a run can be resumed.
    pub(super) accepted: AcceptedFindings,
}

impl ReplayReport {
    /// The report of a run that begins; `faults` are those that were found before.
    pub(super) fn new(run: ReportRun, faults: CountedFaults) -> Self {
        ReplayReport {
            run,
            counts: ReplayCounts::default(),
            now: Tally::new(Limits::default()),
            faults,
            limitations: ObjectLimitations::default(),
            accepted: AcceptedFindings::default(),
        }
    }
}

impl ResumableCounts for ReplayReport {
    const KIND: &str = "ReplayCheckpoint";
    const RUN: &str = "replay";

    fn run(&self) -> &ReportRun {
        &self.run
    }

    fn counted(&self) -> String {
        counted(self.counts.entries(), "event", "events")
    }
}
