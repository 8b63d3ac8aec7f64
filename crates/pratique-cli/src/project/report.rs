//! What the outputs of a command tell of the project file.

use serde::Serialize;

use super::applied_settings::{ProjectReport, report_of};
use crate::exit::CliError;
use crate::output::notice::{InputNotice, WEAKENED_SETTING};
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
    match report_of(command) {
        Some(project_file) => output::print_json(&WithProject {
            report: value,
            project_file,
        }),
        None => output::print_json(value),
    }
}

/// Prints what is told of the file, if there is something, as a JSON line.
pub(crate) fn print_line(command: &str) -> Result<(), CliError> {
    match report_of(command) {
        Some(project_file) => output::print_json_line(&ProjectLine { project_file }),
        None => Ok(()),
    }
}

/// The settings that a command uses and that may turn a refusal into an approval, as notices. They were told before.
pub(crate) fn notices(command: &str) -> impl Iterator<Item = InputNotice> {
    let told = report_of(command)
        .map(|report| report.weakened)
        .unwrap_or_default();
    told.into_iter().map(|setting| {
        let place = problems::place(&setting.location);
        InputNotice::new(WEAKENED_SETTING, place, &setting.message)
    })
}
