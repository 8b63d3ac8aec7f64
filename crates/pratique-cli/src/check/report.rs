//! The output of a check for other tools: JUnit XML and annotations of GitHub Actions.

use super::checked::Checked;
use super::levels::Levels;
use super::loaded::{Loaded, LoadedObject};
use crate::input::sources;
use crate::output::finding::{Finding, Severity};
use crate::output::github::Commands;
use crate::output::junit::{self, Case, Outcome, Suite, Xml};
use crate::output::problems::place;

/// JUnit XML: one suite for each path, with a case for each loaded object and each finding. Warnings that are not
/// denied pass.
pub(super) fn junit(checked: &[Checked], levels: &Levels<'_>) -> Xml {
    let suites: Vec<Suite> = checked.iter().map(|checked| suite(checked, levels)).collect();
    junit::xml("pratique check", &suites)
}

fn suite(checked: &Checked, levels: &Levels<'_>) -> Suite {
    let plugins = checked.loaded.as_deref().unwrap_or_default();
    let object = |found: &LoadedObject| Case {
        name: format!("{} {}", found.kind, found.name),
        file: found.location.file.to_string(),
        line: Some(found.location.start.line),
        seconds: 0.0,
        outcome: Outcome::Passed,
    };
    let objects = plugins
        .iter()
        .flat_map(|plugin: &Loaded| &plugin.objects)
        .map(object);
    let findings = checked.findings(levels);
    let mut cases: Vec<Case> = objects
        .chain(findings.iter().map(|finding| case(finding, &checked.path)))
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
        });
    }
    Suite {
        name: checked.path.clone(),
        cases,
    }
}

fn case(finding: &Finding<'_>, path: &str) -> Case {
    let place = finding.location.map(place);
    Case {
        name: format!("{} {}", finding.name, place.as_deref().unwrap_or(path)),
        file: finding
            .location
            .map_or_else(|| path.to_owned(), |location| location.file.to_string()),
        line: finding.location.map(|location| location.start.line),
        seconds: 0.0,
        outcome: match finding.severity {
            Severity::Warning => Outcome::Passed,
            Severity::Error | Severity::Denied => Outcome::Failed {
                message: finding.message.to_owned(),
                text: at_length(finding),
            },
        },
    }
}

/// Annotations of GitHub Actions, one on each line.
pub(super) fn github(checked: &[Checked], levels: &Levels<'_>) -> Commands {
    let mut commands = Commands::default();
    for finding in checked.iter().flat_map(|checked| checked.findings(levels)) {
        let level = match finding.severity {
            Severity::Error | Severity::Denied => "error",
            Severity::Warning => "warning",
        };
        commands.annotate(
            level,
            finding.location,
            &format!("pratique: {}", finding.name),
            &at_length(&finding),
        );
    }
    for checked in checked {
        sources::annotate(&checked.sources, &mut commands);
    }
    commands
}

fn at_length(finding: &Finding<'_>) -> String {
    let help = finding
        .help
        .map(|help| format!("\nhelp: {}", help.text))
        .unwrap_or_default();
    let server = match finding.stops_server {
        true => "\nkube-apiserver stops with this",
        false => "",
    };
    format!("{}{help}{server}\nsee {}", finding.message, finding.url())
}
