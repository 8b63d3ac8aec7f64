//! Files that a report is written to.

use std::time::SystemTime;

use pratique_report::{ComparisonPage, Page, Report};

use super::metrics;
use crate::arguments::{ComparisonArguments, ReportFileArguments};
use crate::destination::{self, FileReaders};
use crate::exit::CliError;
use crate::time;

/// Writes a report to all files: a page where the name ends in `.html`, and otherwise JSON.
pub(crate) fn write(report: &Report, arguments: &ReportFileArguments) -> Result<(), CliError> {
    for path in &arguments.files {
        let is_page = path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("html"));
        let text = if is_page {
            page(report)
        } else {
            format!("{}\n", report.to_json())
        };
        destination::write(path, &text, FileReaders::Usual)?;
    }
    match &arguments.metrics_file {
        Some(path) => destination::write(
            path,
            &metrics::metrics_text(report, SystemTime::now()),
            FileReaders::Usual,
        ),
        None => Ok(()),
    }
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
pub(crate) fn write_page(
    page: ComparisonPage<'_>,
    command: &str,
    arguments: &ComparisonArguments,
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
    destination::write(path, &text.to_string(), FileReaders::Usual)
}
