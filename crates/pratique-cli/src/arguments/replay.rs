//! The command line of `pratique replay`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{
    AcceptanceArguments, CheckpointArguments, ComparisonArguments, OutputArguments, PolicyArguments,
    ResultArguments, StateArguments, ValidationArguments, VerboseArguments,
};
use crate::evaluation::result_writer::ColumnFormat;

/// Evaluate policies for the requests of an audit log, and compare with what happened then.
///
/// An event of level Request or RequestResponse has the object that admission saw. What an event does not have is undecided,
/// and never guessed: the objects of level Metadata, and of events that were truncated, and the old object of an update or
/// deletion, unless --remember knows it; only policies that read it are undecided then. Requests that read, or that did not
/// come as far as admission, are counted. Webhooks and built-in plugins are not run: what they refused then is not compared.
///
/// Without --policies, --manifests and --admission-control-config-file, the policies of the cluster or snapshot are evaluated,
/// and without these the Pod Security Standards.
///
/// Exit codes: 0 no request that was allowed is refused now; 1 one is; 2 wrong usage, or a log or a policy cannot be read; 3
/// none is refused, but something is undecided, or no policy is evaluated. --fail-on says what counts.
#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// Audit logs of kube-apiserver: files of the log backend, one event on a line, batches of the webhook backend, or what
    /// `serve --record` keeps; plain or compressed with gzip; directories of them; `-` is standard input. Rotated files are given
    /// in the order in which they were written, which is that of their names in a directory.
    #[arg(required = true, value_name = "AUDIT-LOG")]
    pub(crate) logs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) policies: PolicyArguments,
    #[command(flatten)]
    pub(crate) memory: RememberArguments,
    #[command(flatten)]
    pub(crate) validation: ValidationArguments,
    #[command(flatten)]
    pub(crate) state: StateArguments,
    #[command(flatten)]
    pub(crate) checkpoints: CheckpointArguments,
    #[command(flatten)]
    pub(crate) answers: ReplayAnswerArguments,
    #[command(flatten)]
    pub(crate) acceptance: AcceptanceArguments,
    #[command(flatten)]
    pub(crate) files: VerboseArguments,
}

/// What is remembered of a log.
#[derive(Clone, Debug, Args)]
pub(crate) struct RememberArguments {
    /// Remember objects that events hold, up to so many MiB, as the old objects of later updates, patches and deletions. The
    /// inputs are read by one thread then.
    #[arg(long, env = "PRATIQUE_REMEMBER", value_name = "MIB", default_value_t = 0)]
    pub(crate) remember: u32,
}

/// What is printed of a replay, and what it fails for.
#[derive(Debug, Args)]
pub(crate) struct ReplayAnswerArguments {
    #[command(flatten)]
    pub(crate) outputs: OutputArguments<ReplayFormat>,
    #[command(flatten)]
    pub(crate) comparison: ComparisonArguments,
    #[command(flatten)]
    pub(crate) results: ResultArguments,
    /// Print every request that is decided otherwise than then, of which 50 are printed without the flag, and every undecided one,
    /// of which one is printed for each reason.
    #[arg(long, env = "PRATIQUE_ALL", conflicts_with = "summary")]
    pub(crate) all: bool,
    /// Print the counts only, not the requests.
    #[arg(long, env = "PRATIQUE_SUMMARY")]
    pub(crate) summary: bool,
}

/// The output format of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReplayFormat {
    /// The requests whose decision is not the same, and tables of the counts.
    Human,
    /// The counts as one JSON document, with examples.
    Json,
    /// One line of JSON for each request; with --summary the counts as a last line.
    Ndjson,
    /// A row for each request, as Parquet.
    Parquet,
    /// A row for each request, as a stream of Arrow IPC.
    Arrow,
}

impl ReplayFormat {
    /// The format of columns that this is.
    pub(crate) fn columns(self) -> Option<ColumnFormat> {
        match self {
            ReplayFormat::Parquet => Some(ColumnFormat::Parquet),
            ReplayFormat::Arrow => Some(ColumnFormat::ArrowStream),
            ReplayFormat::Human | ReplayFormat::Json | ReplayFormat::Ndjson => None,
        }
    }
}
