//! `pratique report merge`: adds the reports of scans.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use pratique_manifest::path_text;
use pratique_report::{MergeError, Report};

use super::{collect, human, report_files};
use crate::arguments::{MergeArguments, ReportArguments, ReportCommand, ReportFormat};
use crate::destination;
use crate::evaluation::limitations::ObjectLimitations;
use crate::exit::{CliError, ExitStatus};
use crate::input::{self, InputError};
use crate::output;
use crate::output_target::{self, OutputTarget};
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
    let choices = arguments.outputs.choices()?;
    output_target::verify(&choices)?;
    let written = &arguments.written;
    destination::verify(written.files.iter().chain(&written.metrics_file))?;
    let mut merged: Option<Report> = None;
    let mut inputs = FoundInputs::default();
    for path in &arguments.reports {
        let refused = |error| {
            CliError::Scan(ScanError::NotMerged {
                path: path_text(path),
                error,
            })
        };
        let report = read(path)?;
        inputs.add(&report).map_err(refused)?;
        match &mut merged {
            None => merged = Some(report),
            Some(merged) => merged.merge(report).map_err(refused)?,
        }
    }
    let Some(report) = merged else {
        return Ok(ExitStatus::Success);
    };
    report_files::write(&report, &arguments.written)?;
    output_target::print_all(OutputTarget::open_all(&choices)?, |format, _| match format {
        ReportFormat::Human => output::print(&human::report_text(&report, &ObjectLimitations::default())),
        ReportFormat::Json => output::print_json(&report),
    })?;
    Ok(collect::status(
        &report,
        !report.missing().is_empty(),
        &arguments.failure,
    ))
}

/// The inputs of whole reports that are found here: what reports cannot say by names alone, as paths may be links.
#[derive(Default)]
struct FoundInputs(BTreeSet<PathBuf>);

impl FoundInputs {
    /// Adds the inputs of a report, unless one is an input of those before. Shards of one run have the same.
    fn add(&mut self, report: &Report) -> Result<(), MergeError> {
        if !report.is_whole() {
            return Ok(());
        }
        let mut places = Vec::new();
        for input in &report.run().inputs {
            // What is not here was an input elsewhere, and is compared by its name.
            let Ok(place) = fs::canonicalize(input) else {
                continue;
            };
            if self.overlap(&place) {
                return Err(MergeError::InputTwice(input.clone()));
            }
            places.push(place);
        }
        self.0.extend(places);
        Ok(())
    }

    /// Whether a place is one of these, in one, or has one in it.
    fn overlap(&self, place: &Path) -> bool {
        // Paths are in the order of their parts: those that begin with a place follow it.
        let mut following = self.0.range(place.to_owned()..);
        let has_part = following.next().is_some_and(|next| next.starts_with(place));
        has_part || place.ancestors().any(|parent| self.0.contains(parent))
    }
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
