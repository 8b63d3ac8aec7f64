//! The output of a check for other tools: JUnit XML and annotations of GitHub Actions.

use super::checked_path::CheckedPath;
use super::levels::WarningLevels;
use super::loaded_plugin::{LoadedObject, LoadedPlugin};
use crate::input::sources;
use crate::output::finding::{FindingSeverity, OutputFinding};
use crate::output::github::WorkflowCommands;
use crate::output::junit::{self, CaseOutcome, JunitCase, JunitSuite, XmlDocument};
use crate::output::notice::InputNotice;
use crate::output::problems::place;

/// JUnit XML: one suite for each path, with a case for each loaded object and each finding. Warnings that are not
/// denied pass, and say what they are about.
pub(super) fn junit(
    checked: &[CheckedPath],
    notices: &[InputNotice],
    levels: &WarningLevels<'_>,
) -> XmlDocument {
    let mut suites: Vec<JunitSuite> = checked.iter().map(|checked| suite(checked, levels)).collect();
    suites.extend(notice_suite(notices, levels));
    junit::xml("pratique check", &suites)
}

/// The suite of notices, if there are any.
pub(crate) fn notice_suite(notices: &[InputNotice], levels: &WarningLevels<'_>) -> Option<JunitSuite> {
    let cases = notices.iter().map(|notice| notice.case(levels.denies_warnings()));
    (!notices.is_empty()).then(|| JunitSuite {
        name: "notices".to_owned(),
        properties: Vec::new(),
        cases: cases.collect(),
    })
}

fn suite(checked: &CheckedPath, levels: &WarningLevels<'_>) -> JunitSuite {
    let plugins = checked.loaded.as_deref().unwrap_or_default();
    let object = |loaded_object: &LoadedObject| JunitCase {
        name: format!("{} {}", loaded_object.kind, loaded_object.name),
        file: loaded_object.location.file.to_string(),
        line: Some(loaded_object.location.start.line),
        seconds: 0.0,
        outcome: CaseOutcome::Passed,
        output: String::new(),
    };
    let objects = plugins
        .iter()
        .flat_map(|plugin: &LoadedPlugin| &plugin.objects)
        .map(object);
    let findings = checked.findings_with_webhooks(levels);
    let mut cases: Vec<JunitCase> = objects
        .chain(findings.iter().map(case))
        .chain(sources::cases(&checked.sources))
        .collect();
    if cases.is_empty() {
        // A directory without manifests loads, too.
        cases.push(JunitCase {
            name: "loads".to_owned(),
            file: checked.path.clone(),
            line: None,
            seconds: 0.0,
            outcome: CaseOutcome::Passed,
            output: String::new(),
        });
    }
    JunitSuite {
        name: checked.path.clone(),
        properties: Vec::new(),
        cases,
    }
}

/// The case of a finding.
pub(crate) fn case(finding: &OutputFinding<'_>) -> JunitCase {
    let place = finding.location.map(place);
    JunitCase {
        name: format!("{} {}", finding.name, place.as_deref().unwrap_or(finding.input)),
        file: finding.file().to_owned(),
        line: finding.location.map(|location| location.start.line),
        seconds: 0.0,
        outcome: match finding.severity {
            FindingSeverity::Warning => CaseOutcome::Passed,
            FindingSeverity::Error | FindingSeverity::Denied => CaseOutcome::Failed {
                message: finding.message.to_owned(),
                text: finding.at_length(),
            },
        },
        output: match finding.severity {
            FindingSeverity::Warning => finding.at_length(),
            FindingSeverity::Error | FindingSeverity::Denied => String::new(),
        },
    }
}

/// Annotations of GitHub Actions, one on each line.
pub(super) fn github(
    checked: &[CheckedPath],
    notices: &[InputNotice],
    levels: &WarningLevels<'_>,
) -> WorkflowCommands {
    let mut commands = WorkflowCommands::default();
    let findings = checked
        .iter()
        .flat_map(|checked| checked.findings_with_webhooks(levels));
    for finding in findings {
        commands.annotate_finding(&finding);
    }
    notices.iter().for_each(|notice| notice.annotate(&mut commands));
    for checked in checked {
        sources::annotate(&checked.sources, &mut commands);
    }
    commands
}
