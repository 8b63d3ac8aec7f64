//! What the outputs of a command tell of the project file.

use serde::Serialize;

use super::applied::{ProjectReport, report};
use super::weakened::WeakenedSetting;
use crate::exit::CliError;
use crate::output::{self, problems};

/// The report of a command, and what is told of the file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WithProject<'a, T> {
    #[serde(flatten)]
    report: &'a T,
    project_file: ProjectReport,
}

/// The same as a line of an output of JSON lines.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProjectLine {
    project_file: ProjectReport,
}

/// Prints the report of a command as JSON, with what is told of the file.
pub(crate) fn print_with_report(command: &str, value: &impl Serialize) -> Result<(), CliError> {
    match report(command) {
        Some(project_file) => output::print_json(&WithProject {
            report: value,
            project_file,
        }),
        None => output::print_json(value),
    }
}

/// Prints what is told of the file, if there is something, as a JSON line.
pub(crate) fn print_line(command: &str) -> Result<(), CliError> {
    match report(command) {
        Some(project_file) => output::print_json_line(&ProjectLine { project_file }),
        None => Ok(()),
    }
}

/// What a report notes of the settings of a command that may turn a refusal into an approval.
pub(crate) fn notes(command: &str) -> Vec<String> {
    let told = report(command).map(|report| report.weakened).unwrap_or_default();
    let note =
        |setting: &WeakenedSetting| format!("{}: {}", problems::place(&setting.location), setting.message);
    told.into_iter().map(note).collect()
}
