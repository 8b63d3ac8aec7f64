//! A cluster of which one knows nothing but that its namespaces exist.

use std::fmt;
use std::sync::{Arc, OnceLock};

use pratique_json::{Object, Value};
use pratique_match::{Equivalents, Namespaces};
use pratique_policy::{Cluster, ParamScope};
use pratique_schema::merge::MergeSchema;
use pratique_types::GroupVersionKind;

use super::view::ClusterView;
use crate::objects::Objects;

/// The label that an API server puts on every namespace.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";
/// How many namespaces one request can ask for that are not known; it has one, and may be about another.
const ASSUMED: usize = 4;

/// A cluster where every namespace that a request is in exists, with no label but that of its name; nothing else of it
/// is known besides the built-in resources.
///
/// Policies that select namespaces by other labels see none that has them: who uses this has to see to it that there
/// are no such policies.
#[derive(Clone, Default)]
pub struct AssumedNamespaces(Arc<Objects>);

impl ClusterView for AssumedNamespaces {
    fn now(&self) -> Arc<dyn Cluster + Send + Sync> {
        Arc::new(Assuming {
            objects: self.0.clone(),
            assumed: Default::default(),
        })
    }
}

impl fmt::Debug for AssumedNamespaces {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("AssumedNamespaces")
    }
}

/// What one request sees.
struct Assuming {
    objects: Arc<Objects>,
    assumed: [OnceLock<(Box<str>, Value<'static>)>; ASSUMED],
}

impl Namespaces for Assuming {
    fn namespace<'a>(&'a self, name: &str) -> Option<&'a Value<'a>> {
        let found = self.assumed.iter().find_map(|slot| {
            let (own, namespace) = slot.get_or_init(|| (name.into(), namespace(name)));
            (**own == *name).then_some(namespace)
        });
        found.map(|namespace| -> &'a Value<'a> { namespace })
    }
}

impl Cluster for Assuming {
    fn equivalents(&self) -> &Equivalents {
        self.objects.equivalents()
    }

    fn param_scope(&self, kind: &GroupVersionKind) -> Option<ParamScope> {
        self.objects.param_scope(kind)
    }

    fn param<'a>(&'a self, kind: &GroupVersionKind, namespace: &str, name: &str) -> Option<&'a Value<'a>> {
        self.objects.param(kind, namespace, name)
    }

    fn params<'a>(&'a self, kind: &GroupVersionKind, namespace: &str) -> Vec<&'a Value<'a>> {
        self.objects.params(kind, namespace)
    }

    fn merge_schema(&self, kind: &GroupVersionKind) -> &MergeSchema {
        self.objects.merge_schema(kind)
    }
}

fn namespace(name: &str) -> Value<'static> {
    let mut labels = Object::new();
    labels.insert(NAME_LABEL, name.to_owned());
    let mut metadata = Object::new();
    metadata.insert("name", name.to_owned());
    metadata.insert("labels", labels);
    let mut namespace = Object::new();
    namespace.insert("apiVersion", "v1");
    namespace.insert("kind", "Namespace");
    namespace.insert("metadata", metadata);
    Value::Object(namespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_have_their_names() {
        let cluster = AssumedNamespaces::default().now();
        for name in ["a", "b", "a", "c"] {
            let found = cluster
                .namespace(name)
                .unwrap()
                .at(&["metadata", "labels", NAME_LABEL])
                .and_then(Value::as_str);
            assert_eq!(found, Some(name));
        }
    }
}
