//! Where objects come from: from what is named, or else from a cluster, or else from a snapshot.

use std::path::PathBuf;

#[cfg(feature = "kube")]
use pratique_kube::ApiServer;

use crate::arguments::StateArguments;
use crate::exit::CliError;
use crate::input::format_paths;
use crate::snapshot::StateSource;

/// The note on what a snapshot as the input leaves out.
const OF_SNAPSHOT: &str = "a snapshot has what policies need of a cluster, and not all of its objects";

/// The note on what a cluster as the input leaves out.
#[cfg(feature = "kube")]
const OF_CLUSTER: &str =
    "of the cluster, the kinds were listed that policies match, each at a moment of its own";

/// Where objects come from.
pub(crate) enum ObjectSource {
    /// Paths that are named.
    Paths(Vec<PathBuf>),
    /// A snapshot, which says of a cluster what policies need.
    Snapshot([PathBuf; 1]),
    #[cfg(feature = "kube")]
    Cluster(ApiServer),
}

impl ObjectSource {
    /// The inputs that are named, or else where the state comes from.
    ///
    /// # Errors
    /// There is neither; `verb` is what would be done with objects.
    pub(crate) fn new(
        inputs: &[PathBuf],
        arguments: &StateArguments,
        state: &StateSource,
        verb: &'static str,
    ) -> Result<Self, CliError> {
        if !inputs.is_empty() {
            return Ok(ObjectSource::Paths(inputs.to_vec()));
        }
        #[cfg(feature = "kube")]
        if let Some(server) = state.server() {
            return Ok(ObjectSource::Cluster(server.clone()));
        }
        let _ = state;
        let snapshot = arguments.snapshot.clone();
        snapshot.map_or(Err(CliError::NoInput { verb }), |snapshot| {
            Ok(ObjectSource::Snapshot([snapshot]))
        })
    }

    /// The paths that are read; none of a cluster.
    pub(crate) fn paths(&self) -> &[PathBuf] {
        match self {
            ObjectSource::Paths(paths) => paths,
            ObjectSource::Snapshot(path) => path,
            #[cfg(feature = "kube")]
            ObjectSource::Cluster(_) => &[],
        }
    }

    /// How they are named in the report.
    pub(crate) fn names(&self) -> Vec<String> {
        match self {
            #[cfg(feature = "kube")]
            ObjectSource::Cluster(server) => vec![server.url().trim_end_matches('/').to_owned()],
            _ => format_paths(self.paths()),
        }
    }

    /// Whether the Pods that exist are among them, where a policy is about Pods.
    pub(crate) fn has_pods(&self) -> bool {
        match self {
            ObjectSource::Paths(_) | ObjectSource::Snapshot(_) => false,
            #[cfg(feature = "kube")]
            ObjectSource::Cluster(_) => true,
        }
    }

    /// The note of the report about them.
    pub(crate) fn note(&self) -> Option<&'static str> {
        match self {
            ObjectSource::Paths(_) => None,
            ObjectSource::Snapshot(_) => Some(OF_SNAPSHOT),
            #[cfg(feature = "kube")]
            ObjectSource::Cluster(_) => Some(OF_CLUSTER),
        }
    }
}
