//! The command line of `pratique upgrade`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use pratique_schema::Release;

#[cfg(feature = "kube")]
use super::ListArguments;
use super::gates::known_releases;
use super::{
    ExpandArguments, OutputArguments, PolicyArguments, RememberArguments, SenderArguments, StateArguments,
    StdinArguments, ValidationArguments, VerboseArguments,
};
use crate::exit::ExitStatus;

/// Say what an upgrade of Kubernetes breaks and changes, before it is done.
///
/// A server of either release is asked what it does with each object or request of the inputs: which versions it serves, which
/// fields it knows, what it sets, what it refuses, and what policies decide and cost. Webhooks are compared by the requests that
/// they see, and the flags of a kube-apiserver, whose static Pod may be among the inputs, by what the new release refuses of them.
/// Versions that are deprecated are told with the release that does not serve them any more, also where only a client writes
/// them. Webhooks are not called, and built-in plugins are not run.
///
/// Without --policies, --manifests and --admission-control-config-file, the policies of the cluster or snapshot are evaluated,
/// and without these the Pod Security Standards.
///
/// Exit codes: 0 nothing breaks; 1 something does; 2 wrong usage, or an input or a policy cannot be read; 3 nothing is known to
/// break, but something is undecided. --fail-on says what counts.
#[derive(Debug, Args)]
#[command(mut_arg("kubernetes_version", |argument| argument
    .long("from")
    .alias("kubernetes-version")
    .env("PRATIQUE_FROM")
    .help(format!(
        "Release of Kubernetes that the server is of now: {}. By default that of the cluster or snapshot",
        known_releases()
    ))))]
pub(crate) struct UpgradeArguments {
    /// Files with objects, as YAML or JSON, plain or compressed with gzip, audit logs of kube-apiserver, an export of etcd, a
    /// snapshot or other directories, which are walked for such files and logs; `-` is standard input. By default the objects
    /// of the cluster (--cluster, --kubeconfig, --context), or of --snapshot.
    #[arg(value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) stdin: StdinArguments,
    /// Release of Kubernetes to upgrade to.
    #[arg(
        long,
        env = "PRATIQUE_TO",
        value_name = "VERSION",
        value_parser = release,
        // The way of most upgrades.
        default_value_t = Release::latest(),
        help = format!("Release of Kubernetes to upgrade to: {}", known_releases())
    )]
    pub(crate) to: &'static Release,
    #[command(flatten)]
    pub(crate) policies: PolicyArguments,
    #[command(flatten)]
    pub(crate) sender: SenderArguments,
    #[command(flatten)]
    pub(crate) workloads: ExpandArguments,
    #[command(flatten)]
    pub(crate) memory: RememberArguments,
    #[command(flatten)]
    pub(crate) validation: ValidationArguments,
    #[command(flatten)]
    pub(crate) state: StateArguments,
    #[cfg(feature = "kube")]
    #[command(flatten)]
    pub(crate) list: ListArguments,
    #[command(flatten)]
    pub(crate) answers: UpgradeAnswerArguments,
    #[command(flatten)]
    pub(crate) files: VerboseArguments,
}

/// What is printed of an upgrade, and what it fails for.
#[derive(Debug, Args)]
pub(crate) struct UpgradeAnswerArguments {
    #[command(flatten)]
    pub(crate) outputs: OutputArguments<UpgradeFormat>,
    /// Write what is found to a file as well, as a page of HTML that loads nothing.
    #[arg(long = "report", env = "PRATIQUE_REPORT", value_name = "FILE")]
    pub(crate) page: Option<PathBuf>,
    /// What the command fails for: `breaks` (something does not work any more), `changes` (something works otherwise) and
    /// `deprecated` (a version of a kind is deprecated) give exit code 1, `error` (something cannot be read) 2, and `undecided`
    /// 3.
    #[arg(
        long,
        env = "PRATIQUE_FAIL_ON",
        value_name = "WHAT,…",
        value_delimiter = ',',
        default_value = "breaks,error,undecided"
    )]
    fail_on: Vec<UpgradeFailOn>,
}

/// What the command fails for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum UpgradeFailOn {
    /// Something does not work any more.
    Breaks,
    /// Something works otherwise.
    Changes,
    /// A version of a kind is deprecated.
    Deprecated,
    /// Something depends on what is not known.
    Undecided,
    /// An input cannot be read, or a request not be evaluated.
    Error,
}

/// The output format of an upgrade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum UpgradeFormat {
    /// Tables of what is found, with examples.
    Human,
    /// The counts and findings as one JSON document.
    Json,
    /// One line of JSON for each finding; the last line has the counts.
    Ndjson,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// `JUnit` XML, for CI servers.
    Junit,
    /// Annotations of GitHub Actions.
    Github,
}

impl UpgradeAnswerArguments {
    /// Whether the command fails for something.
    pub(crate) fn fails_on(&self, what: UpgradeFailOn) -> bool {
        self.fail_on.contains(&what)
    }

    /// The exit status, by what holds.
    pub(crate) fn status(&self, holds: impl Fn(UpgradeFailOn) -> bool) -> ExitStatus {
        let fails = |on| self.fails_on(on) && holds(on);
        ExitStatus::of_failures(
            fails(UpgradeFailOn::Breaks) || fails(UpgradeFailOn::Changes) || fails(UpgradeFailOn::Deprecated),
            fails(UpgradeFailOn::Error),
            fails(UpgradeFailOn::Undecided),
        )
    }
}

/// A release that is known, by its version.
fn release(text: &str) -> Result<&'static Release, String> {
    Release::by_version(text).map_err(|error| error.to_string())
}
