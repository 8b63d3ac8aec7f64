//! How the command ends: with an answer, or in trouble before there was one.

use std::io;
use std::process::ExitCode;

use pratique::NotEvaluated;

use crate::output;
use crate::output::text::{Lines, Text, text};

/// The exit code for wrong usage and failed input or output.
pub(crate) const ERROR: u8 = 2;

/// The exit code for answers that depend on what was not given.
pub(crate) const UNDECIDED: u8 = 3;

/// The exit code when the reader of standard output is gone: what a shell reports for a program that `SIGPIPE` ended.
pub(crate) const BROKEN_PIPE: u8 = 128 + 13;

/// The answer to the question that the command was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// Everything is valid, everything is allowed.
    Success,
    /// Something is not.
    Failure,
    /// It cannot be told: the answer depends on what was not given.
    Undecided,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// A file does not open.
    #[error("{path}: {}", plain(.error))]
    Read { path: String, error: io::Error },
    /// The answer cannot be written.
    #[error("cannot write the answer: {}", plain(.0))]
    Write(io::Error),
    /// Standard output is a pipe whose reader is gone.
    #[error("standard output is closed")]
    BrokenPipe,
    /// What went wrong is in the log already.
    #[error("see the log")]
    Logged,
    /// The machine gives no thread.
    #[error("cannot start: {}", plain(.0))]
    Thread(io::Error),
    /// A directory does not tell whose manifests it holds.
    #[error("{path}: no manifest tells by its kind for which plugin the directory is: name it with --plugin")]
    NoPlugin { path: String },
    /// A directory has manifests of several plugins.
    #[error(
        "{path}: the kinds are those of {plugins}: a directory belongs to one plugin, name it with --plugin"
    )]
    SeveralPlugins { path: String, plugins: String },
    /// Objects are to be updated, but no stored ones were given.
    #[error("{place}: an update needs the stored object: give it with --old")]
    NoOldObject { place: String },
    /// Standard input has nothing to check.
    #[error("{path}: there is no policy, binding or webhook configuration among its {count} objects")]
    NoManifests { path: String, count: usize },
    /// An AdmissionConfiguration comes without a place that its paths are relative to.
    #[error("<stdin>: an AdmissionConfiguration names other files: give it as a file, by its path")]
    ConfigurationOnStdin,
    /// A path that has to be written in files is no text.
    #[error("{path}: the name is no UTF-8: only files of objects, manifests and suites may have such names")]
    NoText { path: String },
    /// There is more than is read.
    #[error("{path}: larger than {mebibytes} MiB")]
    TooLarge { path: String, mebibytes: u32 },
    /// Manifests of several plugins have no hash together.
    #[error("<stdin>: a hash is that of one plugin's manifests alone: name the plugin with --plugin")]
    NoHash,
    /// Nothing was given to judge.
    #[error("{inputs}: there is no object to review")]
    NothingToReview { inputs: String },
    /// There are webhooks, but they are not to be called.
    #[error("{0}: --webhooks does")]
    NotEvaluated(#[from] NotEvaluated),
    /// There is nothing to test.
    #[error("{paths}: there is no suite of tests")]
    NoSuite { paths: String },
    /// The filter lets no test through.
    #[error("no test's name contains {filter:?}")]
    NoTest { filter: String },
    /// Changes cannot be watched.
    #[error("cannot watch for changes: {0}")]
    Watch(notify::Error),
    /// The server does not start.
    #[error("{0}")]
    Serve(String),
    /// Judging ended without a verdict.
    #[error("{place}: the request cannot be evaluated: {why}")]
    Evaluation { place: String, why: String },
}

impl ExitStatus {
    /// `Yes` if it holds.
    pub(crate) fn of(holds: bool) -> Self {
        if holds {
            ExitStatus::Success
        } else {
            ExitStatus::Failure
        }
    }

    /// The exit code.
    pub(crate) fn code(self) -> ExitCode {
        match self {
            ExitStatus::Success => ExitCode::SUCCESS,
            ExitStatus::Failure => ExitCode::FAILURE,
            ExitStatus::Undecided => ExitCode::from(UNDECIDED),
        }
    }
}

impl CliError {
    /// What is told of it.
    pub(crate) fn text(&self) -> Text {
        let message = self.to_string();
        let lines = Lines {
            text: &message,
            indent: "  ",
        };
        text!("error: {}\n", lines)
    }

    /// Tells it on standard error, and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        match self {
            CliError::BrokenPipe => return ExitCode::from(BROKEN_PIPE),
            CliError::Logged => {}
            _ => output::note(&self.text()),
        }
        ExitCode::from(ERROR)
    }
}

/// An I/O error without the system's number for it.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error")
        .map_or(text.as_str(), |(text, _)| text)
        .to_owned()
}
