//! Why `pratique check` ends.

use crate::output::counted_nouns::among;

/// Why `pratique check` ends.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckError {
    /// The plugin of a directory is not known.
    #[error("{path}: the kinds of its manifests do not identify a plugin: name it with --plugin")]
    NoPlugin { path: String },
    /// A directory has manifests of several plugins.
    #[error(
        "{path}: its manifests are for several plugins ({plugins}): a directory belongs to one plugin, name it with --plugin"
    )]
    SeveralPlugins { path: String, plugins: String },
    /// An AdmissionConfiguration on standard input, which has no directory for its paths.
    #[error("<stdin>: an AdmissionConfiguration names other files: give it as a file, by its path")]
    ConfigurationOnStdin,
    /// A path is not UTF-8, where it has to be.
    #[error("{path}: the name is not UTF-8: only files of objects, manifests and suites can have such names")]
    NoText { path: String },
    /// Manifests of several plugins have no common hash, and objects of the API have none.
    #[error("{path}: a hash is that of one plugin's static manifests alone: name the plugin with --plugin")]
    NoHash { path: String },
    /// A path has objects, and nothing that configures admission.
    #[error(
        "{path}: there is no policy, binding or webhook configuration{}: `pratique review` evaluates objects",
        among(*.count)
    )]
    OnlyObjects { path: String, count: usize },
    /// There is nothing to check.
    #[error(
        "there is nothing to check: name the PATH of policies, or a cluster with --cluster, --kubeconfig or --context"
    )]
    NothingToCheck,
}
