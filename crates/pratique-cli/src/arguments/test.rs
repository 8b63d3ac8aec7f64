//! The command line of `pratique test`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{ClientArguments, ExcludeArguments, GateArguments, OutputArguments, WarningArguments};

/// Run test suites: requests, and the decisions that policies are expected to make.
///
/// A suite is a YAML document of `apiVersion: pratique/v1alpha1` and `kind: Suite` beside its policies.
/// Tests of the Kyverno CLI and suites of gator are run as far as they are about policies of the API; what they test besides is
/// not evaluated, and told.
/// Warnings about the policies, as `check` reports them, go to standard error.
///
/// The server is of the release that a suite or a test says with `kubernetesVersion`, or else of that of --kubernetes-version, or
/// else of that of the cluster or snapshot.
///
/// With a cluster or a snapshot, suites see its state besides their own; what a suite gives itself counts instead. What cannot be
/// read is not known, and tests that depend on it are undecided. Tests of other programs see only what they give.
///
/// Exit codes: 0 everything is as expected; 1 something is not; 2 wrong usage, or something cannot be read; 3 nothing failed, but
/// some tests of other programs were not evaluated, or a server evaluates no policy of a suite.
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct TestArguments {
    /// Suite files, or directories that are searched for them. In hidden directories those of other programs are found, as these
    /// find them; other suites there are passed over.
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) paths: Vec<PathBuf>,
    /// Allow suites to name files below this directory as well. Otherwise a suite can name files of its Git repository;
    /// outside of a repository, files below the working directory if the suite is there, or else below its own directory.
    #[arg(long, env = "PRATIQUE_ALLOW_PATH", value_name = "DIR")]
    pub(crate) allow_path: Vec<PathBuf>,
    /// Run only tests whose name, preceded by that of their suite, contains this text. Case is ignored.
    #[arg(long, short, env = "PRATIQUE_FILTER", value_name = "TEXT")]
    pub(crate) filter: Option<String>,
    /// Report which parts of the policies the tests exercise.
    #[arg(long, env = "PRATIQUE_COVERAGE")]
    pub(crate) coverage: bool,
    /// Fail if the tests exercise less than this percentage of the policies.
    #[arg(long, env = "PRATIQUE_COVERAGE_THRESHOLD", value_name = "PERCENT", value_parser = percent)]
    pub(crate) coverage_threshold: Option<f64>,
    /// Evaluate policies without a binding as if a binding without constraints named them; validations that fail then
    /// deny. Without the flag they are not evaluated, and a test that only they match fails.
    #[arg(long, env = "PRATIQUE_BIND")]
    pub(crate) bind: bool,
    #[command(flatten)]
    pub(crate) client: ClientArguments,
    /// Directory that `pratique snapshot` wrote: the state of a cluster, and policies for suites that name none.
    #[arg(long, env = "PRATIQUE_SNAPSHOT", value_name = "DIR")]
    #[cfg_attr(feature = "kube", arg(conflicts_with_all = ["cluster", "kubeconfig", "context"]))]
    pub(crate) snapshot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) gates: GateArguments,
    #[command(flatten)]
    pub(crate) warnings: WarningArguments,
    /// Write a first suite, suite.yaml, for the policies of a directory: for each an object that it lets pass and one that it does
    /// not, found by trying objects that its expressions may tell apart. What is not found is said in a comment, and counted. An
    /// existing file is left as it is.
    #[arg(long, conflicts_with_all = ["update", "watch", "snapshot"])]
    #[cfg_attr(feature = "kube", arg(conflicts_with_all = ["cluster", "kubeconfig", "context"]))]
    pub(crate) init: bool,
    /// Update the expectations in the suites to the actual results.
    #[arg(long, conflicts_with = "watch")]
    pub(crate) update: bool,
    /// Run again whenever a suite, a policy or another file that they name changes.
    #[arg(long, short)]
    pub(crate) watch: bool,
    #[command(flatten)]
    pub(crate) excluded: ExcludeArguments,
    /// Report every test, not only those that fail, and list the files that are passed over.
    #[arg(long, short, env = "PRATIQUE_VERBOSE")]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) outputs: OutputArguments<TestFormat>,
}

/// The output format of test results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestFormat {
    /// Text.
    Human,
    /// JSON.
    Json,
    /// `JUnit` XML, for CI servers.
    Junit,
    /// Annotations of GitHub Actions.
    Github,
}

fn percent(text: &str) -> Result<f64, String> {
    let percent = text.trim_end_matches('%').parse::<f64>();
    let within = percent.ok().filter(|percent| (0.0..=100.0).contains(percent));
    within.ok_or_else(|| "not a number from 0 to 100".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percents() {
        assert_eq!(percent("99.5%"), Ok(99.5));
        assert_eq!(percent("100"), Ok(100.0));
        assert!(percent("101").is_err() && percent("all").is_err());
    }
}
