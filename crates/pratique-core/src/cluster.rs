//! The view of the cluster.

use pratique_json::Value;
use pratique_match::{Equivalents, Namespace, Namespaces};
use pratique_schema::Release;
use pratique_schema::merge::MergeSchema;
use pratique_types::GroupVersionKind;

use crate::namespace_object::NamespaceObject;

/// A view of the cluster at one moment, which stays the same for the whole of a request.
pub trait Cluster: Namespaces + Sync {
    /// The resources that the cluster serves, and which of them are views of the same objects.
    fn equivalents(&self) -> &Equivalents;

    /// Where objects of a kind live; `None` for an unknown kind.
    fn param_scope(&self, kind: &GroupVersionKind) -> Option<ParamScope>;

    /// Whether the objects of a kind that has a scope are known: they may not have been listed yet, or no longer be
    /// listed. Until then, bindings that need them are errors of configuration.
    fn params_synced(&self, kind: &GroupVersionKind) -> bool {
        let _ = kind;
        true
    }

    /// Whether the params of a kind in a namespace (empty for a kind of cluster scope) are still to be looked up: the
    /// evaluation then ends as [pending](crate::UnfinishedEvaluation::Pending), and is repeated once they are known. It is called
    /// before [`param`](Self::param) and [`params`](Self::params).
    fn params_pending(&self, kind: &GroupVersionKind, namespace: &str) -> bool {
        let _ = (kind, namespace);
        false
    }

    /// One object; the namespace is empty for a kind of cluster scope.
    fn param<'a>(&'a self, kind: &GroupVersionKind, namespace: &str, name: &str) -> Option<&'a Value<'a>>;

    /// All objects of a kind in a namespace (empty for a kind of cluster scope), by name.
    fn params<'a>(&'a self, kind: &GroupVersionKind, namespace: &str) -> Vec<&'a Value<'a>>;

    /// Whether all existing objects of a kind are available as params. Otherwise an object that is not found may exist.
    fn knows_params(&self, kind: &GroupVersionKind) -> bool {
        let _ = kind;
        true
    }

    /// All objects of a kind that are known, in whatever namespaces; `None` where the view does not have them together.
    /// [`knows_params`](Self::knows_params) says whether there may be others.
    fn objects_of_kind<'a>(&'a self, kind: &GroupVersionKind) -> Option<Vec<&'a Value<'a>>> {
        let _ = kind;
        None
    }

    /// A stored namespace that [`namespace`](Namespaces::namespace) finds, as expressions see it; `None` where the view keeps
    /// no such form, so that it is made for the request.
    fn namespace_object(&self, name: &str) -> Option<&NamespaceObject> {
        let _ = name;
        None
    }

    /// The schema by which custom resources of a kind are merged; `None` where no definition is known that has one. Built-in kinds
    /// have that of the [release](crate::EvalContext::merge_schema).
    fn custom_merge_schema(&self, kind: &GroupVersionKind) -> Option<&MergeSchema> {
        let _ = kind;
        None
    }
}

/// A cluster that serves the built-in resources of the latest release, and has no object: for policies that read nothing but
/// the request. No namespace exists, and no kind is one of params.
#[derive(Clone, Debug)]
pub struct EmptyCluster {
    equivalents: Equivalents,
}

impl EmptyCluster {
    /// The cluster.
    pub fn new() -> Self {
        EmptyCluster {
            equivalents: Equivalents::of_release(Release::latest().resources()),
        }
    }
}

impl Default for EmptyCluster {
    fn default() -> Self {
        EmptyCluster::new()
    }
}

impl Namespaces for EmptyCluster {
    fn namespace<'a>(&'a self, _: &str) -> Namespace<'a> {
        Namespace::Absent
    }
}

impl Cluster for EmptyCluster {
    fn equivalents(&self) -> &Equivalents {
        &self.equivalents
    }

    fn param_scope(&self, _: &GroupVersionKind) -> Option<ParamScope> {
        None
    }

    fn param<'a>(&'a self, _: &GroupVersionKind, _: &str, _: &str) -> Option<&'a Value<'a>> {
        None
    }

    fn params<'a>(&'a self, _: &GroupVersionKind, _: &str) -> Vec<&'a Value<'a>> {
        Vec::new()
    }
}

/// Where objects of a kind live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamScope {
    /// In namespaces.
    Namespaced,
    /// Outside of namespaces.
    Cluster,
}
