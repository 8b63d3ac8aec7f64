//! Exit statuses and errors of the command.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use pratique::NotEvaluated;
use pratique_manifest::path_text;
use pratique_types::admission_plugins::PluginsOverlap;

use crate::output;
use crate::output::counted::counted;
use crate::output::text::{Lines, Text, text};

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
    /// The session with an editor broke off.
    #[error("{0}")]
    Lsp(#[from] pratique_lsp::LspError),
    /// A thread cannot be started.
    #[error("cannot start: {}", plain(.0))]
    Thread(io::Error),
    /// The plugin of a directory is not known.
    #[error("{path}: the kinds of its manifests do not identify a plugin: name it with --plugin")]
    NoPlugin { path: String },
    /// A directory has manifests of several plugins.
    #[error(
        "{path}: its manifests are for several plugins ({plugins}): a directory belongs to one plugin, name it with --plugin"
    )]
    SeveralPlugins { path: String, plugins: String },
    /// Objects are to be updated, but no stored ones were given.
    #[error("{place}: an update needs the stored object: give it with --old")]
    NoOldObject { place: String },
    /// A revision of a git repository cannot be read.
    #[error("git: {why}")]
    Git { why: String },
    /// Patterns of excluded paths cannot be used together.
    #[error("--exclude: {why}")]
    Pattern { why: String },
    /// There are webhooks, which the command never calls.
    #[error("{0}: this command calls none: leave their configurations out")]
    NoWebhooks(NotEvaluated),
    /// A log has no entry.
    #[error("{logs}: there is no audit event in it")]
    NothingToReplay { logs: String },
    /// A path neither exists nor existed at a revision.
    #[error("{path}: it is neither here nor in {revision}")]
    NeverThere { path: String, revision: String },
    /// Standard input is compared with a revision.
    #[error("<stdin>: it has no revision: --since needs files or directories")]
    NoRevisionOfStdin,
    /// A path has no manifests, but perhaps so many other objects.
    #[error("{path}: there is no policy, binding or webhook configuration{}", among(*.count))]
    NoManifests { path: String, count: usize },
    /// A file of a directory of policies cannot be read any more.
    #[error("{path}: it is neither YAML nor JSON of objects")]
    NoObjects { path: String },
    /// An AdmissionConfiguration on standard input, which has no directory for its paths.
    #[error("<stdin>: an AdmissionConfiguration names other files: give it as a file, by its path")]
    ConfigurationOnStdin,
    /// A path is not UTF-8, where it has to be.
    #[error("{path}: the name is not UTF-8: only files of objects, manifests and suites can have such names")]
    NoText { path: String },
    /// Directories are nested too deep to be walked.
    #[error("{path}: directories are nested too deep")]
    TooDeep { path: String },
    /// An input exceeds the limit.
    #[error("{path}: larger than {mebibytes} MiB")]
    TooLarge { path: String, mebibytes: u32 },
    /// Manifests of several plugins have no common hash, and objects of the API have none.
    #[error("{path}: a hash is that of one plugin's static manifests alone: name the plugin with --plugin")]
    NoHash { path: String },
    /// The program was built without a playground.
    #[cfg(not(feature = "playground"))]
    #[error(
        "this program has no playground inside: build one with `cargo xtask playground`, and name its directory with --dir"
    )]
    NoPlayground,
    /// A directory is not that of a playground.
    #[error("{path}: there is no playground")]
    NotPlayground { path: String },
    /// There is nothing to check.
    #[error(
        "there is nothing to check: name the PATH of policies, or a cluster with --cluster, --kubeconfig or --context"
    )]
    NothingToCheck,
    /// There is no object to review.
    #[error("{inputs}: there is no object to review")]
    NothingToReview { inputs: String },
    /// No input is named, nor anything else that has objects.
    #[error(
        "there is nothing to {verb}: name an INPUT, a cluster with --cluster, --kubeconfig or --context, or a snapshot with --snapshot"
    )]
    NoInput { verb: &'static str },
    /// There is no object to scan.
    #[error("{inputs}: there is no object to scan")]
    NothingToScan { inputs: String },
    /// An input that can be read only once is to be divided, or continued.
    #[error("{path}: this can be read only once: --shard and --checkpoint are for files")]
    ShardOfPipe { path: String },
    /// A file is not a report.
    #[error("{path}: it is not a report: {why}")]
    NoReport { path: String, why: String },
    /// A report cannot be added to those before it.
    #[error("{path}: {error}")]
    NotMerged {
        path: String,
        error: pratique_report::MergeError,
    },
    /// A checkpoint cannot be used.
    #[error("{path}: {error}")]
    Checkpoint {
        path: String,
        error: crate::review::CheckpointError,
    },
    /// A plugin makes no sense for what is there.
    #[error("--enable-admission-plugins: {plugin} is not evaluated for what is there: {why}")]
    NotScanned { plugin: &'static str, why: &'static str },
    /// Plugins decide nothing about an update of an object to itself.
    #[error(
        "--chain: built-in plugins decide about creations, and not about updates of objects to themselves: leave out --as-update"
    )]
    PluginsOfUpdates,
    /// An output cannot be continued.
    #[error(
        "--checkpoint: this output is written as a whole, and cannot be continued: `json` and --report can"
    )]
    NoCheckpoint,
    /// The output is none that a cluster has.
    #[cfg(feature = "kube")]
    #[error(
        "--apply: only `policyreport` and `openreports` are objects of a cluster: name one with --output"
    )]
    NothingToApply,
    /// There are webhooks, but they are not called.
    #[error("{0}: --webhooks calls them")]
    NotEvaluated(#[from] NotEvaluated),
    /// Plugins are both on and off.
    #[error(transparent)]
    PluginsOverlap(#[from] PluginsOverlap),
    /// There is nothing to test.
    #[error("{paths}: there is no suite of tests")]
    NoSuite { paths: String },
    /// Suites have no tests.
    #[error("{paths}: there is no test in the suites")]
    NothingToTest { paths: String },
    /// A first suite is to be written for a file.
    #[error("{path}: --init writes a suite for a directory of policies")]
    NoDirectory { path: String },
    /// No test matches the filter.
    #[error("no test's name contains {filter:?}")]
    NoTest { filter: String },
    /// Changes cannot be watched.
    #[error("cannot watch for changes: {0}")]
    Watch(notify::Error),
    /// A cluster cannot be read.
    #[cfg(feature = "kube")]
    #[error("cannot read the cluster {url}: {why}")]
    Cluster { url: String, why: String },
    /// The policies of a cluster are not known.
    #[cfg(feature = "kube")]
    #[error("the {resource} of the cluster {url} are not known: {why}; --policies names policies")]
    PoliciesOfCluster {
        url: String,
        resource: String,
        why: String,
    },
    /// The policies of a snapshot are not known.
    #[error("the snapshot does not say which {kind} objects there were: {why}; --policies names policies")]
    PoliciesOfSnapshot { kind: String, why: String },
    /// A snapshot cannot be read or written.
    #[error("{path}: {why}")]
    Snapshot { path: String, why: String },
    /// A plugin for policies or webhooks is to be off.
    #[error("{plugin} cannot be disabled: do not name the manifests that it is for")]
    DynamicPlugin { plugin: &'static str },
    /// A plugin that counts requests would count those of everyone.
    #[error(
        "{plugin} counts requests, and without --client-ca-file everyone who reaches the port can send some, until those of \
         others are refused: name the authority of the API servers' certificates with --client-ca-file, or say that \
         everyone may, with --count-anonymous-reviews"
    )]
    AnonymousReviews { plugin: &'static str },
    /// The server does not start.
    #[error("{0}")]
    Serve(String),
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        CliError::Thread(error)
    }
}

impl ExitStatus {
    /// `Success` if `holds`, else `Failure`.
    pub(crate) fn of(holds: bool) -> Self {
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
    pub(crate) fn text(&self) -> Text {
        let message = self.to_string();
        let lines = Lines {
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
            _ => output::eprint(&self.text()),
        }
        ExitCode::from(ERROR)
    }
}

/// Among how many objects something was not found.
fn among(count: usize) -> String {
    match count {
        0 => " in it".to_owned(),
        count => format!(" among its {}", counted(count, "object", "objects")),
    }
}

/// Formats an I/O error without the `os error` number.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error")
        .map_or(text.as_str(), |(text, _)| text)
        .to_owned()
}
