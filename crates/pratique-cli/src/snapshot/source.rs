//! Where the state of a cluster comes from, besides the objects that are given.

use std::collections::BTreeSet;
use std::path::Path;

use pratique::Admission;
use pratique::plugins::StateKind;
use pratique_json::Value;
#[cfg(feature = "kube")]
use pratique_kube::ApiServer;
use pratique_manifest::ManifestFile;
use pratique_rbac::Completeness;
use pratique_types::GroupVersionKind;
use pratique_types::builtin::ServedResource;

#[cfg(feature = "kube")]
use super::Wanted;
#[cfg(feature = "kube")]
use super::fetch::Secrets;
use super::{ClusterSnapshot, WebhookUse, directory};
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

    /// Policies, bindings and webhook configurations, for where none are named: `None` if there are none to take.
    ///
    /// # Errors
    /// They are not known.
    pub(crate) fn policies(&mut self, webhooks: WebhookUse) -> Result<Option<Vec<ManifestFile>>, CliError> {
        match self {
            StateSource::Given => Ok(None),
            StateSource::Stored(snapshot) => snapshot.known_policies(webhooks).map(Some),
            #[cfg(feature = "kube")]
            StateSource::Cluster { fetch, .. } => super::policies::read(fetch, webhooks).map(Some),
        }
    }

    /// The cluster itself, if it comes from there.
    #[cfg(feature = "kube")]
    pub(crate) fn server(&self) -> Option<&ApiServer> {
        match self {
            StateSource::Cluster { server, .. } => Some(server),
            StateSource::Given | StateSource::Stored(_) => None,
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

    /// Whether it has what admission plugins look up; `None` if there is no state of a cluster.
    pub(crate) fn has_plugin_objects(&self) -> Option<bool> {
        match self {
            StateSource::Given => None,
            StateSource::Stored(snapshot) => Some(snapshot.has_plugin_objects()),
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
    ) -> KnownState {
        let name = self.name();
        self.read(admission, sets, plugin_kinds);
        let known = match self {
            StateSource::Given => KnownState::default(),
            StateSource::Stored(snapshot) => KnownState {
                snapshot: *snapshot,
                ..KnownState::default()
            },
            #[cfg(feature = "kube")]
            StateSource::Cluster { server, fetch } => KnownState {
                snapshot: fetch.end(),
                given: Vec::new(),
                server: Some(server),
            },
        };
        known.snapshot.warn(&name);
        known
    }

    /// The state that policies need besides what others needed before.
    pub(crate) fn state_of(
        &mut self,
        admission: &Admission,
        sets: &OriginSets,
        plugin_kinds: Option<&BTreeSet<StateKind>>,
    ) -> KnownState {
        self.read(admission, sets, plugin_kinds);
        match self {
            StateSource::Given => KnownState::default(),
            StateSource::Stored(snapshot) => KnownState {
                snapshot: snapshot.as_ref().clone(),
                ..KnownState::default()
            },
            #[cfg(feature = "kube")]
            StateSource::Cluster { server, fetch } => KnownState {
                snapshot: fetch.so_far(),
                given: Vec::new(),
                server: Some(server.clone()),
            },
        }
    }

    /// Reads of a cluster what policies and admission plugins need, as far as it was not read before.
    fn read(&mut self, admission: &Admission, sets: &OriginSets, plugin_kinds: Option<&BTreeSet<StateKind>>) {
        #[cfg(not(feature = "kube"))]
        let _ = (admission, sets, plugin_kinds);
        #[cfg(feature = "kube")]
        if let StateSource::Cluster { fetch, .. } = self {
            let wanted = Wanted::of(admission, sets);
            let wanted = match plugin_kinds {
                Some(kinds) => wanted.with_plugins(kinds.iter().copied()),
                None => wanted,
            };
            fetch.state(&wanted, Secrets::Params);
        }
    }
}

/// What is known of a cluster, besides the objects that are given; nothing by default.
#[derive(Default)]
pub(crate) struct KnownState {
    pub(crate) snapshot: ClusterSnapshot,
    /// Snapshots among the objects that are given, whose objects count instead of those of the same name.
    pub(crate) given: Vec<ClusterSnapshot>,
    /// The cluster itself, to be asked for permissions.
    #[cfg(feature = "kube")]
    pub(crate) server: Option<ApiServer>,
}

impl KnownState {
    fn snapshots(&self) -> impl Iterator<Item = &ClusterSnapshot> {
        std::iter::once(&self.snapshot).chain(&self.given)
    }

    /// The objects, of which later ones count instead of those of the same name.
    pub(crate) fn objects(&self) -> impl Iterator<Item = &Value<'static>> {
        self.snapshots().flat_map(|snapshot| &snapshot.objects)
    }

    /// The kinds of which all objects are known.
    pub(crate) fn complete_kinds(&self) -> BTreeSet<GroupVersionKind> {
        self.snapshots()
            .flat_map(ClusterSnapshot::complete_kinds)
            .collect()
    }

    /// The resources that are served besides those of Kubernetes.
    pub(crate) fn served(&self) -> impl Iterator<Item = ServedResource> {
        self.snapshots()
            .flat_map(|snapshot| snapshot.index.served().unwrap_or_default())
    }

    /// How much the roles and bindings say of permissions.
    pub(crate) fn permissions(&self) -> Completeness {
        let said = self.snapshots().map(ClusterSnapshot::permissions);
        let mut said = said.filter(|said| *said != Completeness::Partial);
        said.next().unwrap_or(Completeness::Partial)
    }
}
