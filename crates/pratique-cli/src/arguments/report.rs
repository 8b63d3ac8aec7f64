//! The command line of `pratique report`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{FailureArguments, OutputArguments, ReportFileArguments};

/// Work with the reports of scans.
#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    #[command(subcommand)]
    pub(crate) command: ReportCommand,
}

/// What is done with reports.
#[derive(Debug, Subcommand)]
pub(crate) enum ReportCommand {
    Merge(MergeArguments),
}

/// Add reports: those of the shards of a scan, or of scans of several inputs with the same policies.
///
/// The result is the report of one scan over everything. Reports of different policies or versions, and reports that would
/// count something twice, are not added. A report that lacks shards says so, and counts as undecided.
///
/// Exit codes: 0 everything is allowed; 1 something is denied; 2 wrong usage, or a report cannot be read or added; 3 nothing
/// is denied, but something is undecided. --fail-on says what counts.
#[derive(Debug, Args)]
pub(crate) struct MergeArguments {
    /// Reports as JSON: files that `scan --report` or `scan -o json` wrote, or objects of an S3-compatible store, as
    /// `s3://BUCKET/KEY`; `-` is standard input.
    #[arg(required = true, value_name = "REPORT")]
    pub(crate) reports: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) outputs: OutputArguments<ReportFormat>,
    #[command(flatten)]
    pub(crate) written: ReportFileArguments,
    #[command(flatten)]
    pub(crate) failure: FailureArguments,
}

/// The output format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Tables of the counts, with examples.
    Human,
    /// The report as JSON.
    Json,
}
