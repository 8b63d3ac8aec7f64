//! The arguments about checkpoints of long runs.

use std::path::PathBuf;

use clap::Args;

/// Checkpoints of a long run.
#[derive(Clone, Debug, Args)]
pub(crate) struct CheckpointArguments {
    /// Keep in a file how far the command has come. When it is run again after an interruption, it goes on from there, with the
    /// same report; the file is removed at the end. Only files that have not changed since can be continued, and outputs that are
    /// written as a whole cannot: `parquet`, `arrow` and --results, and of scans `sarif`, `junit`, `github`, `policyreport` and
    /// `openreports`. What is printed as it comes is not printed again.
    #[arg(long, env = "PRATIQUE_CHECKPOINT", value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Seconds between checkpoints.
    #[arg(
        long,
        env = "PRATIQUE_CHECKPOINT_INTERVAL",
        value_name = "SECONDS",
        default_value_t = 10
    )]
    pub(crate) checkpoint_interval: u32,
}
