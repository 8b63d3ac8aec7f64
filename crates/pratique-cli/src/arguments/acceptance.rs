//! The arguments about findings that are accepted.

use std::path::PathBuf;

use clap::Args;

/// Findings that are told and counted, and do not fail the command.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct AcceptanceArguments {
    /// File of exceptions: findings that are accepted for some objects, with a reason and perhaps until a date. By default
    /// those of the field `exceptions` of the project file. The flag can be repeated.
    #[arg(long, env = "PRATIQUE_EXCEPTIONS", value_name = "FILE")]
    pub(crate) exceptions: Vec<PathBuf>,
    /// File of the findings of an earlier run: those are known, and accepted. What is new fails, and what is gone is told.
    #[arg(long, env = "PRATIQUE_BASELINE", value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write what is found, except for what exceptions accept, to a file for --baseline.
    #[arg(long, env = "PRATIQUE_WRITE_BASELINE", value_name = "FILE")]
    pub(crate) write_baseline: Option<PathBuf>,
}
