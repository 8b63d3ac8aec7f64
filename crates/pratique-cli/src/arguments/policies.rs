//! Arguments that name policies of any origin.

use std::path::PathBuf;

use clap::Args;

use super::ExcludeArguments;
use crate::policies::OriginName;

/// What policies are, where their names do not say it.
#[derive(Clone, Debug, Args)]
pub(crate) struct OriginArguments {
    /// What all policies, bindings and webhook configurations are. By default names tell: those that end with
    /// .static.k8s.io are static manifests, all others are objects of the API.
    #[arg(long, env = "PRATIQUE_ORIGIN", value_name = "ORIGIN")]
    pub(crate) origin: Option<OriginName>,
}

/// Policies of any origin.
#[derive(Clone, Debug, Args)]
pub(crate) struct PolicyPathArguments {
    /// Policies, bindings and webhook configurations to evaluate, of the API or static manifests: files, or directories with
    /// all YAML and JSON files below them; `-` is standard input. Lists give their items, objects of other kinds are skipped.
    /// A server reads the objects of the API again when they change, and keeps those in use where they cannot be loaded; static
    /// manifests among them, and standard input, are read once.
    #[arg(long, env = "PRATIQUE_POLICIES", value_name = "PATH", value_delimiter = ',')]
    pub(crate) policies: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) origin: OriginArguments,
    #[command(flatten)]
    pub(crate) files: ExcludeArguments,
}
