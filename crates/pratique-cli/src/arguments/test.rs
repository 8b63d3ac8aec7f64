//! The command line of `pratique test`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::WarningArguments;

/// Run suites of tests: requests, and what policies are expected to decide on them.
///
/// A suite is a YAML document of `apiVersion: pratique/v1alpha1` and `kind: Suite` that stands beside its policies.
/// Warnings about the policies, as `check` gives them, go to standard error.
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct TestArguments {
    /// Files of suites, or directories in which to look for them.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Let suites name files below this directory, too. Without, a suite names what is in its Git repository; outside of
    /// one, what is below the working directory if the suite is, or else below its own directory.
    #[arg(long, env = "PRATIQUE_ALLOW_PATH", value_name = "DIR")]
    pub(crate) allow_path: Vec<PathBuf>,
    /// Run only tests whose name, behind that of their suite, contains this, in any case.
    #[arg(long, short, env = "PRATIQUE_FILTER", value_name = "TEXT")]
    pub(crate) filter: Option<String>,
    /// Tell what of the policies the tests exercise, and what not.
    #[arg(long, env = "PRATIQUE_COVERAGE")]
    pub(crate) coverage: bool,
    /// Fail if the tests exercise less of the policies than this, in percent.
    #[arg(long, env = "PRATIQUE_COVERAGE_THRESHOLD", value_name = "PERCENT", value_parser = percent)]
    pub(crate) coverage_threshold: Option<f64>,
    /// Evaluate policies that no binding names as if one without constraints did; that of a validating policy denies.
    /// Without, they are not evaluated, and a test that only they match fails.
    #[arg(long, env = "PRATIQUE_BIND")]
    pub(crate) bind: bool,
    #[command(flatten)]
    pub(crate) warnings: WarningArguments,
    /// Write what is into the suites where it is not as expected.
    #[arg(long, conflicts_with = "watch")]
    pub(crate) update: bool,
    /// Run again whenever a suite, a policy or another file of theirs changes.
    #[arg(long, short)]
    pub(crate) watch: bool,
    /// Tell of each test, not only of those that fail.
    #[arg(long, short, env = "PRATIQUE_VERBOSE")]
    pub(crate) verbose: bool,
    /// How to print the answer.
    #[arg(long, short, env = "PRATIQUE_OUTPUT", default_value = "human")]
    pub(crate) output: TestFormat,
}

/// How the results of tests are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestFormat {
    /// For people.
    Human,
    /// For programs.
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
