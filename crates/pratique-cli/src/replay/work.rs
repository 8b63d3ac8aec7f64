//! Replays a part of a log.

use std::sync::Arc;

use pratique_manifest::Location;
use pratique_replay::{
    EventRequests, LocatedEntry, NotSubject, RecordedOutcome, ReplayResult, UnknownRequest, entries,
};
use pratique_schema::Release;
use pratique_types::AdmissionRequest;

use super::comparison::DecisionComparison;
use super::decision::ReplayDecision;
use super::engine::{ReplayEngine, input};
use super::faults::InputFaults;
use super::finding::ReplayFinding;
use super::log::LogReader;
use super::possible::without_object;
use super::row::{JsonThen, ReplayRow};
use super::subject::RequestSubject;
use super::units::LogUnit;
use crate::acceptance::{AcceptanceRules, AcceptedFindings};
use crate::evaluation::limitations::ObjectLimitations;
use crate::output::json::ReleaseLine;
use crate::output::{PrintedOutput, problems};
use crate::stream::checkpoint::InputMark;
use crate::style::StreamStyle;
use pratique_review::Reviewer;

/// The results of a part of the logs.
#[derive(Default)]
pub(super) struct ReplayPart {
    /// Where it begins.
    pub(super) start: Option<InputMark>,
    pub(super) out: PrintedOutput,
    /// The requests that are decided otherwise than then, and undecided ones.
    pub(super) findings: Vec<ReplayFinding>,
    pub(super) rows: Vec<ReplayRow>,
    pub(super) not_subject: Vec<NotSubject>,
    pub(super) faults: InputFaults,
    pub(super) limitations: ObjectLimitations,
    pub(super) accepted: AcceptedFindings,
}

/// Replays parts of logs.
pub(super) struct ReplayWorker<'a> {
    pub(super) engine: &'a ReplayEngine,
    pub(super) evaluator: Reviewer<'a>,
    pub(super) log: LogReader,
    /// The style of findings as text, if they are printed.
    pub(super) findings: Option<StreamStyle>,
    /// Whether there is an output of lines.
    pub(super) prints_lines: bool,
    /// The release that decides.
    pub(super) release: &'static Release,
    /// Which findings are accepted.
    pub(super) acceptance: &'a AcceptanceRules,
}

impl ReplayWorker<'_> {
    /// Replays a part of a log.
    pub(super) fn replay(&self, unit: LogUnit, emit: &mut dyn FnMut(ReplayPart)) {
        let mut part = ReplayPart::default();
        match unit {
            LogUnit::Piece { path, piece, start } => {
                part.start = Some(start);
                for located in entries(&piece) {
                    self.entry(&path, located, &mut part);
                }
            }
            LogUnit::Counted { path, piece } => self.log.remember(&path, &piece),
            LogUnit::Fault(fault) => part.faults.add(fault),
        }
        emit(part);
    }

    fn entry(&self, path: &Arc<str>, located: LocatedEntry<'_>, part: &mut ReplayPart) {
        let Some((location, replayed)) = self.log.read(path, located, &mut part.faults) else {
            return;
        };
        let ReplayResult { id, at, then, what } = replayed;
        let about = EntryFacts {
            id,
            at,
            then,
            location,
        };
        match what {
            EventRequests::NotSubject(why) => part.not_subject.push(why),
            EventRequests::Unknown(why, request) => self.unknown(&about, why, &request, part),
            EventRequests::Requests(requests) => {
                for replayed in requests {
                    let subject = RequestSubject::from_request(&replayed.request, &about.at);
                    let approximations = replayed.approximations.clone();
                    let input = input(replayed, about.location.clone());
                    let validates = self.evaluator.validates();
                    part.limitations.count_unvalidated(&input, validates);
                    let accepted = &mut part.accepted;
                    match self.engine.evaluate(&self.evaluator, input, |mut result| {
                        ReplayDecision::of_accepting(&mut result, self.acceptance, accepted)
                    }) {
                        Ok(now) => {
                            let row = about.row(subject, now);
                            self.show(
                                ReplayRow {
                                    approximations,
                                    ..row
                                },
                                part,
                            );
                        }
                        Err(error) => part.faults.add(error),
                    }
                }
            }
        }
    }

    /// A request whose object is not known is decided only where no policy can match it.
    fn unknown(
        &self,
        about: &EntryFacts,
        why: UnknownRequest,
        request: &AdmissionRequest<'_>,
        part: &mut ReplayPart,
    ) {
        let decision = without_object(self.engine, (request, why));
        let row = about.row(
            RequestSubject::from_request(request, &about.at),
            ReplayDecision::without_policies(decision),
        );
        self.show(
            ReplayRow {
                unknown: Some(why),
                ..row
            },
            part,
        );
    }

    fn show(&self, row: ReplayRow, part: &mut ReplayPart) {
        if let Some(style) = self.findings
            && row.comparison.is_reported()
        {
            part.findings.push(ReplayFinding::new(&row, style));
        }
        if self.prints_lines
            && let Err(error) = part.out.json_line(&ReleaseLine::new(&row, self.release))
        {
            part.faults.end(error);
        }
        part.rows.push(row);
    }
}

/// The fields of a log entry besides its request.
struct EntryFacts {
    id: String,
    at: String,
    then: RecordedOutcome,
    location: Location,
}

impl EntryFacts {
    fn row(&self, subject: RequestSubject, now: ReplayDecision) -> ReplayRow {
        ReplayRow {
            file: self.location.file.to_string(),
            line: self.location.start.line,
            place: problems::place(&self.location),
            id: self.id.clone(),
            subject,
            comparison: DecisionComparison::new(&self.then, now.decision),
            then: JsonThen::new(&self.then),
            now,
            unknown: None,
            approximations: Vec::new(),
        }
    }
}
