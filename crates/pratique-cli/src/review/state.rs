//! The state of the cluster: its objects, and namespaces and definitions among the inputs.

use pratique::Objects;
use pratique::api_objects::ApiObjects;
use pratique::cluster::{Cluster as _, ParamScope};
use pratique_json::{Object, Value};
use pratique_suite::request::cluster::{is_namespace, with_name_label};
use pratique_suite::request::{defined, kind_of};
use pratique_types::GroupVersionKind;
use pratique_types::builtin::ServedResource;

use super::chain::PluginState;
use crate::input::InputObject;
use crate::output;
use crate::output::text::text;
use crate::snapshot::LoadedState;

/// Kinds whose objects among the inputs are state of the cluster.
const OF_CLUSTER: [&str; 2] = ["Namespace", "CustomResourceDefinition"];

/// The same, with the kinds that plugins look up which decide by what an object is.
pub(super) const OF_CLUSTER_TO_PLUGINS: [&str; 3] = [OF_CLUSTER[0], OF_CLUSTER[1], "LimitRange"];

/// The state of the cluster when an object is reviewed.
#[derive(Clone)]
pub(super) struct ClusterState {
    pub(super) objects: Objects,
    pub(super) defined: Vec<ServedResource>,
    /// The kinds whose objects are completed; `None` where objects stay as they are.
    pub(super) api_objects: Option<ApiObjects>,
    has_namespaces: bool,
    /// The state that plugins see, if there are any.
    plugins: Option<PluginState>,
    /// The kinds whose objects among the inputs are state of the cluster, wherever they stand.
    pub(super) surveyed: &'static [&'static str],
}

impl ClusterState {
    /// The namespaces and definitions of the loaded state and of other objects of the state, and what is left for [`fill`](Self::fill).
    /// Namespaces and definitions among the objects to compare with count unless the state has others.
    pub(super) fn new(
        loaded: &LoadedState,
        state: Vec<InputObject<'static>>,
        before: &[InputObject<'static>],
        api_objects: Option<ApiObjects>,
        plugins: Option<PluginState>,
    ) -> (Self, Vec<Value<'static>>) {
        let mut cluster = ClusterState {
            objects: Objects::new(),
            defined: Vec::new(),
            api_objects,
            has_namespaces: false,
            plugins,
            surveyed: &OF_CLUSTER,
        };
        let state = state.into_iter().map(|input| input.object);
        let (found, others) = state.partition(is_of_cluster);
        let of_snapshot = loaded.objects().filter(|object| is_of_cluster(object));
        cluster.add(of_snapshot.cloned().collect());
        cluster.add(of_cluster(before.iter().cloned(), &OF_CLUSTER));
        cluster.add(found);
        for served in loaded.served() {
            cluster.objects.serve_found(&served);
            if served.subresource.is_empty() {
                cluster.defined.push(served);
            }
        }
        (cluster, others)
    }

    /// Adds the objects of an input that are state of the cluster.
    pub(super) fn add(&mut self, found: Vec<Value<'static>>) {
        self.defined.extend(defined(&found));
        self.has_namespaces |= found.iter().any(is_namespace);
        for object in found {
            if let Some(objects) = &mut self.api_objects {
                define(objects, &object);
            }
            let object = with_name_label(object);
            if let Some(plugins) = &mut self.plugins {
                plugins.add(&object);
            }
            // What has no name is no object of a cluster.
            drop(self.objects.insert(object));
        }
    }

    /// The state that plugins see, if there are any.
    pub(super) fn plugins(&self) -> Option<&PluginState> {
        self.plugins.as_ref()
    }

    /// Takes the state that plugins see, if there are any; they do not see further additions.
    pub(super) fn take_plugins(&mut self) -> Option<PluginState> {
        self.plugins.take()
    }

    /// Places objects as the cluster stores them: namespaced ones without a namespace are in `namespace`.
    pub(super) fn placed(&self, others: Vec<Value<'static>>, namespace: &str) -> Vec<Value<'static>> {
        let others = others.into_iter();
        others
            .map(|object| in_namespace(object, &self.objects, namespace))
            .collect()
    }

    /// Adds the loaded state, and the other objects of the state. Unless that is complete, other namespaces and params may exist,
    /// except for kinds of which all objects are known.
    pub(super) fn fill(&mut self, loaded: &LoadedState, placed: Vec<Value<'static>>, complete: bool) {
        let complete_kinds = loaded.complete_kinds();
        if let Some(plugins) = &mut self.plugins {
            let of_snapshot = loaded.objects().filter(|object| !is_of_cluster(object));
            of_snapshot.chain(&placed).for_each(|object| plugins.add(object));
            if complete {
                plugins.complete(self.has_namespaces);
            }
            complete_kinds.iter().for_each(|kind| plugins.complete_kind(kind));
        }
        let of_snapshot = loaded.objects().filter(|object| !is_of_cluster(object));
        for object in of_snapshot.cloned().chain(placed) {
            // What has no name is no object of a cluster.
            drop(self.objects.insert(object));
        }
        let has_all_namespaces = complete_kinds.contains(&GroupVersionKind::new("", "v1", "Namespace"));
        if !has_all_namespaces && (!complete || !self.has_namespaces) {
            self.objects.assume_namespaces();
        }
        if !complete {
            self.objects.assume_params();
        }
        for kind in complete_kinds {
            self.objects.complete_params(kind);
        }
    }
}

/// Adds the custom resources of a definition; warns if it cannot be used.
fn define(objects: &mut ApiObjects, definition: &Value<'static>) {
    let is_definition = kind_of(definition).is_ok_and(|kind| {
        (kind.group.as_str(), kind.version.as_str(), kind.kind.as_str())
            == ("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
    });
    if !is_definition {
        return;
    }
    if let Err(error) = objects.define(definition) {
        let consequence = "its objects are neither defaulted nor validated";
        output::eprint(&output::warning(&text!("{}: {}", consequence, error)));
    }
}

fn is_of_cluster(object: &Value<'_>) -> bool {
    let kind = object.get("kind").and_then(Value::as_str);
    is_namespace(object) || kind == Some("CustomResourceDefinition")
}

/// The objects of some kinds among others that a server can decode.
pub(super) fn of_cluster<'t>(
    inputs: impl IntoIterator<Item = InputObject<'t>>,
    kinds: &[&str],
) -> Vec<Value<'static>> {
    let is_wanted = |object: &Value<'_>| match object.get("kind").and_then(Value::as_str) {
        Some("Namespace") => is_namespace(object),
        kind => kind.is_some_and(|kind| kinds.contains(&kind)),
    };
    inputs
        .into_iter()
        .filter(|input| input.received.is_ok() && is_wanted(&input.object))
        .map(|input| input.object.into_owned())
        .collect()
}

/// An object with its namespace, if it is of a namespaced kind.
fn in_namespace(object: Value<'static>, defined: &Objects, namespace: &str) -> Value<'static> {
    let named = object.at(&["metadata", "namespace"]).and_then(Value::as_str);
    let is_namespaced = || {
        let kind = kind_of(&object).ok();
        kind.and_then(|kind| defined.param_scope(&kind)) == Some(ParamScope::Namespaced)
    };
    let lacks_namespace = named.unwrap_or_default().is_empty() && is_namespaced();
    let mut object = object;
    if lacks_namespace && let Value::Object(members) = &mut object {
        if !matches!(members.get("metadata"), Some(Value::Object(_))) {
            members.insert("metadata", Object::new());
        }
        if let Some(Value::Object(metadata)) = members.get_mut("metadata") {
            metadata.insert("namespace", namespace.to_owned());
        }
    }
    object
}
