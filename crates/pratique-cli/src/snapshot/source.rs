//! Where the state of a cluster comes from, besides the objects that are given.

use std::path::Path;

use pratique::Admission;
#[cfg(feature = "kube")]
use pratique_kube::ApiServer;
use pratique_manifest::ManifestFile;

#[cfg(feature = "kube")]
use super::Wanted;
#[cfg(feature = "kube")]
use super::fetch::Secrets;
use super::{ClusterSnapshot, directory};
use crate::arguments::ClientArguments;
use crate::exit::CliError;
use crate::policies::OriginSets;

/// Where the state of a cluster comes from.
pub(crate) enum StateSource {
    /// Nowhere: there are only the objects that are given.
    Given,
    /// From a snapshot.
    Stored(Box<ClusterSnapshot>),
    /// From the cluster itself.
    #[cfg(feature = "kube")]
    Cluster {
        server: ApiServer,
        fetch: Box<super::fetch::Fetch>,
    },
}

impl StateSource {
    /// Connects to a cluster, or reads a snapshot.
    ///
    /// # Errors
    /// The cluster cannot be reached, or the snapshot not be read.
    pub(crate) fn open(client: &ClientArguments, snapshot: Option<&Path>) -> Result<Self, CliError> {
        #[cfg(feature = "kube")]
        if client.is_given() {
            let server = super::connect(client.kubeconfig.as_deref(), client.context.as_deref())?;
            let fetch = Box::new(super::fetch::Fetch::start(&server)?);
            return Ok(StateSource::Cluster { server, fetch });
        }
        let _ = client;
        match snapshot {
            Some(path) => Ok(StateSource::Stored(Box::new(directory::read(path)?))),
            None => Ok(StateSource::Given),
        }
    }

    /// Policies, bindings and webhook configurations, for where none are named: `None` if there are none to take. `webhooks`
    /// is whether webhooks are called.
    ///
    /// # Errors
    /// They are not known.
    pub(crate) fn policies(&mut self, webhooks: bool) -> Result<Option<Vec<ManifestFile>>, CliError> {
        match self {
            StateSource::Given => Ok(None),
            StateSource::Stored(snapshot) => snapshot.known_policies(webhooks).map(Some),
            #[cfg(feature = "kube")]
            StateSource::Cluster { fetch, .. } => super::policies::read(fetch, webhooks).map(Some),
        }
    }

    /// Where the state comes from, for messages.
    pub(crate) fn name(&self) -> String {
        match self {
            StateSource::Given => String::new(),
            StateSource::Stored(snapshot) => format!("snapshot of {}", snapshot.index.taken),
            #[cfg(feature = "kube")]
            StateSource::Cluster { fetch, .. } => format!("cluster {}", fetch.url()),
        }
    }

    /// The state that policies need. Warns of what is not known.
    pub(crate) fn state(self, admission: &Admission, sets: &OriginSets) -> KnownState {
        #[cfg(not(feature = "kube"))]
        let _ = (admission, sets);
        let name = self.name();
        match self {
            StateSource::Given => KnownState::default(),
            StateSource::Stored(snapshot) => {
                snapshot.warn(&name);
                KnownState {
                    snapshot: *snapshot,
                    ..KnownState::default()
                }
            }
            #[cfg(feature = "kube")]
            StateSource::Cluster { server, mut fetch } => {
                fetch.state(&Wanted::of(admission, sets), Secrets::Params);
                let snapshot = fetch.end();
                snapshot.warn(&name);
                KnownState {
                    snapshot,
                    server: Some(server),
                }
            }
        }
    }
}

/// What is known of a cluster, besides the objects that are given; nothing by default.
#[derive(Default)]
pub(crate) struct KnownState {
    pub(crate) snapshot: ClusterSnapshot,
    /// The cluster itself, to be asked for permissions.
    #[cfg(feature = "kube")]
    pub(crate) server: Option<ApiServer>,
}
