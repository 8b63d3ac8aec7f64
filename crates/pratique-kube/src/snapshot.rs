//! A cluster of one moment.

use std::collections::HashMap;
use std::sync::Arc;

use pratique::cluster::{
    Cluster, Equivalents, MergeSchema, Namespace, NamespaceObject, Namespaces, ParamScope, StoredObject,
};
use pratique::json::Value;
use pratique::types::{GroupVersionKind, ObjectRef};

use super::definition_uses::DefinedKinds;
use super::served_resources::ServedResources;
use super::store::ByName;

/// Objects of a kind.
pub(super) type KindObjects = Arc<ByName<Value<'static>>>;

/// The known state of a cluster at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct StateSnapshot {
    pub(super) namespaces: Arc<ByName<StoredObject>>,
    /// A namespace that was looked up for one request.
    pub(super) found: Option<Arc<StoredObject>>,
    /// The params of those kinds that policies name and whose objects are known.
    pub(super) params: HashMap<GroupVersionKind, (ParamScope, KindObjects)>,
    pub(super) served: Arc<ServedResources>,
    pub(super) defined: Arc<DefinedKinds>,
}

impl StateSnapshot {
    fn find(&self, namespace: &str) -> Option<&StoredObject> {
        let known_namespace = self.found.as_ref();
        let known_namespace =
            known_namespace.filter(|object| ObjectRef::new(object.value()).name() == namespace);
        let listed = || self.namespaces.get("")?.get(namespace);
        known_namespace.or_else(listed).map(|namespace| &**namespace)
    }
}

impl Namespaces for StateSnapshot {
    fn namespace<'a>(&'a self, name: &str) -> Namespace<'a> {
        let object = self.find(name);
        object
            .map(|namespace| -> &'a Value<'a> { namespace.value() })
            .into()
    }
}

impl Cluster for StateSnapshot {
    fn equivalents(&self) -> &Equivalents {
        &self.served.equivalents
    }

    fn param_scope(&self, kind: &GroupVersionKind) -> Option<ParamScope> {
        let scope = self.params.get(kind).map(|(scope, _)| *scope);
        scope.or_else(|| Some(self.served.kind(kind)?.scope))
    }

    /// A param that exists must never seem to be missing: a kind that is served may not have been listed yet.
    fn params_synced(&self, kind: &GroupVersionKind) -> bool {
        self.params.contains_key(kind)
    }

    fn param<'a>(&'a self, kind: &GroupVersionKind, namespace: &str, name: &str) -> Option<&'a Value<'a>> {
        let (_, objects) = self.params.get(kind)?;
        let object: &'a Arc<Value<'static>> = objects.get(namespace)?.get(name)?;
        Some(object)
    }

    fn params<'a>(&'a self, kind: &GroupVersionKind, namespace: &str) -> Vec<&'a Value<'a>> {
        let objects = self
            .params
            .get(kind)
            .and_then(|(_, objects)| objects.get(namespace));
        let objects = objects.into_iter().flat_map(|objects| objects.values());
        objects.map(|object| -> &'a Value<'a> { object }).collect()
    }

    fn namespace_object(&self, name: &str) -> Option<&NamespaceObject> {
        Some(self.find(name)?.as_namespace())
    }

    fn custom_merge_schema(&self, kind: &GroupVersionKind) -> Option<&MergeSchema> {
        self.served.schema(kind)
    }
}
