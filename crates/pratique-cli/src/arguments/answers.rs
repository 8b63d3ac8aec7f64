//! The arguments about what `pratique review` prints, and when it fails.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::OutputArguments;
use crate::exit::ExitStatus;

/// What is printed of decisions, and which of them fail.
#[derive(Debug, Args)]
pub(crate) struct AnswerArguments {
    #[command(flatten)]
    pub(crate) outputs: OutputArguments<ReviewFormat>,
    /// Write each object that is allowed, as the server would have it, to a file of its own in a directory, which has to be
    /// empty or new: what `--output yaml` prints.
    #[arg(long, env = "PRATIQUE_OUTPUT_DIR", value_name = "DIR")]
    pub(crate) output_dir: Option<PathBuf>,
    /// Print of each object all that there is: every allowed one, of which ten are named without the flag, every
    /// failed validation, of which the server tells the first, and every reason for which it is undecided, of which each is told once.
    #[arg(long, env = "PRATIQUE_ALL", conflicts_with_all = ["quiet", "summary"])]
    pub(crate) all: bool,
    /// Print nothing about objects that are allowed without a warning; of other outputs than `human` and `diff`, no decision
    /// is left out. As text, what no review simulates is not told.
    #[arg(long, short, env = "PRATIQUE_QUIET")]
    pub(crate) quiet: bool,
    /// Count what policies deny, warn about and record, by policy and namespace: as a table in place of the decisions, with
    /// `json` and `ndjson` as a last line.
    #[arg(long, env = "PRATIQUE_SUMMARY")]
    pub(crate) summary: bool,
    #[command(flatten)]
    pub(crate) failure: FailureArguments,
}

/// What the command fails for.
#[derive(Clone, Debug, Args)]
pub(crate) struct FailureArguments {
    /// What the command fails for: `deny`, `warn` and `audit` give exit code 1, `error` (something cannot be read) 2, and
    /// `undecided` 3.
    #[arg(
        long,
        env = "PRATIQUE_FAIL_ON",
        value_name = "WHAT,…",
        value_delimiter = ',',
        default_value = "deny,error,undecided"
    )]
    fail_on: Vec<FailOn>,
}

impl FailureArguments {
    /// Whether the command fails for something.
    pub(crate) fn fails_on(&self, on: FailOn) -> bool {
        self.fail_on.contains(&on)
    }

    /// The exit status, by what there is.
    pub(crate) fn status(&self, there_is: impl Fn(FailOn) -> bool) -> ExitStatus {
        let fails = |on| self.fails_on(on) && there_is(on);
        ExitStatus::of_failures(
            fails(FailOn::Deny) || fails(FailOn::Warn) || fails(FailOn::Audit),
            fails(FailOn::Error),
            fails(FailOn::Undecided),
        )
    }
}

/// The output format of a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReviewFormat {
    /// Text.
    Human,
    /// One AdmissionReview per line, with the mutated object beside the response, and where the object is.
    Json,
    /// One line of JSON per decision: file, line, kind, namespace, name, decision, policies and bindings.
    Ndjson,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// JUnit XML, with a case for each object.
    Junit,
    /// Workflow commands of GitHub Actions.
    Github,
    /// The changes of mutating policies, as a unified diff of YAML.
    Diff,
    /// The objects that are allowed, as the server would have them: a stream of YAML documents. What is said of the others is
    /// on standard error.
    Yaml,
}

/// What a review fails for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// A request is denied.
    Deny,
    /// A policy warns about a request.
    Warn,
    /// A policy records a failed validation for the audit log.
    Audit,
    /// A decision depends on something that was not given.
    Undecided,
    /// An input cannot be read or evaluated.
    Error,
}
