//! The output of a check for other tools: JUnit XML and annotations of GitHub Actions.

use super::checked::Checked;
use super::levels::Levels;
use super::loaded::{Loaded, LoadedObject};
use crate::input::sources;
use crate::output::finding::{Finding, Level, Severity};
use crate::output::github::Commands;
use crate::output::junit::{self, Case, Outcome, Suite, Xml};
use crate::output::notice::Notice;
use crate::output::place::InputPlace;
use crate::output::problems::place;

/// JUnit XML: one suite for each path, with a case for each loaded object and each finding. Warnings that are not
/// denied pass, and say what they are about.
pub(super) fn junit(checked: &[Checked], notices: &[Notice], levels: &Levels<'_>) -> Xml {
    let mut suites: Vec<Suite> = checked.iter().map(|checked| suite(checked, levels)).collect();
    suites.extend(notice_suite(notices, levels));
    junit::xml("pratique check", &suites)
}

/// The suite of notices, if there are any.
pub(crate) fn notice_suite(notices: &[Notice], levels: &Levels<'_>) -> Option<Suite> {
    let cases = notices.iter().map(|notice| notice.case(levels.denies_warnings()));
    (!notices.is_empty()).then(|| Suite {
        name: "notices".to_owned(),
        cases: cases.collect(),
    })
}

fn suite(checked: &Checked, levels: &Levels<'_>) -> Suite {
    let plugins = checked.loaded.as_deref().unwrap_or_default();
    let object = |loaded_object: &LoadedObject| Case {
        name: format!("{} {}", loaded_object.kind, loaded_object.name),
        file: loaded_object.location.file.to_string(),
        line: Some(loaded_object.location.start.line),
        seconds: 0.0,
        outcome: Outcome::Passed,
        output: String::new(),
    };
    let objects = plugins
        .iter()
        .flat_map(|plugin: &Loaded| &plugin.objects)
        .map(object);
    let findings = checked.findings_with_webhooks(levels);
    let mut cases: Vec<Case> = objects
        .chain(findings.iter().map(case))
        .chain(sources::cases(&checked.sources))
        .collect();
    if cases.is_empty() {
        // A directory without manifests loads, too.
        cases.push(Case {
            name: "loads".to_owned(),
            file: checked.path.clone(),
            line: None,
            seconds: 0.0,
            outcome: Outcome::Passed,
            output: String::new(),
        });
    }
    Suite {
        name: checked.path.clone(),
        cases,
    }
}

/// The case of a finding.
pub(crate) fn case(finding: &Finding<'_>) -> Case {
    let place = finding.location.map(place);
    Case {
        name: format!("{} {}", finding.name, place.as_deref().unwrap_or(finding.input)),
        file: finding.file().to_owned(),
        line: finding.location.map(|location| location.start.line),
        seconds: 0.0,
        outcome: match finding.severity {
            Severity::Warning => Outcome::Passed,
            Severity::Error | Severity::Denied => Outcome::Failed {
                message: finding.message.to_owned(),
                text: at_length(finding),
            },
        },
        output: match finding.severity {
            Severity::Warning => at_length(finding),
            Severity::Error | Severity::Denied => String::new(),
        },
    }
}

/// Annotations of GitHub Actions, one on each line.
pub(super) fn github(checked: &[Checked], notices: &[Notice], levels: &Levels<'_>) -> Commands {
    let mut commands = Commands::default();
    let findings = checked
        .iter()
        .flat_map(|checked| checked.findings_with_webhooks(levels));
    for finding in findings {
        annotate(&mut commands, &finding);
    }
    notices.iter().for_each(|notice| notice.annotate(&mut commands));
    for checked in checked {
        sources::annotate(&checked.sources, &mut commands);
    }
    commands
}

/// Adds the annotation of a finding.
pub(crate) fn annotate(commands: &mut Commands, finding: &Finding<'_>) {
    let level = Level::from(finding.severity);
    let (title, message) = (format!("pratique: {}", finding.name), at_length(finding));
    match finding.location {
        Some(location) => commands.annotate(level, location, &title, &message),
        None => commands.annotate_place(level, &InputPlace::parse(finding.input), &title, &message),
    }
}

fn at_length(finding: &Finding<'_>) -> String {
    let help = finding
        .help
        .map(|help| format!("\nhelp: {}", help.text))
        .unwrap_or_default();
    let server = if finding.stops_server {
        "\nkube-apiserver stops with this"
    } else {
        ""
    };
    format!("{}{help}{server}\nsee {}", finding.message, finding.url())
}
