//! The command line of `pratique check`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use pratique_manifest::Plugin;
use pratique_types::FeatureGates;

use super::{WarningArguments, plugin};

/// Check that kube-apiserver would load static manifests or an AdmissionConfiguration.
///
/// Prints what was loaded, or everything that is wrong with it, and first what the server would say. Warns of what
/// loads, but may not do what it is meant to: docs/warnings.md describes each warning.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// A directory of static manifests, a manifest, or an AdmissionConfiguration file; `-` is standard input, of which
    /// policies, bindings and webhook configurations are checked, and other kinds are counted and passed over.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// The admission plugin that the manifests are for; told by their kinds if it is not given.
    #[arg(long, env = "PRATIQUE_PLUGIN", value_name = "NAME", value_parser = plugin())]
    pub(crate) plugin: Option<Plugin>,
    /// How to print the answer.
    #[arg(long, short, env = "PRATIQUE_OUTPUT", default_value = "human")]
    pub(crate) output: CheckFormat,
    /// The directory that stands for the `/` of the machine that an AdmissionConfiguration is of: absolute paths in it, and
    /// in the kubeconfigs that it names, begin there.
    #[arg(long, env = "PRATIQUE_ROOT", value_name = "DIR")]
    pub(crate) root: Option<String>,
    #[command(flatten)]
    pub(crate) warnings: WarningArguments,
    /// Print the hash alone, as the server's metric apiserver_manifest_admission_config_controller_last_config_info
    /// shows it; with plugin and directory where there are several.
    #[arg(long, env = "PRATIQUE_HASH_ONLY")]
    pub(crate) hash_only: bool,
    /// Tell of each expression what it yields, reads and may cost.
    #[arg(long, env = "PRATIQUE_EXPLAIN_COST")]
    pub(crate) explain_cost: bool,
    /// Ask the webhooks whether they are there: each is posted a review of a dry run, its answer is verified, and its
    /// certificate shown. Fails where one does not answer.
    #[arg(long, env = "PRATIQUE_CONNECT", conflicts_with = "hash_only")]
    pub(crate) connect: bool,
    /// Feature gates of kube-apiserver, as NAME=true|false.
    #[arg(
        long,
        env = "PRATIQUE_FEATURE_GATES",
        value_name = "NAME=BOOL,…",
        default_value = ""
    )]
    pub(crate) feature_gates: FeatureGates,
}

/// How the answer of a check is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// For people.
    Human,
    /// For programs.
    Json,
    /// For code scanning: SARIF 2.1.0.
    Sarif,
    /// For test reports.
    Junit,
    /// Annotations of GitHub's workflows.
    Github,
}
