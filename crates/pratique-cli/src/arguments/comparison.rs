//! The arguments about what commands that compare decisions write, and fail for.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::exit::ExitStatus;

/// The page of a comparison, and what the command fails for.
#[derive(Clone, Debug, Args)]
pub(crate) struct ComparisonArguments {
    /// Write what differs to a file as well, as a page of HTML that loads nothing.
    #[arg(long = "report", env = "PRATIQUE_REPORT", value_name = "FILE")]
    pub(crate) page: Option<PathBuf>,
    /// What the command fails for: `refused` (a request is refused that was not before; of `impact`, more than
    /// --max-new-refusals), `allowed` (a request is allowed that a policy refused before) and `warn` (something is told besides
    /// decisions, such as what was not evaluated) give exit code 1, `error` (something cannot be read) 2, and `undecided` 3.
    #[arg(
        long,
        env = "PRATIQUE_FAIL_ON",
        value_name = "WHAT,…",
        value_delimiter = ',',
        default_value = "refused,error,undecided"
    )]
    fail_on: Vec<ComparisonFailOn>,
}

/// What a comparison fails for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ComparisonFailOn {
    /// A request is refused that was not before.
    Refused,
    /// A request is allowed that a policy refused before.
    Allowed,
    /// A warning is told about something that no decision tells.
    Warn,
    /// A decision depends on something that the log does not have, or that was not given.
    Undecided,
    /// An input cannot be read, or a request not be evaluated.
    Error,
}

impl ComparisonArguments {
    /// The exit status, by what holds.
    pub(crate) fn status(&self, holds: impl Fn(ComparisonFailOn) -> bool) -> ExitStatus {
        let fails = |on| self.fail_on.contains(&on) && holds(on);
        ExitStatus::of_failures(
            fails(ComparisonFailOn::Refused)
                || fails(ComparisonFailOn::Allowed)
                || fails(ComparisonFailOn::Warn),
            fails(ComparisonFailOn::Error),
            fails(ComparisonFailOn::Undecided),
        )
    }
}
