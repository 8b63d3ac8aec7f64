//! Why `pratique scan` and `pratique report` end.

/// Why `pratique scan` and `pratique report` end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ScanError {
    /// There is no object to scan.
    #[error("{inputs}: there is no object to scan")]
    NothingToScan { inputs: String },
    /// An input that can be read only once is to be divided, or continued.
    #[error("{path}: this can be read only once: --shard and --checkpoint are for files")]
    ShardOfPipe { path: String },
    /// A file is not a report.
    #[error("{path}: it is not a report: {why}")]
    NoReport { path: String, why: String },
    /// A report cannot be added to those before it.
    #[error("{path}: {error}")]
    NotMerged {
        path: String,
        error: pratique_report::MergeError,
    },
    /// A plugin makes no sense for what is there.
    #[error("--enable-admission-plugins: {plugin} is not evaluated for what is there: {why}")]
    NotScanned { plugin: &'static str, why: &'static str },
    /// Plugins decide nothing about an update of an object to itself.
    #[error(
        "--chain: built-in plugins decide about creations, and not about updates of objects to themselves: leave out --as-update"
    )]
    PluginsOfUpdates,
    /// The output is none that a cluster has.
    #[cfg(feature = "kube")]
    #[error(
        "--apply: only `policyreport` and `openreports` are objects of a cluster: name one with --output"
    )]
    NothingToApply,
}
