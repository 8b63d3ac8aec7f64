//! The view of the cluster that plugins have.

use std::fmt::{self, Display, Formatter};

use pratique_json::Value;

use crate::object_list::ObjectList;
use crate::rejection::{MissingState, Rejection};

/// A kind of objects that plugins look up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateKind {
    /// The API group, empty for the core group.
    pub group: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// The plural name of its resource.
    pub resource: &'static str,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

/// The result of a lookup.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lookup<'a> {
    /// The stored object.
    Found(&'a Value<'a>),
    /// There is no such object.
    Absent,
    /// It exists, and only its name is known.
    Named,
    /// It is not known whether it exists.
    Unknown,
}

/// A view of the cluster at one moment, which stays the same for the whole of a request.
///
/// Objects are those of the storage version 1.37 serves by default, as they are stored.
pub trait ClusterState: Sync {
    /// One object; the namespace is empty for a kind of cluster scope.
    fn get<'a>(&'a self, kind: StateKind, namespace: &str, name: &str) -> Lookup<'a>;

    /// All objects of a kind in a namespace (empty for a kind of cluster scope), by name; `None` where they are not known.
    ///
    /// Values that plugins [derive](crate::DerivedCache) from a list are kept as long as copies of one list are
    /// returned.
    fn list<'a>(&'a self, kind: StateKind, namespace: &str) -> Option<&'a ObjectList>;

    /// Whether controllers have not seen the objects: they are as someone wrote them, and what a controller writes into their
    /// status may be absent. False for a running cluster.
    fn lacks_controllers(&self) -> bool {
        false
    }

    /// As [`get`](Self::get), where an object that is not known is [undecided](Rejection::Undecided).
    ///
    /// # Errors
    /// It is not known, or only its name is.
    fn find<'a>(
        &'a self,
        kind: StateKind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<&'a Value<'a>>, Rejection> {
        match self.get(kind, namespace, name) {
            Lookup::Found(object) => Ok(Some(object)),
            Lookup::Absent => Ok(None),
            Lookup::Named | Lookup::Unknown => Err(kind.missing(namespace, Some(name))),
        }
    }

    /// Whether an object exists.
    ///
    /// # Errors
    /// That is not known.
    fn exists(&self, kind: StateKind, namespace: &str, name: &str) -> Result<bool, Rejection> {
        match self.get(kind, namespace, name) {
            Lookup::Found(_) | Lookup::Named => Ok(true),
            Lookup::Absent => Ok(false),
            Lookup::Unknown => Err(kind.missing(namespace, Some(name))),
        }
    }

    /// As [`list`](Self::list), where objects that are not known are [undecided](Rejection::Undecided).
    ///
    /// # Errors
    /// They are not known.
    fn require_list<'a>(&'a self, kind: StateKind, namespace: &str) -> Result<&'a ObjectList, Rejection> {
        self.list(kind, namespace)
            .ok_or_else(|| kind.missing(namespace, None))
    }
}

impl StateKind {
    /// Namespaces.
    pub const NAMESPACE: Self = Self::cluster("", "Namespace", "namespaces");
    /// Nodes.
    pub const NODE: Self = Self::cluster("", "Node", "nodes");
    /// Pods.
    pub const POD: Self = Self::namespaced("", "Pod", "pods");
    /// Service accounts.
    pub const SERVICE_ACCOUNT: Self = Self::namespaced("", "ServiceAccount", "serviceaccounts");
    /// Secrets.
    pub const SECRET: Self = Self::namespaced("", "Secret", "secrets");
    /// Limit ranges.
    pub const LIMIT_RANGE: Self = Self::namespaced("", "LimitRange", "limitranges");
    /// Quotas.
    pub const RESOURCE_QUOTA: Self = Self::namespaced("", "ResourceQuota", "resourcequotas");
    /// Persistent volumes.
    pub const PERSISTENT_VOLUME: Self = Self::cluster("", "PersistentVolume", "persistentvolumes");
    /// Claims of persistent volumes.
    pub const PERSISTENT_VOLUME_CLAIM: Self =
        Self::namespaced("", "PersistentVolumeClaim", "persistentvolumeclaims");
    /// Priority classes.
    pub const PRIORITY_CLASS: Self = Self::cluster("scheduling.k8s.io", "PriorityClass", "priorityclasses");
    /// Pod groups.
    pub const POD_GROUP: Self = Self::namespaced("scheduling.k8s.io", "PodGroup", "podgroups");
    /// Workloads.
    pub const WORKLOAD: Self = Self::namespaced("scheduling.k8s.io", "Workload", "workloads");
    /// Storage classes.
    pub const STORAGE_CLASS: Self = Self::cluster("storage.k8s.io", "StorageClass", "storageclasses");
    /// CSI drivers.
    pub const CSI_DRIVER: Self = Self::cluster("storage.k8s.io", "CSIDriver", "csidrivers");
    /// Runtime classes.
    pub const RUNTIME_CLASS: Self = Self::cluster("node.k8s.io", "RuntimeClass", "runtimeclasses");
    /// Ingress classes.
    pub const INGRESS_CLASS: Self = Self::cluster("networking.k8s.io", "IngressClass", "ingressclasses");
    /// Resource claims.
    pub const RESOURCE_CLAIM: Self = Self::namespaced("resource.k8s.io", "ResourceClaim", "resourceclaims");
    /// Definitions of custom resources.
    pub const CUSTOM_RESOURCE_DEFINITION: Self = Self::cluster(
        "apiextensions.k8s.io",
        "CustomResourceDefinition",
        "customresourcedefinitions",
    );
    /// Device classes.
    pub const DEVICE_CLASS: Self = Self::cluster("resource.k8s.io", "DeviceClass", "deviceclasses");

    /// All of these.
    pub const ALL: [Self; 19] = [
        Self::NAMESPACE,
        Self::NODE,
        Self::POD,
        Self::SERVICE_ACCOUNT,
        Self::SECRET,
        Self::LIMIT_RANGE,
        Self::RESOURCE_QUOTA,
        Self::PERSISTENT_VOLUME,
        Self::PERSISTENT_VOLUME_CLAIM,
        Self::PRIORITY_CLASS,
        Self::POD_GROUP,
        Self::WORKLOAD,
        Self::STORAGE_CLASS,
        Self::CSI_DRIVER,
        Self::RUNTIME_CLASS,
        Self::INGRESS_CLASS,
        Self::RESOURCE_CLAIM,
        Self::CUSTOM_RESOURCE_DEFINITION,
        Self::DEVICE_CLASS,
    ];

    /// A kind of cluster scope.
    pub const fn cluster(group: &'static str, kind: &'static str, resource: &'static str) -> Self {
        StateKind {
            group,
            kind,
            resource,
            namespaced: false,
        }
    }

    /// A kind whose objects live in namespaces.
    pub const fn namespaced(group: &'static str, kind: &'static str, resource: &'static str) -> Self {
        StateKind {
            group,
            kind,
            resource,
            namespaced: true,
        }
    }

    /// The rejection of a request whose decision depends on objects of this kind that are not known.
    pub fn missing(self, namespace: &str, name: Option<&str>) -> Rejection {
        let missing = MissingState::Objects {
            kind: self,
            namespace: namespace.to_owned(),
            name: name.map(str::to_owned),
        };
        missing.into()
    }
}

impl Display for StateKind {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self.group {
            "" => formatter.write_str(self.kind),
            group => write!(formatter, "{}.{group}", self.kind),
        }
    }
}
