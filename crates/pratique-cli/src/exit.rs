//! Exit statuses and errors of the command.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use pratique::NotEvaluated;
use pratique_manifest::path_text;
use pratique_schema::{FeatureGatesError, Release};
use pratique_types::admission_plugins::SwitchesError;

use crate::acceptance::acceptance_error::AcceptanceError;
use crate::arguments::outputs_error::OutputsError;
use crate::check::check_error::CheckError;
use crate::impact::impact_error::ImpactError;
use crate::input::rendering::render_error::RenderError;
use crate::output;
use crate::output::counted_nouns::among;
use crate::output::text::{IndentedLines, PrintableText, text};
use crate::playground::playground_error::PlaygroundError;
use crate::replay::replay_error::ReplayError;
use crate::review::review_error::ReviewError;
use crate::scan::scan_error::ScanError;
use crate::serve::serve_error::ServeError;
use crate::snapshot::snapshot_error::SnapshotError;
use crate::test::test_error::TestError;
use crate::upgrade::upgrade_error::UpgradeError;

/// The exit code for wrong usage, and for input or output that fails.
pub(crate) const ERROR: u8 = 2;

/// The exit code if the result depends on missing inputs.
pub(crate) const UNDECIDED: u8 = 3;

/// The exit code when standard output is closed: what a shell reports for a program that `SIGPIPE` ended.
pub(crate) const BROKEN_PIPE: u8 = 128 + 13;

/// The result of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// Everything is valid and allowed.
    Success,
    /// Something is invalid or denied.
    Failure,
    /// The result depends on missing inputs.
    Undecided,
    /// Something cannot be read or evaluated.
    Unread,
}

/// An error that ends the command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// A file cannot be opened.
    #[error("{path}: {}", plain(.error))]
    Read { path: String, error: io::Error },
    /// Something in a store cannot be read or written.
    #[error("{place}: {why}")]
    Store { place: String, why: String },
    /// Results of a form that is not text are to be shown.
    #[error("{format} is not text: name a file with --results, or send it to a pipe")]
    NotText { format: &'static str },
    /// The output cannot be written.
    #[error("cannot write the output: {}", plain(.0))]
    Write(io::Error),
    /// Standard output is a pipe without a reader.
    #[error("standard output is closed")]
    BrokenPipe,
    /// The error was logged already.
    #[error("see the log")]
    Logged,
    /// A thread cannot be started.
    #[error("cannot start: {}", plain(.0))]
    Thread(io::Error),
    /// Objects are to be updated, but no stored ones were given.
    #[error("{place}: an update needs the stored object: give it with --old")]
    NoOldObject { place: String },
    /// A revision of a git repository cannot be read.
    #[error("git: {why}")]
    Git { why: String },
    /// Patterns of excluded paths cannot be used together.
    #[error("--exclude: {why}")]
    Pattern { why: String },
    /// The release of a server does not have the feature gates.
    #[error("--feature-gates: {error}, in Kubernetes {release}")]
    FeatureGates {
        release: &'static Release,
        error: FeatureGatesError,
    },
    /// A path neither exists nor existed at a revision.
    #[error("{path}: it is neither here nor in {revision}")]
    NeverThere { path: String, revision: String },
    /// A path has no manifests, but perhaps so many other objects.
    #[error("{path}: there is no policy, binding or webhook configuration{}", among(*.count))]
    NoManifests { path: String, count: usize },
    /// Directories are nested too deep to be walked.
    #[error("{path}: directories are nested too deep")]
    TooDeep { path: String },
    /// An input exceeds the limit.
    #[error("{path}: larger than {mebibytes} MiB")]
    TooLarge { path: String, mebibytes: u32 },
    /// No input is named, nor anything else that has objects.
    #[error(
        "there is nothing to {verb}: name an INPUT, a cluster with --cluster, --kubeconfig or --context, or a snapshot with --snapshot"
    )]
    NoInput { verb: &'static str },
    /// A checkpoint cannot be used.
    #[error("{path}: {error}")]
    Checkpoint {
        path: String,
        error: crate::review::CheckpointError,
    },
    /// An output cannot be continued.
    #[error(
        "--checkpoint: this output is written as a whole, and cannot be continued: `json` and --report can"
    )]
    NoCheckpoint,
    /// There are webhooks, but they are not called.
    #[error("{0}: --webhooks calls them")]
    NotEvaluated(#[from] NotEvaluated),
    /// Outputs cannot be told apart.
    #[error(transparent)]
    Outputs(#[from] OutputsError),
    /// No objects are made of a directory.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// Plugins are both on and off.
    #[error(transparent)]
    PluginSwitches(#[from] SwitchesError),
    /// A plugin for policies or webhooks is to be off.
    #[error("{plugin} cannot be disabled: do not name the manifests that it is for")]
    DynamicPlugin { plugin: &'static str },
    /// What is accepted is not known.
    #[error(transparent)]
    Acceptance(#[from] AcceptanceError),
    /// Why `pratique check` ends.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// Why `pratique review` ends.
    #[error(transparent)]
    Review(#[from] ReviewError),
    /// Why `pratique scan` and `pratique report` end.
    #[error(transparent)]
    Scan(#[from] ScanError),
    /// Why `pratique replay` ends.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// Why `pratique impact` ends.
    #[error(transparent)]
    Impact(#[from] ImpactError),
    /// Why `pratique upgrade` ends.
    #[error(transparent)]
    Upgrade(#[from] UpgradeError),
    /// Why `pratique test` ends.
    #[error(transparent)]
    Test(#[from] TestError),
    /// Why `pratique serve` ends.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// Why the state of a cluster or of a snapshot cannot be had.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// Why `pratique lsp` ends.
    #[error(transparent)]
    Lsp(#[from] pratique_lsp::LspError),
    /// Why `pratique playground` ends.
    #[error(transparent)]
    Playground(#[from] PlaygroundError),
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        CliError::Thread(error)
    }
}

impl ExitStatus {
    /// `Success` if `holds`, else `Failure`.
    pub(crate) fn from_holds(holds: bool) -> Self {
        if holds {
            ExitStatus::Success
        } else {
            ExitStatus::Failure
        }
    }

    /// By what failed: what is denied takes precedence over what cannot be read, and that over what is undecided.
    pub(crate) fn of_failures(denied: bool, unread: bool, undecided: bool) -> Self {
        match (denied, unread, undecided) {
            (true, _, _) => ExitStatus::Failure,
            (_, true, _) => ExitStatus::Unread,
            (_, _, true) => ExitStatus::Undecided,
            (false, false, false) => ExitStatus::Success,
        }
    }

    /// The one of two that matters more: what is invalid or denied, then what cannot be read, then what is undecided.
    pub(crate) fn worse(self, other: Option<Self>) -> Self {
        let order = [
            ExitStatus::Failure,
            ExitStatus::Unread,
            ExitStatus::Undecided,
            ExitStatus::Success,
        ];
        let rank = |status: ExitStatus| order.iter().position(|known| *known == status);
        match other {
            Some(other) if rank(other) < rank(self) => other,
            _ => self,
        }
    }

    /// The exit code.
    pub(crate) fn code(self) -> ExitCode {
        ExitCode::from(self.number())
    }

    /// The number of the exit code.
    pub(crate) fn number(self) -> u8 {
        match self {
            ExitStatus::Success => 0,
            ExitStatus::Failure => 1,
            ExitStatus::Undecided => UNDECIDED,
            ExitStatus::Unread => ERROR,
        }
    }
}

impl CliError {
    /// A file cannot be opened, read or written.
    pub(crate) fn unread(path: &(impl AsRef<Path> + ?Sized), error: io::Error) -> Self {
        CliError::Read {
            path: path_text(path.as_ref()),
            error,
        }
    }

    /// The message.
    pub(crate) fn to_text(&self) -> PrintableText {
        let message = self.to_string();
        let lines = IndentedLines {
            text: &message,
            indent: "  ",
        };
        text!("error: {}\n", lines)
    }

    /// Reports it on standard error, and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        match self {
            CliError::BrokenPipe => return ExitCode::from(BROKEN_PIPE),
            CliError::Logged => {}
            _ => output::eprint(&self.to_text()),
        }
        ExitCode::from(ERROR)
    }
}

/// Formats an I/O error without the `os error` number.
pub(crate) fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error")
        .map_or(text.as_str(), |(text, _)| text)
        .to_owned()
}
