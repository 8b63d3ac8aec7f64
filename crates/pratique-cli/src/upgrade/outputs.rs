//! What an upgrade breaks and changes, in the forms that tools read.

use std::collections::BTreeSet;

use pratique_replay::{RequestApproximation, UnknownRequest};
use pratique_report::{PageTable, TablePage};
use serde::Serialize;

use super::finding::{UpgradeEffect, UpgradeFinding, UpgradeRule};
use super::report::{FindingGroup, UpgradeReport};
use crate::arguments::UpgradeFailOn;
use crate::evaluation::junit::error_case;
use crate::output::counted_nouns::counted;
use crate::output::finding::AnnotationLevel;
use crate::output::github::WorkflowCommands;
use crate::output::junit::{CaseOutcome, JunitCase, JunitSuite, XmlDocument, xml};
use crate::output::notice::{self, InputNotice};
use crate::output::place::InputPlace;
use crate::output::sarif::{LogResult, SarifInvocation, SarifLog};
use crate::replay::counters::KeyedCounters;

/// How many findings of each effect are rows of the page.
const MAX_ROWS: usize = 500;

/// The counts and the findings, as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JsonUpgrade<'a> {
    from: String,
    to: String,
    requests: u64,
    same: u64,
    breaks: u64,
    changes: u64,
    deprecated: u64,
    undecided: u64,
    not_subject: u64,
    changed_meanwhile: u64,
    errors: usize,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    notes: &'a BTreeSet<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notices: Vec<InputNotice>,
    evaluated: &'a str,
    unknown: &'a KeyedCounters<UnknownRequest>,
    approximations: &'a KeyedCounters<RequestApproximation>,
    groups: Vec<&'a FindingGroup>,
    #[serde(skip_serializing_if = "Option::is_none")]
    findings: Option<&'a [UpgradeFinding]>,
    /// How many findings are not listed.
    more_findings: u64,
}

/// A report, and what was compared.
pub(super) struct ComparedUpgrade<'a> {
    pub(super) report: &'a UpgradeReport,
    /// The names of the releases.
    pub(super) releases: [String; 2],
    pub(super) evaluated: &'a str,
    pub(super) inputs: Vec<String>,
}

impl<'a> ComparedUpgrade<'a> {
    /// The counts, with the findings unless these were printed before.
    pub(super) fn json(&self, lists_findings: bool) -> JsonUpgrade<'a> {
        let report = self.report;
        let [from, to] = self.releases.clone();
        JsonUpgrade {
            from,
            to,
            requests: report.requests,
            same: report.same,
            breaks: report.count_of(UpgradeEffect::Breaks),
            changes: report.count_of(UpgradeEffect::Changes),
            deprecated: report.count_of(UpgradeEffect::Deprecated),
            undecided: report.count_of(UpgradeEffect::Undecided),
            not_subject: report.not_subject,
            changed_meanwhile: report.changed_meanwhile,
            errors: report.faults.count(),
            notes: &report.notes,
            notices: report.notices.list(),
            evaluated: self.evaluated,
            unknown: &report.unknown,
            approximations: &report.approximations,
            groups: report.groups(),
            findings: lists_findings.then_some(report.findings.as_slice()),
            more_findings: if lists_findings { report.more } else { 0 },
        }
    }

    /// A result for each finding, error and notice, and the notes and counts as notifications.
    pub(super) fn sarif(&self, exit_code: u8) -> SarifLog {
        let report = self.report;
        let findings = report.findings.iter().map(|finding| {
            let object = (!finding.subject.is_empty()).then_some(finding.subject.as_str());
            LogResult::new(
                finding.rule.name(),
                finding.effect.level(),
                &finding.describe(),
                &InputPlace::parse(&finding.place),
                object,
            )
        });
        let errors = report.faults.errors().iter().map(|error| error.sarif());
        let notices = report.notices.list();
        let results = findings
            .chain(errors)
            .chain(notices.iter().map(LogResult::of_notice));
        let results = results.collect();
        let told = self.told().into_iter().map(|text| (AnnotationLevel::Note, text));
        let mut notifications: Vec<(AnnotationLevel, String)> = told.collect();
        if let Some(more) = self.more() {
            notifications.push((AnnotationLevel::Warning, more));
        }
        let invocation = SarifInvocation {
            is_successful: report.faults.count() == 0,
            exit_code,
            notifications,
        };
        SarifLog::new(describe, invocation, results)
    }

    /// A case for each group of findings, each error and each notice.
    pub(super) fn junit(&self, fails: impl Fn(UpgradeFailOn) -> bool) -> XmlDocument {
        let report = self.report;
        let groups = report.groups().into_iter().map(|group| {
            let place = InputPlace::parse(&group.first.place);
            let text = group.describe();
            let on = match group.effect {
                UpgradeEffect::Breaks => UpgradeFailOn::Breaks,
                UpgradeEffect::Changes => UpgradeFailOn::Changes,
                UpgradeEffect::Deprecated => UpgradeFailOn::Deprecated,
                UpgradeEffect::Undecided => UpgradeFailOn::Undecided,
            };
            let outcome = match on {
                UpgradeFailOn::Undecided => CaseOutcome::Error {
                    message: text.lines().next().unwrap_or_default().to_owned(),
                    text: text.clone(),
                },
                on if fails(on) => CaseOutcome::failed(&text),
                _ => CaseOutcome::Passed,
            };
            JunitCase {
                name: format!("{} {}", group.rule.name(), group.about),
                line: place.known_line(),
                file: place.file,
                seconds: 0.0,
                output: match outcome {
                    CaseOutcome::Passed => text,
                    _ => String::new(),
                },
                outcome,
            }
        });
        let errors = report.faults.errors().iter().map(error_case);
        let notices = report.notices.list();
        let notices = notices.iter().map(|notice| notice.case(false));
        let whole = JunitCase {
            name: self.headline(),
            file: String::new(),
            line: None,
            seconds: 0.0,
            output: self.told().join("\n"),
            outcome: CaseOutcome::Passed,
        };
        let cases = std::iter::once(whole).chain(groups).chain(errors).chain(notices);
        let suite = JunitSuite {
            name: "upgrade".to_owned(),
            properties: Vec::new(),
            cases: cases.collect(),
        };
        xml("pratique upgrade", &[suite])
    }

    /// An annotation for each finding, error and notice.
    pub(super) fn github(&self) -> WorkflowCommands {
        let mut commands = WorkflowCommands::default();
        for finding in &self.report.findings {
            let place = InputPlace::parse(&finding.place);
            commands.annotate_place(
                finding.effect.level(),
                &place,
                finding.rule.name(),
                &finding.describe(),
            );
        }
        for error in self.report.faults.errors() {
            commands.annotate_place(
                AnnotationLevel::Error,
                &error.input_place(),
                &error.place,
                &error.message,
            );
        }
        for notice in self.report.notices.list() {
            notice.annotate(&mut commands);
        }
        commands
    }

    /// A page with tables of the findings.
    pub(super) fn page(&self) -> TablePage {
        let report = self.report;
        let tables = UpgradeEffect::ALL.into_iter().map(|effect| {
            let findings = report.findings.iter().filter(|finding| finding.effect == effect);
            let rows = findings.take(MAX_ROWS).map(|finding| {
                [
                    finding.rule.name().to_owned(),
                    finding.about.clone(),
                    finding.place.clone(),
                    finding.describe(),
                ]
                .to_vec()
            });
            PageTable {
                heading: effect.heading().to_owned(),
                header: ["What", "About", "Where", "Finding"].map(str::to_owned).to_vec(),
                rows: rows.collect(),
                total: report.count_of(effect),
            }
        });
        let [from, to] = &self.releases;
        let mut notes = self.told();
        notes.extend(report.notices.list().iter().map(InputNotice::line));
        notes.extend(self.more());
        let numbers = UpgradeEffect::ALL.map(|effect| (effect.heading().to_owned(), report.count_of(effect)));
        let others = [
            ("the same".to_owned(), report.same),
            ("not subject to admission".to_owned(), report.not_subject),
            (
                "not read".to_owned(),
                u64::try_from(report.faults.count()).unwrap_or(u64::MAX),
            ),
        ];
        TablePage {
            title: format!("From Kubernetes {from} to {to}"),
            lead: self.headline(),
            numbers: numbers.into_iter().chain(others).collect(),
            tables: tables.collect(),
            notes,
            about: vec![("Inputs".to_owned(), self.inputs.join(", "))],
        }
    }

    /// The counts in a line.
    pub(super) fn headline(&self) -> String {
        let [from, to] = &self.releases;
        let report = self.report;
        let of = |effect| report.count_of(effect);
        format!(
            "Kubernetes {from} to {to}: {} breaking, {} otherwise, {} deprecated, {} undecided; {} of {} the same",
            of(UpgradeEffect::Breaks),
            of(UpgradeEffect::Changes),
            of(UpgradeEffect::Deprecated),
            of(UpgradeEffect::Undecided),
            report.same,
            counted(report.requests, "request", "requests")
        )
    }

    /// What is told besides findings and warnings: what is left out, and what was evaluated.
    pub(super) fn told(&self) -> Vec<String> {
        let report = self.report;
        let mut told: Vec<String> = report.notes.iter().cloned().collect();
        if report.not_subject > 0 {
            told.push(format!(
                "{} not subject to admission",
                counted(report.not_subject, "event is", "events are")
            ));
        }
        if report.changed_meanwhile > 0 {
            told.push(format!(
                "{} changed meanwhile",
                counted(report.changed_meanwhile, "object", "objects")
            ));
        }
        let unknown = report.unknown.iter();
        let unknown: Vec<String> = unknown
            .map(|(why, count)| format!("{} {count}", why.name()))
            .collect();
        if !unknown.is_empty() {
            told.push(format!("not in the log: {}", unknown.join(", ")));
        }
        let approximations = report.approximations.iter();
        let approximations = approximations.map(|(what, count)| format!("{} {count}", what.name()));
        let approximations: Vec<String> = approximations.collect();
        if !approximations.is_empty() {
            told.push(format!("approximated: {}", approximations.join(", ")));
        }
        let more = report.faults.count().saturating_sub(report.faults.errors().len());
        if more > 0 {
            told.push(format!(
                "{} counted and not listed",
                counted(more, "more error is", "more errors are")
            ));
        }
        told.push(self.evaluated.to_owned());
        told
    }

    /// How many findings are only counted, if some are.
    pub(super) fn more(&self) -> Option<String> {
        let more = self.report.more;
        (more > 0).then(|| {
            format!(
                "{} not listed: -o ndjson lists all",
                counted(more, "more finding is", "more findings are")
            )
        })
    }
}

impl FindingGroup {
    /// The first finding, and how many more there are.
    pub(super) fn describe(&self) -> String {
        let first = self.first.describe();
        match self.count.saturating_sub(1) {
            0 => first,
            more => format!("{first}\nand {more} more"),
        }
    }
}

/// What a rule of a result is about.
fn describe(rule: &str) -> String {
    let of_upgrade = UpgradeRule::ALL.into_iter().find(|known| known.name() == rule);
    let described = match of_upgrade {
        Some(known) => known.description(),
        None => notice::description(rule).unwrap_or(rule),
    };
    described.to_owned()
}
