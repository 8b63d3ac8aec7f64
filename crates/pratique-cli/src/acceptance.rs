//! Findings that are accepted: by exceptions, which somebody wrote with a reason, or as a baseline knows them of an earlier run.
//!
//! What is accepted is told and counted in every output, and does not fail the command. A server refuses the object all the same,
//! so that it is never shown as allowed.

pub(crate) mod acceptance_error;
pub(crate) mod accepted_finding;
mod exception;
pub(crate) mod exception_file;
mod finding_facts;
pub(crate) mod finding_key;
mod known_findings;
mod known_policies;
mod undecided_objects;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use pratique_json::Value;
use pratique_manifest::{ManifestFile, path_text};
use pratique_match::Labels;
use pratique_report::{Action, Decision};
use pratique_review::PolicyDecision;
use pratique_schema::Release;
use serde::{Deserialize, Serialize};

use crate::arguments::{AcceptanceArguments, FailOn, FailureArguments};
use crate::destination;
use crate::evaluation::record::DecisionRecord;
use crate::exit::CliError;
use crate::input::read_regular;
use crate::output::counted_nouns::counted;
use crate::output::excerpt::FileTexts;
use crate::output::json::is_zero;
use crate::output::notice::{EXPIRED_EXCEPTION, InputNotice, UNUSED_EXCEPTION};
use crate::output::problems;
use crate::output::text::{PrintableText, text};
use crate::policies::OriginSets;
use crate::{project, time};
use acceptance_error::AcceptanceError;
use accepted_finding::{AcceptedBy, AcceptedFinding};
use exception::PolicyException;
use finding_facts::FindingFacts;
use known_findings::{BaselineComparison, KnownFindings};
use known_policies::KnownPolicies;
use undecided_objects::UndecidedObjects;

/// The largest file of exceptions, in bytes.
const LARGEST: u64 = 16 << 20;

/// What is accepted.
#[derive(Debug, Default)]
pub(crate) struct AcceptanceRules {
    /// Those that hold.
    exceptions: Vec<PolicyException>,
    expired: Vec<PolicyException>,
    baseline: Option<BaselineFile>,
    /// Where the findings of the run are written to.
    written: Option<PathBuf>,
    policies: KnownPolicies,
}

#[derive(Debug)]
struct BaselineFile {
    path: String,
    known: KnownFindings,
}

/// What was accepted in a run, and what it found.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AcceptedFindings {
    known: usize,
    excepted: usize,
    /// The exceptions that accepted something.
    used: BTreeSet<usize>,
    /// Those that others before them leave something to repeat, with the first of these.
    repeating: BTreeMap<usize, usize>,
    /// What was found, except for what exceptions accept. No baseline goes with checkpoints, so that these do without.
    #[serde(skip)]
    found: KnownFindings,
    /// What exceptions accept, which is not gone either.
    #[serde(skip)]
    excepted_findings: KnownFindings,
    /// The objects of which not all is decided: what is known of them is not gone either.
    #[serde(skip)]
    undecided: UndecidedObjects,
}

/// The end of a run: what was accepted, and how it differs from a baseline.
#[derive(Debug, Default)]
pub(crate) struct AcceptanceSummary {
    json: JsonAcceptance,
    path: String,
    comparison: BaselineComparison,
    /// What is told of exceptions that accepted nothing.
    unused: Vec<InputNotice>,
}

/// What was accepted, in JSON.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JsonAcceptance {
    /// Findings that the baseline knows.
    #[serde(skip_serializing_if = "is_zero")]
    known: usize,
    /// Findings that exceptions accept.
    #[serde(skip_serializing_if = "is_zero")]
    excepted: usize,
    #[serde(skip_serializing_if = "is_zero")]
    exceptions: usize,
    #[serde(skip_serializing_if = "is_zero")]
    unused_exceptions: usize,
    #[serde(skip_serializing_if = "is_zero")]
    expired_exceptions: usize,
}

impl AcceptanceRules {
    /// Reads what the arguments of a command name. What is wrong with exceptions is reported.
    pub(crate) fn read(arguments: &AcceptanceArguments, command: &str) -> Result<Self, CliError> {
        destination::verify(&arguments.write_baseline)?;
        let mut exceptions = Vec::new();
        for path in &arguments.exceptions {
            exceptions.extend(read_exceptions(path)?);
        }
        let now = time::now();
        let today = now.get(.."2026-12-31".len()).unwrap_or_default();
        let (expired, exceptions) = exceptions
            .into_iter()
            .partition(|exception: &PolicyException| exception.is_expired(today));
        let baseline = arguments.baseline.as_deref().map(|path| {
            KnownFindings::read(path, command).map(|known| BaselineFile {
                path: path_text(path),
                known,
            })
        });
        Ok(AcceptanceRules {
            exceptions,
            expired,
            baseline: baseline.transpose()?,
            written: arguments.write_baseline.clone(),
            policies: KnownPolicies::default(),
        })
    }

    /// Reads what the arguments of a command name; `is_part` is whether it is about a part of the inputs, or may be resumed, of
    /// which there is no baseline.
    pub(crate) fn read_for_run(
        arguments: &AcceptanceArguments,
        command: &str,
        is_part: bool,
    ) -> Result<Self, CliError> {
        if is_part && (arguments.baseline.is_some() || arguments.write_baseline.is_some()) {
            return Err(CliError::Acceptance(AcceptanceError::NotWhole));
        }
        AcceptanceRules::read(arguments, command)
    }

    /// Whether nothing is accepted, nor kept.
    pub(crate) fn is_empty(&self) -> bool {
        self.exceptions.is_empty() && !self.keeps_findings()
    }

    /// Adds the policies of the run: by their expressions, validations are known again.
    pub(crate) fn add_policies(&mut self, sets: &OriginSets, release: &'static Release) {
        if !self.is_empty() {
            self.policies.release = Some(release);
            self.policies.add(sets);
        }
    }

    /// What is accepted, in a form that is the same for the same.
    pub(crate) fn digest(&self) -> String {
        match self.exceptions.as_slice() {
            [] => String::new(),
            exceptions => format!(" {exceptions:?}"),
        }
    }

    /// What is to be told of exceptions before anything is evaluated.
    pub(crate) fn notices(&self) -> impl Iterator<Item = InputNotice> {
        self.expired.iter().map(|exception| {
            let until = exception.until.as_deref().unwrap_or_default();
            let message = format!(
                "the exception of {} held until {until}: it accepts nothing any more ({})",
                exception.policy, exception.reason
            );
            InputNotice::new(EXPIRED_EXCEPTION, exception.place(), message)
        })
    }

    /// Moves the findings of a decision that are accepted to those of the record. Its object may have labels.
    pub(crate) fn apply(&self, record: &mut DecisionRecord, object: &Value<'_>) {
        record.is_compared = self.baseline.is_some();
        if self.exceptions.is_empty() && self.baseline.is_none() {
            return;
        }
        let labels = object.at(&["metadata", "labels"]).unwrap_or(&Value::Null);
        let labels = Labels::new(labels);
        let mut accepted = Vec::new();
        let is_denial = |decision: &PolicyDecision| decision.action == Action::Deny;
        let is_by_policy = record.policies.iter().any(is_denial);
        let mut kept = Vec::with_capacity(record.policies.len());
        for decision in &record.policies {
            let facts = FindingFacts::of_policy(record, decision, &self.policies);
            match facts.and_then(|facts| self.accepted(&facts, labels)) {
                Some(finding) => accepted.push(finding),
                None => kept.push(decision.clone()),
            }
        }
        let is_denied = record.decision.denies();
        let message = record.message.as_deref().filter(|_| is_denied && !is_by_policy);
        let denial = message.and_then(|message| {
            let facts = FindingFacts::of_denial(record, message);
            self.accepted(&facts, labels)
        });
        let is_accepted = if is_by_policy {
            !kept.iter().any(is_denial)
        } else {
            denial.is_some()
        };
        accepted.extend(denial);
        let mut warnings = Vec::with_capacity(record.server_warnings.len());
        for warning in &record.server_warnings {
            let facts = FindingFacts::of_warning(record, warning);
            match self.accepted(&facts, labels) {
                Some(finding) => accepted.push(finding),
                None => warnings.push(warning.clone()),
            }
        }
        let mut dropped = Vec::with_capacity(record.dropped.len());
        for placed in &record.dropped {
            match self.accepted(&FindingFacts::of_drop(record, placed), labels) {
                Some(finding) => accepted.push(finding),
                None => dropped.push(placed.clone()),
            }
        }
        record.policies = kept;
        record.server_warnings = warnings;
        record.dropped = dropped;
        record.accepted = accepted;
        if is_denied && is_accepted {
            record.decision = Decision::Accepted;
        }
    }

    fn accepted(&self, finding: &FindingFacts<'_>, labels: Labels<'_>) -> Option<AcceptedFinding> {
        let exceptions = self.exceptions.iter().enumerate();
        let mut candidates = exceptions.filter(|(_, exception)| exception.accepts(finding, labels));
        let by = candidates.next().map(|(index, exception)| AcceptedBy::Exception {
            reason: exception.reason.clone(),
            until: exception.until.clone(),
            place: exception.place(),
            index,
            repeated_by: candidates.map(|(index, _)| index).collect(),
        });
        let key = finding.key();
        let by = by.or_else(|| {
            let is_known = self.baseline.as_ref()?.known.has(&key);
            is_known.then_some(AcceptedBy::Baseline)
        })?;
        Some(AcceptedFinding {
            action: finding.action,
            policy: finding.policy.to_owned(),
            binding: finding.binding.to_owned(),
            message: finding.message.to_owned(),
            by,
            key,
        })
    }

    /// Whether findings are kept, to be compared or written at the end.
    fn keeps_findings(&self) -> bool {
        self.baseline.is_some() || self.written.is_some()
    }

    /// What is told of the exceptions that accepted nothing in a run.
    fn unused_notices(&self, run: &AcceptedFindings) -> impl Iterator<Item = InputNotice> {
        let exceptions = self.exceptions.iter().enumerate();
        let unused = exceptions.filter(|(index, _)| !run.used.contains(index));
        unused.map(|(index, exception)| {
            let first = run.repeating.get(&index);
            let why = match first.and_then(|first| self.exceptions.get(*first)) {
                Some(first) => format!("the one at {} accepts the same", first.place()),
                None => exception.why_unused(&self.policies),
            };
            let message = format!("unused exception: {why}");
            InputNotice::new(UNUSED_EXCEPTION, exception.place(), message)
        })
    }

    /// Ends a run over requests that were made: how often each was made says nothing, and what was not made is not gone.
    pub(crate) fn end_requests(
        &self,
        run: &AcceptedFindings,
        command: &str,
    ) -> Result<AcceptanceSummary, CliError> {
        let summary = self.end(run, command, false)?;
        Ok(AcceptanceSummary {
            comparison: BaselineComparison::default(),
            ..summary
        })
    }

    /// Ends a run: writes what it found, if that is asked for. `is_whole` is whether everything could be read.
    pub(crate) fn end(
        &self,
        run: &AcceptedFindings,
        command: &str,
        is_whole: bool,
    ) -> Result<AcceptanceSummary, CliError> {
        let mut summary = AcceptanceSummary {
            json: JsonAcceptance {
                known: run.known,
                excepted: run.excepted,
                exceptions: self.exceptions.len(),
                unused_exceptions: self.exceptions.len().saturating_sub(run.used.len()),
                expired_exceptions: self.expired.len(),
            },
            unused: self.unused_notices(run).collect(),
            ..AcceptanceSummary::default()
        };
        if let Some(BaselineFile { path, known }) = &self.baseline {
            summary.path.clone_from(path);
            summary.comparison = known.compare(&run.found, &run.excepted_findings, |key| {
                is_whole && !run.undecided.has_object_of(key)
            });
        }
        if let Some(path) = &self.written {
            run.found.write(path, command)?;
            let findings = counted(run.found.count(), "finding", "findings");
            crate::output::eprint(&text!(
                "{}: {} written as a baseline\n",
                path_text(path),
                findings
            ));
        }
        Ok(summary)
    }
}

impl AcceptedFindings {
    /// Counts what is accepted of a decision, and keeps what was found if that is needed.
    pub(crate) fn count(&mut self, record: &DecisionRecord, acceptance: &AcceptanceRules) {
        for finding in &record.accepted {
            match &finding.by {
                AcceptedBy::Baseline => {
                    self.known += 1;
                    self.found.add(finding.key.clone(), 1);
                }
                AcceptedBy::Exception {
                    index, repeated_by, ..
                } => {
                    self.excepted += 1;
                    self.used.insert(*index);
                    if acceptance.keeps_findings() {
                        self.excepted_findings.add(finding.key.clone(), 1);
                    }
                    for later in repeated_by {
                        self.repeating.entry(*later).or_insert(*index);
                    }
                }
            }
        }
        if !acceptance.keeps_findings() {
            return;
        }
        self.undecided.count(record);
        let policies = record.policies.iter();
        let mut facts: Vec<_> = policies
            .filter_map(|decision| FindingFacts::of_policy(record, decision, &acceptance.policies))
            .collect();
        facts.extend(
            record
                .other_denial()
                .map(|message| FindingFacts::of_denial(record, message)),
        );
        let warnings = record.server_warnings.iter();
        facts.extend(warnings.map(|warning| FindingFacts::of_warning(record, warning)));
        let dropped = record.dropped.iter();
        facts.extend(dropped.map(|placed| FindingFacts::of_drop(record, placed)));
        facts.iter().for_each(|facts| self.found.add(facts.key(), 1));
    }

    /// Adds what a later part accepted.
    pub(crate) fn add(&mut self, other: AcceptedFindings) {
        self.known += other.known;
        self.excepted += other.excepted;
        self.used.extend(other.used);
        for (later, first) in other.repeating {
            self.repeating.entry(later).or_insert(first);
        }
        self.found.merge(other.found);
        self.excepted_findings.merge(other.excepted_findings);
        self.undecided.merge(other.undecided);
    }
}

impl AcceptanceSummary {
    /// Whether a command fails as there is more than the baseline has, or as an exception has expired.
    pub(crate) fn fails(&self, failure: &FailureArguments) -> bool {
        if self.has_expired() && failure.fails_on(FailOn::Deny) {
            return true;
        }
        [
            (FailOn::Deny, Action::Deny),
            (FailOn::Warn, Action::Warn),
            (FailOn::Audit, Action::Audit),
        ]
        .into_iter()
        .any(|(on, action)| failure.fails_on(on) && self.comparison.exceeds(action))
    }

    /// Whether an exception has expired, which fails a command as what is denied does.
    pub(crate) fn has_expired(&self) -> bool {
        self.json.expired_exceptions > 0
    }

    /// How the run differs from the baseline, and which exceptions accepted nothing.
    pub(crate) fn notices(&self) -> Vec<InputNotice> {
        let mut notices = self.comparison.notices(&self.path);
        notices.extend(self.unused.iter().cloned());
        notices
    }

    /// It as that of a part of the inputs: another part may use an exception that this one does not.
    pub(crate) fn without_unused(mut self) -> Self {
        self.unused.clear();
        self
    }

    /// What was accepted, in JSON; `None` where nothing can be.
    pub(crate) fn json(&self) -> Option<JsonAcceptance> {
        let is_used = !self.path.is_empty() || self.json.exceptions + self.json.expired_exceptions > 0;
        is_used.then(|| self.json.clone())
    }

    /// `accepted: 3 findings known to baseline.json, 1 finding by 1 of 2 exceptions; expired: 1 exception`; empty where there is
    /// nothing of it.
    pub(crate) fn line(&self) -> String {
        let JsonAcceptance {
            known,
            excepted,
            exceptions,
            unused_exceptions,
            expired_exceptions,
        } = self.json;
        let mut parts = Vec::new();
        let findings = |count| counted(count, "finding", "findings");
        if !self.path.is_empty() {
            parts.push(format!("{} known to {}", findings(known), self.path));
        }
        if exceptions > 0 {
            let used = exceptions - unused_exceptions;
            let of = counted(exceptions, "exception", "exceptions");
            parts.push(format!("{} by {used} of {of}", findings(excepted)));
        }
        let accepted = match parts.as_slice() {
            [] => None,
            parts => Some(format!("accepted: {}", parts.join(", "))),
        };
        let expired = counted(expired_exceptions, "exception", "exceptions");
        let expired = (expired_exceptions > 0).then(|| format!("expired: {expired}"));
        accepted.into_iter().chain(expired).collect::<Vec<_>>().join("; ")
    }

    /// The line, with its end.
    pub(crate) fn human(&self) -> PrintableText {
        match self.line().as_str() {
            "" => PrintableText::new(),
            line => text!("{}\n", line),
        }
    }
}

/// The exceptions of a file; its problems are reported.
fn read_exceptions(path: &std::path::Path) -> Result<Vec<PolicyException>, CliError> {
    let file = match project::applied_file(path) {
        Some(file) => file,
        None => ManifestFile {
            path: path_text(path),
            content: read_regular(path, LARGEST).map_err(|error| CliError::unread(path, error))?,
        },
    };
    exception_file::exceptions(&file).map_err(|faults| {
        let mut texts = FileTexts::default();
        texts.insert(&file.path, &file.content);
        problems::report(&faults, &mut texts);
        CliError::Acceptance(AcceptanceError::NoExceptions {
            path: file.path.clone(),
        })
    })
}
