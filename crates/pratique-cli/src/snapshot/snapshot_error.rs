//! Why the state of a cluster or of a snapshot cannot be had.

/// Why the state of a cluster or of a snapshot cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SnapshotError {
    /// A cluster cannot be read.
    #[cfg(feature = "kube")]
    #[error("cannot read the cluster {url}: {why}")]
    Cluster { url: String, why: String },
    /// The policies of a cluster are not known.
    #[cfg(feature = "kube")]
    #[error("the {resource} of the cluster {url} are not known: {why}; --policies names policies")]
    PoliciesOfCluster {
        url: String,
        resource: String,
        why: String,
    },
    /// The policies of a snapshot are not known.
    #[error("the snapshot does not say which {kind} objects there were: {why}; --policies names policies")]
    PoliciesOfSnapshot { kind: String, why: String },
    /// A policy of a snapshot is where policies are not looked for.
    #[error(
        "{place}: a {kind} is in a file that is not named after its resource: in a snapshot it would not be evaluated"
    )]
    MisplacedPolicy { place: String, kind: String },
    /// A snapshot cannot be read or written.
    #[error("{path}: {why}")]
    Snapshot { path: String, why: String },
}
