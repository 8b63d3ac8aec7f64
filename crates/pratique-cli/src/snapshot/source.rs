//! Where the state of a cluster comes from, besides the objects of the command line.

use std::collections::BTreeSet;
use std::path::Path;

use pratique::Admission;
use pratique::plugins::StateKind;
use pratique_json::Value;
#[cfg(feature = "kube")]
use pratique_kube::ApiServer;
use pratique_manifest::ManifestFile;
use pratique_rbac::Completeness;
use pratique_request::ResourceResolver;
use pratique_state::snapshot::has_all_roles;
use pratique_types::GroupVersionKind;
use pratique_types::builtin::ServedResource;

#[cfg(feature = "kube")]
use super::RequiredState;
#[cfg(feature = "kube")]
use super::fetch::FetchedSecrets;
use super::{ClusterSnapshot, WebhookUse, directory};
use crate::arguments::ClientArguments;
use crate::exit::CliError;
use crate::policies::OriginSets;

/// Where the state of a cluster comes from.
pub(crate) enum StateSource {
    /// Nowhere: only --objects and the like have state.
    None,
    /// From a snapshot.
    Snapshot(Box<ClusterSnapshot>),
    /// From the cluster itself.
    #[cfg(feature = "kube")]
    Cluster {
        server: ApiServer,
        fetch: Box<super::fetch::SnapshotFetch>,
    },
}

impl StateSource {
    /// Connects to a cluster, or reads a snapshot.
    ///
    /// # Errors
    /// The cluster cannot be reached, or the snapshot not be read.
    pub(crate) fn open(client: &ClientArguments, snapshot: Option<&Path>) -> Result<Self, CliError> {
        #[cfg(feature = "kube")]
        if client.names_cluster() {
            let server = super::connect(client.kubeconfig.as_deref(), client.context.as_deref())?;
            let fetch = Box::new(super::fetch::SnapshotFetch::start(&server)?);
            return Ok(StateSource::Cluster { server, fetch });
        }
        let _ = client;
        match snapshot {
            Some(path) => Ok(StateSource::Snapshot(Box::new(directory::read(path)?))),
            None => Ok(StateSource::None),
        }
    }

    /// Policies, bindings and webhook configurations, for where none are named: `None` if there are none to take.
    ///
    /// # Errors
    /// They are not known.
    pub(crate) fn policies(&mut self, webhooks: WebhookUse) -> Result<Option<Vec<ManifestFile>>, CliError> {
        match self {
            StateSource::None => Ok(None),
            StateSource::Snapshot(snapshot) => snapshot.policy_files(webhooks).map(Some),
            #[cfg(feature = "kube")]
            StateSource::Cluster { fetch, .. } => super::policies::read(fetch, webhooks).map(Some),
        }
    }

    /// The cluster itself, if it comes from there.
    #[cfg(feature = "kube")]
    pub(crate) fn server(&self) -> Option<&ApiServer> {
        match self {
            StateSource::Cluster { server, .. } => Some(server),
            StateSource::None | StateSource::Snapshot(_) => None,
        }
    }

    /// Where the state comes from, for messages.
    pub(crate) fn name(&self) -> String {
        match self {
            StateSource::None => String::new(),
            StateSource::Snapshot(snapshot) => format!("snapshot of {}", snapshot.index.taken),
            #[cfg(feature = "kube")]
            StateSource::Cluster { fetch, .. } => format!("cluster {}", fetch.url()),
        }
    }

    /// Where it comes from, and the version that the server there says of itself.
    pub(crate) fn server_version(&self) -> Option<(String, String)> {
        let version = match self {
            StateSource::None => return None,
            StateSource::Snapshot(snapshot) => &snapshot.index.server_version,
            #[cfg(feature = "kube")]
            StateSource::Cluster { fetch, .. } => fetch.server_version(),
        };
        Some((self.name(), version.clone()))
    }

    /// Whether it has what admission plugins look up; `None` if there is no state of a cluster.
    pub(crate) fn has_plugin_objects(&self) -> Option<bool> {
        match self {
            StateSource::None => None,
            StateSource::Snapshot(snapshot) => Some(snapshot.has_plugin_objects()),
            #[cfg(feature = "kube")]
            StateSource::Cluster { .. } => Some(true),
        }
    }

    /// The state that policies need, and the kinds that admission plugins look up. Warns of what is not known.
    pub(crate) fn state(
        mut self,
        admission: &Admission,
        sets: &OriginSets,
        plugin_kinds: Option<&BTreeSet<StateKind>>,
    ) -> LoadedState {
        let name = self.name();
        self.read(admission, sets, plugin_kinds);
        let loaded = match self {
            StateSource::None => LoadedState::default(),
            StateSource::Snapshot(snapshot) => LoadedState {
                snapshot: *snapshot,
                ..LoadedState::default()
            },
            #[cfg(feature = "kube")]
            StateSource::Cluster { server, fetch } => LoadedState {
                snapshot: fetch.into_snapshot(),
                server: Some(server),
                ..LoadedState::default()
            },
        };
        loaded.snapshot.warn(&name);
        loaded
    }

    /// The state that policies need besides what others needed before.
    pub(crate) fn state_of(
        &mut self,
        admission: &Admission,
        sets: &OriginSets,
        plugin_kinds: Option<&BTreeSet<StateKind>>,
    ) -> LoadedState {
        self.read(admission, sets, plugin_kinds);
        match self {
            StateSource::None => LoadedState::default(),
            StateSource::Snapshot(snapshot) => LoadedState {
                snapshot: snapshot.as_ref().clone(),
                ..LoadedState::default()
            },
            #[cfg(feature = "kube")]
            StateSource::Cluster { server, fetch } => LoadedState {
                snapshot: fetch.snapshot(),
                server: Some(server.clone()),
                ..LoadedState::default()
            },
        }
    }

    /// Reads of a cluster what policies and admission plugins need, as far as it was not read before.
    fn read(&mut self, admission: &Admission, sets: &OriginSets, plugin_kinds: Option<&BTreeSet<StateKind>>) {
        #[cfg(not(feature = "kube"))]
        let _ = (admission, sets, plugin_kinds);
        #[cfg(feature = "kube")]
        if let StateSource::Cluster { fetch, .. } = self {
            let required = RequiredState::new(admission, sets);
            let required = match plugin_kinds {
                Some(kinds) => required.with_plugins(kinds.iter().copied()),
                None => required,
            };
            fetch.state(&required, FetchedSecrets::Params);
        }
    }
}

/// The state of a cluster that was loaded from it or from snapshots; nothing by default.
#[derive(Default)]
pub(crate) struct LoadedState {
    pub(crate) snapshot: ClusterSnapshot,
    /// Snapshots that --objects names, whose objects count instead of those of the same name.
    pub(crate) overlays: Vec<ClusterSnapshot>,
    /// Kinds of which somebody says that all objects are given.
    pub(crate) said_complete: BTreeSet<GroupVersionKind>,
    /// The cluster itself, to be asked for permissions.
    #[cfg(feature = "kube")]
    pub(crate) server: Option<ApiServer>,
}

impl LoadedState {
    fn snapshots(&self) -> impl Iterator<Item = &ClusterSnapshot> {
        std::iter::once(&self.snapshot).chain(&self.overlays)
    }

    /// The objects, of which later ones count instead of those of the same name.
    pub(crate) fn objects(&self) -> impl Iterator<Item = &Value<'static>> {
        self.snapshots().flat_map(|snapshot| &snapshot.objects)
    }

    /// The kinds of which all objects are known.
    pub(crate) fn complete_kinds(&self) -> BTreeSet<GroupVersionKind> {
        self.snapshots()
            .flat_map(ClusterSnapshot::complete_kinds)
            .chain(self.said_complete.iter().cloned())
            .collect()
    }

    /// The resources that are served besides those of Kubernetes.
    pub(crate) fn served(&self) -> impl Iterator<Item = ServedResource> {
        self.snapshots()
            .flat_map(|snapshot| snapshot.index.served().unwrap_or_default())
    }

    /// Adds the resources to those that are known of a cluster.
    pub(crate) fn resolve(&self, resolver: &mut ResourceResolver) {
        self.snapshots()
            .for_each(|snapshot| snapshot.index.resolve(resolver));
    }

    /// How much the roles and bindings say of permissions.
    pub(crate) fn permissions(&self) -> Completeness {
        if has_all_roles(|kind| self.said_complete.contains(kind)) {
            return Completeness::Complete;
        }
        let mut known_completeness = self
            .snapshots()
            .map(ClusterSnapshot::permissions)
            .filter(|completeness| *completeness != Completeness::Partial);
        known_completeness.next().unwrap_or(Completeness::Partial)
    }
}
