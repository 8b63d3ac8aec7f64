//! The command line.

mod gates;
mod review;
mod test;

use clap::{Args, Parser, Subcommand, ValueEnum};
use pratique_manifest::Plugin;
pub(crate) use gates::Gates;
pub(crate) use review::{PolicyArguments, RequestArguments, ReviewArguments, ReviewFormat};
pub(crate) use test::{TestArguments, TestFormat};

/// Kubernetes admission control without a cluster.
///
/// Exit codes: 0 all is valid, allowed, as expected; 1 something is not; 2 wrong usage or a file that does not open.
#[derive(Debug, Parser)]
#[command(name = "pratique", version, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Check(CheckArguments),
    Review(Box<ReviewArguments>),
    Test(Box<TestArguments>),
}

/// Check that kube-apiserver would load static manifests or an AdmissionConfiguration.
///
/// Prints what was loaded, or everything that is wrong with it, and first what the server would say.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// A directory of static manifests, a manifest, or an AdmissionConfiguration file.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<String>,
    /// The admission plugin that the manifests are for; told by their kinds if it is not given.
    #[arg(long, env = "PRATIQUE_PLUGIN", value_name = "NAME", value_parser = plugin())]
    pub(crate) plugin: Option<Plugin>,
    #[command(flatten)]
    pub(crate) common: CommonArguments,
}

/// What all commands take.
#[derive(Debug, Args)]
pub(crate) struct CommonArguments {
    /// How to print the answer.
    #[arg(long, short, env = "PRATIQUE_OUTPUT", default_value = "human")]
    pub(crate) output: Format,
    /// Feature gates of kube-apiserver, as NAME=true|false.
    #[arg(
        long,
        env = "PRATIQUE_FEATURE_GATES",
        value_name = "NAME=BOOL,…",
        default_value = ""
    )]
    pub(crate) feature_gates: Gates,
}

/// How an answer is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Human,
    /// For programs.
    Json,
}

fn plugin() -> impl clap::builder::TypedValueParser<Value = Plugin> {
    use clap::builder::TypedValueParser as _;
    // The names above are the only ones that get this far.
    clap::builder::PossibleValuesParser::new(Plugin::START_ORDER.map(Plugin::name))
        .map(|name| Plugin::from_name(&name).unwrap_or(Plugin::ValidatingAdmissionPolicy))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
