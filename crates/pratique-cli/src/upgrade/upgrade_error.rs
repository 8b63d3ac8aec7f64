//! Why `pratique upgrade` ends.

use pratique_schema::Release;

/// Why `pratique upgrade` ends.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UpgradeError {
    /// Nothing says of which release the server is.
    #[error(
        "the release of now is not known: name it with --from, or the cluster or snapshot that has it with --cluster, \
         --kubeconfig, --context or --snapshot"
    )]
    NoRelease,
    /// There is nothing to compare.
    #[error("both releases are {0}: --to names the one to upgrade to")]
    SameRelease(&'static Release),
}
