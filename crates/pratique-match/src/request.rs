//! The parts of a request that are matched.

use pratique_json::Value;
use pratique_types::{AdmissionRequest, GroupVersionKind, GroupVersionResource, Operation};

use crate::selector::Labels;

/// A request as rules and selectors match it.
#[derive(Clone, Copy, Debug)]
pub struct Target<'r> {
    /// The operation.
    pub operation: Operation,
    /// The kind of the object.
    pub kind: &'r GroupVersionKind,
    /// The resource.
    pub resource: &'r GroupVersionResource,
    /// The part of the resource; empty for the resource itself.
    pub subresource: &'r str,
    /// The name of the object; empty where the server is to generate it.
    pub name: &'r str,
    /// The namespace; empty outside of namespaces. Requests for a namespace carry its name.
    pub namespace: &'r str,
    /// The new object; `null` where there is none.
    pub object: &'r Value<'r>,
    /// The stored object; `null` where there is none.
    pub old_object: &'r Value<'r>,
    /// Whether there is a stored object that the request lacks.
    pub lacks_old_object: bool,
    /// Whether the name and the scope of the resource were only assumed from the kind.
    pub assumes_resource: bool,
    /// Whether objects of built-in kinds are held in typed form, in which some kinds have no metadata.
    pub types_objects: bool,
}

/// A source of stored namespaces.
pub trait Namespaces {
    /// The namespace with a name, as far as it is known.
    fn namespace<'a>(&'a self, name: &str) -> Namespace<'a>;
}

/// A namespace, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Namespace<'a> {
    /// It does not exist.
    Absent,
    /// It exists, and only its name is known, with the [label](NAME_LABEL) that an API server gives it.
    Named,
    /// The stored `v1` Namespace.
    Stored(&'a Value<'a>),
}

/// The label that an API server puts on every namespace: its name.
pub const NAME_LABEL: &str = "kubernetes.io/metadata.name";

impl<'a> Namespace<'a> {
    /// The stored object, if it is known.
    pub fn stored(self) -> Option<&'a Value<'a>> {
        match self {
            Namespace::Stored(stored) => Some(stored),
            Namespace::Absent | Namespace::Named => None,
        }
    }

    /// Whether it exists.
    pub fn exists(self) -> bool {
        self != Namespace::Absent
    }

    /// This, unless another view knows more.
    #[must_use]
    pub fn or(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Namespace::Stored(_) => self,
            Namespace::Absent => other(),
            Namespace::Named => match other() {
                Namespace::Absent => self,
                known => known,
            },
        }
    }
}

/// The stored namespace of a view that knows all there are.
impl<'a> From<Option<&'a Value<'a>>> for Namespace<'a> {
    fn from(stored: Option<&'a Value<'a>>) -> Self {
        stored.map_or(Namespace::Absent, Namespace::Stored)
    }
}

impl<'r> Target<'r> {
    /// The request with its own object.
    pub fn new(request: &'r AdmissionRequest<'r>) -> Self {
        Target {
            operation: request.operation,
            kind: &request.kind,
            resource: &request.resource,
            subresource: &request.sub_resource,
            name: &request.name,
            namespace: &request.namespace,
            object: &request.object,
            old_object: &request.old_object,
            lacks_old_object: request.lacks_old_object,
            assumes_resource: request.assumes_resource,
            types_objects: true,
        }
    }
}

impl Target<'_> {
    /// The labels of one of its objects; `None` where there is no object, or where it has no metadata.
    pub(crate) fn labels_of<'a>(&self, object: &'a Value<'a>) -> Option<Labels<'a>> {
        if self.types_objects {
            labels_of(self.kind, object)
        } else {
            labels_of(&GroupVersionKind::default(), object)
        }
    }
}

/// The labels of an object; `None` where there is no object, or where its kind has no metadata.
pub fn labels_of<'a>(kind: &GroupVersionKind, object: &'a Value<'a>) -> Option<Labels<'a>> {
    if object.is_null() || (kind.group.is_empty() && WITHOUT_METADATA.contains(&kind.kind.as_str())) {
        return None;
    }
    let labels = object.at(&["metadata", "labels"]);
    Some(labels.map(Labels::new).unwrap_or_default())
}

/// The kinds of the core group that requests to connect carry.
const WITHOUT_METADATA: [&str; 6] = [
    "NodeProxyOptions",
    "PodAttachOptions",
    "PodExecOptions",
    "PodPortForwardOptions",
    "PodProxyOptions",
    "ServiceProxyOptions",
];
