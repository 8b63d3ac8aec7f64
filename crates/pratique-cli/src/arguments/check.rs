//! The command line of `pratique check`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use pratique_manifest::ManifestPlugin;

use super::{
    AdmissionPluginArguments, ClientArguments, ExcludeArguments, GateArguments, OriginArguments,
    OutputArguments, VerboseArguments, WarningArguments, plugin,
};

/// Check that kube-apiserver would load static manifests or an AdmissionConfiguration, and that its API would take policies.
///
/// Prints what was loaded, or all errors, beginning with the one that the server would report. Warns about manifests that
/// load but may not do what they are meant to: docs/warnings.md describes each warning.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// Directory of static manifests or objects of the API, file of them, or AdmissionConfiguration file; `-` is standard
    /// input, of which policies, bindings and webhook configurations are checked, and objects of other kinds are counted and
    /// skipped.
    #[cfg_attr(not(feature = "kube"), arg(required = true))]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Admission plugin of the manifests; by default it is derived from their kinds.
    #[arg(long, env = "PRATIQUE_PLUGIN", value_name = "NAME", value_parser = plugin())]
    pub(crate) plugin: Option<ManifestPlugin>,
    #[command(flatten)]
    pub(crate) origin: OriginArguments,
    #[command(flatten)]
    pub(crate) outputs: OutputArguments<CheckFormat>,
    /// Directory that stands for the root directory of the machine for which an AdmissionConfiguration is written:
    /// absolute paths in it, and in the kubeconfigs that it names, are resolved below it.
    #[arg(long, env = "PRATIQUE_ROOT", value_name = "DIR")]
    pub(crate) root: Option<String>,
    #[command(flatten)]
    pub(crate) warnings: WarningArguments,
    #[command(flatten)]
    pub(crate) client: ClientArguments,
    /// Print only the hash, as in the server's metric apiserver_manifest_admission_config_controller_last_config_info,
    /// with plugin and directory if there are several.
    #[arg(long, env = "PRATIQUE_HASH_ONLY")]
    pub(crate) hash_only: bool,
    /// Print the type, the inputs and the estimated cost of each expression.
    #[arg(long, env = "PRATIQUE_EXPLAIN_COST")]
    pub(crate) explain_cost: bool,
    /// Probe the webhooks: send each a review of a dry run, verify its response, and show its certificate. Fails if a
    /// webhook does not respond.
    #[arg(long, env = "PRATIQUE_CONNECT", conflicts_with = "hash_only")]
    pub(crate) connect: bool,
    #[command(flatten)]
    pub(crate) gates: GateArguments,
    #[command(flatten)]
    pub(crate) admission_plugins: AdmissionPluginArguments,
    #[command(flatten)]
    pub(crate) excluded: ExcludeArguments,
    #[command(flatten)]
    pub(crate) files: VerboseArguments,
}

/// The output format of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// Text.
    Human,
    /// JSON.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// `JUnit` XML, for CI servers.
    Junit,
    /// Annotations of GitHub Actions.
    Github,
}
