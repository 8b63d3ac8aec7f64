//! Arguments about which files of the named paths are read.

use clap::Args;

use crate::input::PathPattern;

/// What is left out of the paths that are named.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ExcludeArguments {
    /// Leave out files and directories, of inputs, policies and suites: a name at any depth (`kustomization.yaml`, `*.gen.yaml`), or
    /// with a `/` a path from the working directory (`charts/*/templates`, `**/testdata/**`), as in a `.gitignore`. `vendor/`
    /// matches directories only, `!keep.yaml` includes again. The flag can be repeated. Directories of static manifests
    /// (--manifests, AdmissionConfiguration) are read as kube-apiserver does.
    #[arg(long, env = "PRATIQUE_EXCLUDE", value_name = "GLOB")]
    pub(crate) exclude: Vec<PathPattern>,
}

/// What is told of files that are passed over.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct VerboseArguments {
    /// List the files that are passed over: hidden ones, those that git ignores and does not track, those of other extensions,
    /// excluded ones. Without the flag they are counted.
    #[arg(long, short, env = "PRATIQUE_VERBOSE")]
    pub(crate) verbose: bool,
}
