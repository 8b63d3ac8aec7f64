//! A cluster in memory.

use std::collections::BTreeMap;

use pratique_json::Value;
use pratique_match::{Equivalents, Namespace, Namespaces};
use pratique_policy::{Cluster, ParamScope};
use pratique_schema::Release;
use pratique_types::{GroupVersionKind, GroupVersionResource, ObjectRef};
use serde_json::Value as Json;

/// A cluster with the built-in resources, and with the namespaces and params that a test adds.
///
/// ```
/// use pratique_match::{Namespace, Namespaces};
/// use pratique_testkit::TestCluster;
/// use serde_json::json;
///
/// let cluster = TestCluster::new().with_namespace(&json!({"metadata": {"name": "shop"}}));
/// assert!(cluster.namespace("shop").stored().is_some());
/// assert_eq!(cluster.namespace("other"), Namespace::Absent);
/// ```
#[derive(Debug)]
pub struct TestCluster {
    equivalents: Equivalents,
    namespaces: BTreeMap<String, Value<'static>>,
    only_names: bool,
    params: BTreeMap<String, KnownParams>,
}

/// The known objects of a kind.
#[derive(Debug)]
enum KnownParams {
    Listed(Vec<Value<'static>>),
    NotSynced,
    Unknown,
}

impl Default for TestCluster {
    fn default() -> Self {
        TestCluster::new()
    }
}

impl TestCluster {
    /// Without namespaces and kinds of params.
    pub fn new() -> Self {
        TestCluster {
            equivalents: Equivalents::of_release(Release::latest().resources()),
            namespaces: BTreeMap::new(),
            only_names: false,
            params: BTreeMap::new(),
        }
    }

    /// With a stored namespace.
    #[must_use]
    pub fn with_namespace(mut self, namespace: &Json) -> Self {
        let namespace = parse(namespace);
        self.namespaces
            .insert(ObjectRef::new(&namespace).name().to_owned(), namespace);
        self
    }

    /// All namespaces exist; of those that are not stored only the name is known, and of kinds without params nothing.
    #[must_use]
    pub fn with_names_only(mut self) -> Self {
        self.only_names = true;
        self
    }

    /// With a kind of params that live in namespaces, and all its objects.
    #[must_use]
    pub fn with_params(self, kind: &str, objects: &[Json]) -> Self {
        self.with(kind, KnownParams::Listed(objects.iter().map(parse).collect()))
    }

    /// With a kind of params that has not been listed yet.
    #[must_use]
    pub fn with_params_not_synced(self, kind: &str) -> Self {
        self.with(kind, KnownParams::NotSynced)
    }

    /// With a kind of params whose objects are unknown.
    #[must_use]
    pub fn with_params_unknown(self, kind: &str) -> Self {
        self.with(kind, KnownParams::Unknown)
    }

    /// With one more resource, which has the same objects as those of its name in other groups.
    #[must_use]
    pub fn with_resource(mut self, resource: GroupVersionResource, kind: GroupVersionKind) -> Self {
        self.equivalents.register(resource, "", kind);
        self
    }

    fn with(mut self, kind: &str, params: KnownParams) -> Self {
        self.params.insert(kind.to_owned(), params);
        self
    }
}

fn parse(value: &Json) -> Value<'static> {
    let text = value.to_string();
    pratique_json::parse(text.as_bytes())
        .expect("is JSON")
        .into_owned()
}

impl Namespaces for TestCluster {
    fn namespace<'a>(&'a self, name: &str) -> Namespace<'a> {
        match self.namespaces.get(name) {
            Some(stored) => Namespace::Stored(stored),
            None if self.only_names => Namespace::Named,
            None => Namespace::Absent,
        }
    }
}

impl Cluster for TestCluster {
    fn equivalents(&self) -> &Equivalents {
        &self.equivalents
    }

    fn param_scope(&self, kind: &GroupVersionKind) -> Option<ParamScope> {
        self.params.get(&kind.kind).map(|_| ParamScope::Namespaced)
    }

    fn params_synced(&self, kind: &GroupVersionKind) -> bool {
        !matches!(self.params.get(&kind.kind), Some(KnownParams::NotSynced))
    }

    fn knows_params(&self, kind: &GroupVersionKind) -> bool {
        match self.params.get(&kind.kind) {
            Some(KnownParams::Listed(_) | KnownParams::NotSynced) => true,
            Some(KnownParams::Unknown) => false,
            None => !self.only_names,
        }
    }

    fn param<'a>(&'a self, kind: &GroupVersionKind, namespace: &str, name: &str) -> Option<&'a Value<'a>> {
        let mut params = self.params(kind, namespace).into_iter();
        params.find(|param| ObjectRef::new(param).name() == name)
    }

    fn params<'a>(&'a self, kind: &GroupVersionKind, namespace: &str) -> Vec<&'a Value<'a>> {
        match self.params.get(&kind.kind) {
            Some(KnownParams::Listed(objects)) => {
                let there = objects
                    .iter()
                    .filter(|object| ObjectRef::new(object).namespace() == namespace);
                there.collect()
            }
            _ => Vec::new(),
        }
    }
}
