//! `pratique report merge`: adds the reports of scans.

use std::path::Path;

use pratique_manifest::path_text;
use pratique_report::Report;

use super::{collect, human, written};
use crate::arguments::{MergeArguments, ReportArguments, ReportCommand, ReportFormat};
use crate::destination;
use crate::exit::{CliError, ExitStatus};
use crate::input::{self, InputError};
use crate::output;
use crate::scan::scan_error::ScanError;

/// The largest report, in MiB.
const LARGEST: u32 = 256;

/// Works with reports.
pub(crate) fn run(arguments: &ReportArguments) -> Result<ExitStatus, CliError> {
    match &arguments.command {
        ReportCommand::Merge(arguments) => merge(arguments),
    }
}

/// Adds reports, and prints the result; succeeds if it has nothing that `--fail-on` names.
fn merge(arguments: &MergeArguments) -> Result<ExitStatus, CliError> {
    let mut merged: Option<Report> = None;
    for path in &arguments.reports {
        let report = read(path)?;
        match &mut merged {
            None => merged = Some(report),
            Some(merged) => merged.merge(report).map_err(|error| {
                CliError::Scan(ScanError::NotMerged {
                    path: path_text(path),
                    error,
                })
            })?,
        }
    }
    let Some(report) = merged else {
        return Ok(ExitStatus::Success);
    };
    written::write(&report, &arguments.written)?;
    match arguments.output {
        ReportFormat::Human => output::print(&human::of(&report))?,
        ReportFormat::Json => output::print_json(&report)?,
    }
    Ok(collect::status(
        &report,
        !report.missing().is_empty(),
        &arguments.failure,
    ))
}

fn read(path: &Path) -> Result<Report, CliError> {
    if let Some(content) = destination::read_object(path, LARGEST)? {
        return parsed(&path_text(path), &content);
    }
    let file = input::read_file(path, LARGEST).map_err(|error| match error {
        InputError::Cli(error) => error,
        InputError::TooLarge { path, mebibytes } => CliError::TooLarge { path, mebibytes },
        InputError::Unread { path, error } => CliError::Read { path, error },
        InputError::Faulty { place, why } => CliError::Scan(ScanError::NoReport { path: place, why }),
        InputError::Invalid { file, .. } => CliError::Scan(ScanError::NoReport {
            path: file.path.clone(),
            why: "it is not JSON".to_owned(),
        }),
    })?;
    parsed(&file.path, &file.content)
}

fn parsed(path: &str, content: &[u8]) -> Result<Report, CliError> {
    let text = String::from_utf8_lossy(content);
    Report::from_json(&text).map_err(|error| {
        CliError::Scan(ScanError::NoReport {
            path: path.to_owned(),
            why: error.to_string(),
        })
    })
}
