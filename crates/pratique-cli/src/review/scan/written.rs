//! Files that a report is written to.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use pratique_manifest::path_text;
use pratique_report::{ComparisonPage, Page, Report};

use super::metrics;
use crate::arguments::{PageArguments, ReportFileArguments};
use crate::exit::CliError;
use crate::time;

/// Writes a report to all files: a page where the name ends in `.html`, and otherwise JSON.
pub(in crate::review) fn write(report: &Report, arguments: &ReportFileArguments) -> Result<(), CliError> {
    for path in &arguments.files {
        let is_page = path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("html"));
        let text = match is_page {
            true => page(report),
            false => format!("{}\n", report.to_json()),
        };
        written(path, &text)?;
    }
    match &arguments.metrics_file {
        Some(path) => written(path, &metrics::text(report, SystemTime::now())),
        None => Ok(()),
    }
}

fn written(path: &Path, text: &str) -> Result<(), CliError> {
    replace(path, text).map_err(|error| CliError::Read {
        path: path_text(path),
        error,
    })
}

fn page(report: &Report) -> String {
    let run = report.run();
    let title = format!("pratique {} of {}", run.command, run.inputs.join(", "));
    let page = Page {
        report,
        title: &title,
        time: &time::now(),
    };
    page.to_string()
}

/// Writes the page of a comparison, if it is asked for; the command and the time are added to it.
pub(in crate::review) fn write_page(
    page: ComparisonPage<'_>,
    command: &str,
    arguments: &PageArguments,
) -> Result<(), CliError> {
    let Some(path) = &arguments.page else {
        return Ok(());
    };
    let about = [
        (
            "Command",
            format!("pratique {command} {}", env!("CARGO_PKG_VERSION")),
        ),
        ("Time", time::now()),
    ];
    let about = [about.as_slice(), page.about].concat();
    let text = ComparisonPage {
        about: &about,
        ..page
    };
    written(path, &text.to_string())
}

/// Writes a file beside it first, so that a reader never finds a part of it.
pub(super) fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    // What is no regular file, such as /dev/stdout, has no place beside it.
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return fs::write(path, text);
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let beside = path.with_file_name(name);
    let written = fs::write(&beside, text).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // It is the first error that counts.
        let _ = fs::remove_file(&beside);
    }
    written
}
