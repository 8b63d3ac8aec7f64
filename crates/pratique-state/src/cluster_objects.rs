//! The objects of a cluster, and what its definitions make of it: one maker for all that know one.

use pratique::api_objects::{ApiObjects, UnservedError};
use pratique::{FeatureGates, Objects};
use pratique_json::Value;
use pratique_request::{GoneDefinition, ResourceResolver, is_definition};

use crate::cluster::with_name_label;
use crate::every_cluster;

/// The objects of a cluster, the resources that it serves, and the kinds whose objects it completes. A definition adds to all
/// three.
///
/// ```
/// use pratique_state::{ClusterObjects, ObjectOrigin};
///
/// let definition = pratique_json::parse(br#"{
///     "apiVersion": "apiextensions.k8s.io/v1beta1", "kind": "CustomResourceDefinition", "metadata": {"name": "stalls.example.com"}
/// }"#)?;
/// let mut cluster = ClusterObjects::default();
/// let error = cluster.add(definition.into_owned(), ObjectOrigin::Given).unwrap_err();
/// assert!(error.to_string().contains("a version that is gone since Kubernetes 1.22"), "{error}");
/// # Ok::<(), pratique_json::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ClusterObjects {
    /// Its objects, as policies see them.
    pub objects: Objects,
    /// The resources that it serves.
    pub resolver: ResourceResolver,
    /// The built-in kinds, and those of its definitions.
    pub kinds: ApiObjects,
}

/// Where an object of a cluster comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectOrigin {
    /// A server has stored it, perhaps by rules that were less strict.
    Stored,
    /// Somebody gives it, and a server would validate it first.
    Given,
}

/// Why a definition defines nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnusableDefinition {
    /// No server serves its version any more.
    #[error(transparent)]
    Gone(GoneDefinition),
    /// A server refuses it, or serves a resource of its own instead.
    #[error(transparent)]
    Unserved(#[from] UnservedError),
}

impl ClusterObjects {
    /// A cluster without objects, of a release with its feature gates.
    pub fn new(gates: FeatureGates) -> Self {
        ClusterObjects::default().with_gates(gates)
    }

    /// The same of a server of another release, or with other feature gates.
    #[must_use]
    pub fn with_gates(self, gates: FeatureGates) -> Self {
        ClusterObjects {
            objects: self.objects.with_release(gates.release()),
            resolver: self.resolver.with_release(gates.release()),
            kinds: self.kinds.with_gates(gates),
        }
    }

    /// Adds the custom resources of an object, if that is a definition.
    ///
    /// # Errors
    /// It is a definition that defines nothing.
    pub fn define(&mut self, object: &Value<'_>, origin: ObjectOrigin) -> Result<(), UnusableDefinition> {
        if let Some(gone) = GoneDefinition::from_object(object) {
            return Err(UnusableDefinition::Gone(gone));
        }
        if !is_definition(object) {
            return Ok(());
        }
        let served = match origin {
            ObjectOrigin::Stored => self.kinds.define_stored(object)?,
            ObjectOrigin::Given => self.kinds.define(object)?,
        };
        self.resolver.define(object, served);
        Ok(())
    }

    /// Stores an object, without what a definition defines. What has no name is no object of a cluster.
    pub fn store(&mut self, object: Value<'static>) {
        drop(self.objects.insert(with_name_label(object)));
    }

    /// Adds an object, and if it is a definition, its custom resources.
    ///
    /// # Errors
    /// It is a definition that defines nothing, which is not added.
    pub fn add(&mut self, object: Value<'static>, origin: ObjectOrigin) -> Result<(), UnusableDefinition> {
        self.define(&object, origin)?;
        self.store(object);
        Ok(())
    }

    /// Adds what every cluster has, and what each namespace has to each of these, unless it is there.
    pub fn add_every_cluster(&mut self) {
        every_cluster::add_missing(&mut self.objects);
    }
}

#[cfg(test)]
mod tests {
    use pratique::cluster::{Cluster as _, Namespaces as _, ParamScope};
    use pratique_types::GroupVersionKind;

    use super::*;

    /// A definition, with a rule of its schema.
    fn definition(rule: &str) -> Value<'static> {
        let text = format!(
            r#"{{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {{"name": "stalls.example.com"}}, "spec": {{"group": "example.com", "scope": "Namespaced",
            "names": {{"plural": "stalls", "singular": "stall", "kind": "Stall", "listKind": "StallList"}},
            "versions": [{{"name": "v1", "served": true, "storage": true, "schema": {{"openAPIV3Schema": {{
                "type": "object", "x-kubernetes-validations": [{{"rule": "{rule}"}}]}}}}}}]}}}}"#
        );
        pratique_json::parse(text.as_bytes()).unwrap().into_owned()
    }

    #[test]
    fn definitions_that_are_stored_are_not_validated_again() {
        let kind = GroupVersionKind::new("example.com", "v1", "Stall");
        let scope = |rule: &str, origin: ObjectOrigin| {
            let mut cluster = ClusterObjects::default();
            let added = cluster.add(definition(rule), origin);
            let scope = cluster.objects.param_scope(&kind);
            assert_eq!(cluster.kinds.knows(&kind), scope.is_some());
            (added.is_ok(), scope)
        };
        let namespaced = (true, Some(ParamScope::Namespaced));
        assert_eq!(scope("true", ObjectOrigin::Given), namespaced);
        assert_eq!(scope("self.a", ObjectOrigin::Given), (false, None));
        assert_eq!(scope("self.a", ObjectOrigin::Stored), namespaced);
    }

    #[test]
    fn every_cluster_has_its_namespaces() {
        let mut cluster = ClusterObjects::default();
        assert!(cluster.objects.namespace("kube-system").stored().is_none());
        cluster.add_every_cluster();
        assert!(cluster.objects.namespace("kube-system").stored().is_some());
    }
}
