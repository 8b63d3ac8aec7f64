//! What is known of the cluster: the objects given as its state, and namespaces and definitions among the inputs.

use pratique::Objects;
use pratique_json::Value;
use pratique_suite::request::cluster::{cluster, is_namespace};
use pratique_suite::request::defined;
use pratique_types::builtin::ServedResource;

use crate::input::{GivenObject, InputObject};

/// Words of inputs that may change what is known of the cluster.
pub(super) const WORDS: [&str; 2] = ["Namespace", "CustomResourceDefinition"];

/// What is known of the cluster when an object is reviewed.
#[derive(Clone)]
pub(super) struct ClusterState {
    pub(super) objects: Objects,
    pub(super) defined: Vec<ServedResource>,
}

impl ClusterState {
    /// The given state. Other namespaces and params may exist.
    pub(super) fn new(state: &[InputObject]) -> Self {
        let mut objects = cluster(state.iter().map(|given| &given.object), []);
        objects.assume_namespaces();
        objects.assume_params();
        ClusterState {
            objects,
            defined: defined(state.iter().map(|given| &given.object)),
        }
    }

    /// Adds the namespaces and definitions of an input.
    pub(super) fn add(&mut self, found: &[Value<'static>]) {
        self.defined.extend(defined(found));
        for object in found {
            self.objects
                .insert(pratique_suite::request::cluster::with_name_label(object.clone()));
        }
    }
}

/// The namespaces and definitions among some objects that a server can decode.
pub(super) fn of_cluster<'t>(given: impl IntoIterator<Item = GivenObject<'t>>) -> Vec<Value<'static>> {
    let counts = |object: &Value<'_>| {
        let kind = object.get("kind").and_then(Value::as_str);
        is_namespace(object) || kind == Some("CustomResourceDefinition")
    };
    given
        .into_iter()
        .filter(|given| given.received.is_ok() && counts(&given.object))
        .map(|given| given.object.into_owned())
        .collect()
}
