//! The state of the cluster: its objects, and namespaces and definitions among the inputs.

use std::sync::Arc;

use pratique::Objects;
use pratique::api_objects::ApiObjects;
use pratique::cluster::{Cluster as _, ParamScope};
use pratique_json::{Object, Value};
use pratique_manifest::Location;
use pratique_request::{Source, is_definition_of_any_version, kind_of};
use pratique_schema::{FeatureGates, Release};
use pratique_state::cluster::{is_namespace, with_name_label};
use pratique_state::{ClusterObjects, ObjectOrigin, PluginState, every_cluster};
use pratique_types::GroupVersionKind;

use crate::evaluation::definitions::UnusableDefinitions;
use crate::evaluation::namespace_changes::NamespaceChanges;
use crate::input::{FileSelection, InputObject};
use crate::output::notice::InputNotice;
use crate::output::problems;
use crate::snapshot::LoadedState;

/// Kinds whose objects among the inputs are state of the cluster.
const OF_CLUSTER: [&str; 2] = ["Namespace", "CustomResourceDefinition"];

/// The same, with the kinds that plugins look up which decide by what an object is.
pub(crate) const OF_CLUSTER_TO_PLUGINS: [&str; 3] = [OF_CLUSTER[0], OF_CLUSTER[1], "LimitRange"];

/// The same, with the kinds that plugins look up for Pods: a controller whose Pod is refused tries again, and finds what the
/// inputs have after its workload.
const OF_CLUSTER_TO_CONTROLLERS: [&str; 7] = [
    OF_CLUSTER[0],
    OF_CLUSTER[1],
    "LimitRange",
    "PriorityClass",
    "ResourceQuota",
    "RuntimeClass",
    "ServiceAccount",
];

/// The state of the cluster when an object is reviewed.
#[derive(Clone)]
pub(crate) struct ClusterState {
    /// Its objects, the resources that it serves, and the kinds of its definitions.
    pub(crate) view: ClusterObjects,
    /// Whether objects are completed.
    completes: bool,
    /// Definitions that define nothing.
    pub(crate) unusable: UnusableDefinitions,
    has_namespaces: bool,
    /// Whether the objects that are given are all that the cluster has.
    is_complete: bool,
    /// How the inputs change namespaces that were known before.
    pub(crate) changes: NamespaceChanges,
    /// The state that plugins see, if there are any.
    plugins: Option<PluginState>,
    /// Where requests are carried out one after another, what the inputs have.
    in_order: Option<InputState>,
    /// The kinds whose objects among the inputs are state of the cluster, wherever they stand.
    pub(crate) surveyed: &'static [&'static str],
}

/// What the inputs have, where each of their objects counts for plugins from its place on.
#[derive(Clone, Default)]
struct InputState {
    namespaces: Vec<Value<'static>>,
    /// What controllers find when they try again.
    for_controllers: Vec<Value<'static>>,
}

impl ClusterState {
    /// The namespaces and definitions of the loaded state and of other objects of the state, and what is left for [`fill`](Self::fill).
    /// Namespaces and definitions among the objects to compare with count unless the state has others.
    pub(crate) fn new(
        loaded: &LoadedState,
        state: Vec<InputObject<'static>>,
        old_inputs: &[InputObject<'static>],
        api_objects: Option<ApiObjects>,
        plugins: Option<PluginState>,
        release: &'static Release,
        files: &FileSelection,
    ) -> (Self, Vec<Value<'static>>) {
        let mut cluster = ClusterState {
            completes: api_objects.is_some(),
            view: ClusterObjects::new(FeatureGates::new(release)),
            unusable: UnusableDefinitions::told_to(files),
            has_namespaces: false,
            is_complete: false,
            changes: NamespaceChanges::default(),
            plugins,
            in_order: None,
            surveyed: &OF_CLUSTER,
        };
        if let Some(api_objects) = api_objects {
            cluster.view.kinds = api_objects;
        }
        let (cluster_inputs, others): (Vec<_>, Vec<_>) =
            state.into_iter().partition(|input| is_of_cluster(&input.object));
        let of_snapshot = loaded.objects().filter(|object| is_of_cluster(object));
        let mut known: Vec<StateObject> = of_snapshot.cloned().map(StateObject::Stored).collect();
        let old_cluster_inputs = inputs_of_cluster(old_inputs.iter().cloned(), &OF_CLUSTER);
        known.extend(
            old_cluster_inputs
                .into_iter()
                .chain(cluster_inputs)
                .map(StateObject::given),
        );
        let namespaces = known
            .iter()
            .map(StateObject::object)
            .filter(|object| is_namespace(object));
        let namespaces: Vec<_> = namespaces.cloned().map(with_name_label).collect();
        cluster.changes = NamespaceChanges::of_known(namespaces.iter());
        cluster.add(known);
        for served in loaded.served() {
            cluster.view.objects.serve_found(&served);
        }
        loaded.resolve(&mut cluster.view.resolver);
        let others = others.into_iter().map(|input| input.object);
        (cluster, others.collect())
    }

    /// Says that the objects that are given, with those that every cluster has, are all that the cluster has. Before the inputs are
    /// added, which may change its namespaces.
    pub(crate) fn complete(&mut self) {
        self.is_complete = true;
        self.changes.know(every_cluster::namespaces());
    }

    /// Adds the objects of an input that are state of the cluster. A namespace that was known before is changed at its place.
    /// Gives notices about that.
    pub(crate) fn add_inputs(&mut self, inputs: Vec<InputObject<'static>>) -> Vec<InputNotice> {
        let (known, others): (Vec<_>, Vec<_>) = inputs
            .into_iter()
            .partition(|input| is_namespace(&input.object) && self.changes.is_known(&input.object));
        let known = known.into_iter().filter_map(|input| {
            let namespace = with_name_label(input.object);
            self.changes.add(namespace, &input.location)
        });
        let notices = known.collect();
        let (of_cluster, for_controllers): (Vec<_>, Vec<_>) = others
            .into_iter()
            .partition(|input| self.in_order.is_none() || is_of_cluster(&input.object));
        if let Some(in_order) = &mut self.in_order {
            let for_controllers = for_controllers.into_iter().map(|input| input.object);
            in_order.for_controllers.extend(for_controllers);
        }
        self.add(of_cluster.into_iter().map(StateObject::given));
        notices
    }

    /// Lets the objects of the inputs count for plugins in their order, but for Pods of controllers, which try again.
    pub(crate) fn keep_order(&mut self, with_controllers: bool) {
        self.in_order = Some(InputState::default());
        if with_controllers {
            self.surveyed = &OF_CLUSTER_TO_CONTROLLERS;
        }
    }

    /// Takes what controllers find when they try again; namespaced objects without a namespace are in `namespace`.
    pub(crate) fn take_for_controllers(&mut self, namespace: &str) -> Vec<Value<'static>> {
        let in_order = self.in_order.as_mut().map(std::mem::take);
        self.placed(in_order.unwrap_or_default().for_controllers, namespace)
    }

    /// What is known at a place of the inputs, for an object in a namespace.
    pub(crate) fn at(&self, location: &Location, namespace: &str) -> Option<Arc<ClusterState>> {
        self.changes.state_at(self, location, namespace)
    }

    /// Adds objects that are state of the cluster. A definition that a server refuses defines nothing, which is told.
    pub(crate) fn add(&mut self, additions: impl IntoIterator<Item = StateObject>) {
        let mut additions = additions.into_iter().peekable();
        if additions.peek().is_some() {
            self.changes.forget_states();
        }
        for given in additions {
            if !self.define(&given) {
                continue;
            }
            let object = with_name_label(given.into_object());
            let is_namespace = is_namespace(&object);
            self.has_namespaces |= is_namespace;
            match (&mut self.in_order, &mut self.plugins) {
                (Some(in_order), Some(_)) if is_namespace => in_order.namespaces.push(object.clone()),
                (_, Some(plugins)) => plugins.add(&object),
                (_, None) => {}
            }
            self.view.store(object);
        }
    }

    /// Adds the custom resources of a definition; `false` if it defines nothing.
    fn define(&mut self, given: &StateObject) -> bool {
        let (object, place, origin) = match given {
            StateObject::Stored(object) => (object, None, ObjectOrigin::Stored),
            StateObject::Given { object, place } => (object, Some(place.as_str()), ObjectOrigin::Given),
        };
        let defined = self.view.define(object, origin);
        if let Err(error) = &defined {
            self.unusable.report(object, place, &error.to_string());
        }
        defined.is_ok()
    }

    /// The kinds whose objects are completed; `None` where objects stay as they are.
    pub(crate) fn api_objects(&self) -> Option<&ApiObjects> {
        self.completes.then_some(&self.view.kinds)
    }

    /// The same of a server of another release, or with other feature gates.
    pub(crate) fn with_gates(self, gates: FeatureGates) -> Self {
        let mut state = ClusterState {
            view: self.view.with_gates(gates),
            ..self
        };
        state.changes.forget_states();
        state
    }

    /// The release of the server.
    pub(crate) fn release(&self) -> &'static Release {
        self.view.kinds.gates().release()
    }

    /// The state that plugins see, if there are any.
    pub(crate) fn plugins(&self) -> Option<&PluginState> {
        self.plugins.as_ref()
    }

    /// Takes the state that plugins see, if there are any; they do not see further additions.
    pub(crate) fn take_plugins(&mut self) -> Option<PluginState> {
        self.plugins.take()
    }

    /// Places objects as the cluster stores them: namespaced ones without a namespace are in `namespace`.
    pub(crate) fn placed(&self, others: Vec<Value<'static>>, namespace: &str) -> Vec<Value<'static>> {
        let others = others.into_iter();
        others
            .map(|object| in_namespace(object, &self.view.objects, namespace))
            .collect()
    }

    /// Adds the loaded state, and the other objects of the state. Unless these are [all](Self::complete), other namespaces and
    /// params may exist, except for kinds of which all objects are known.
    pub(crate) fn fill(&mut self, loaded: &LoadedState, placed: Vec<Value<'static>>) {
        let complete = self.is_complete;
        let complete_kinds = loaded.complete_kinds();
        if let Some(plugins) = &mut self.plugins {
            let of_snapshot = loaded.objects().filter(|object| !is_of_cluster(object));
            of_snapshot.chain(&placed).for_each(|object| plugins.add(object));
            let has_all_namespaces = complete && self.has_namespaces;
            // A server refuses what comes before its namespace. Where there may be others, an input says what its namespace is.
            if let (Some(in_order), false) = (&self.in_order, has_all_namespaces) {
                in_order.namespaces.iter().for_each(|object| plugins.add(object));
            }
            if complete {
                plugins.complete(self.has_namespaces);
            }
            complete_kinds.iter().for_each(|kind| plugins.complete_kind(kind));
            let said_complete = loaded.said_complete.iter();
            said_complete.for_each(|kind| plugins.complete_given(kind));
        }
        let of_snapshot = loaded.objects().filter(|object| !is_of_cluster(object));
        for object in of_snapshot.cloned().chain(placed) {
            self.view.store(object);
        }
        if complete {
            self.view.add_every_cluster();
        }
        let has_all_namespaces = complete_kinds.contains(&GroupVersionKind::new("", "v1", "Namespace"));
        if !has_all_namespaces && (!complete || !self.has_namespaces) {
            self.view.objects.assume_namespaces();
        }
        if complete {
            self.view.resolver.complete(Source::Objects, []);
        } else {
            self.view.objects.assume_params();
        }
        for kind in complete_kinds {
            self.view.objects.complete_params(kind);
        }
    }
}

/// An object that is state of the cluster.
#[derive(Clone)]
pub(crate) enum StateObject {
    /// A server has stored it.
    Stored(Value<'static>),
    /// It is in an input.
    Given {
        object: Value<'static>,
        /// `file:line:column`
        place: String,
    },
}

impl StateObject {
    pub(crate) fn given(input: InputObject<'_>) -> Self {
        StateObject::Given {
            place: problems::place(&input.location),
            object: input.object.into_owned(),
        }
    }

    fn object(&self) -> &Value<'static> {
        match self {
            StateObject::Stored(object) | StateObject::Given { object, .. } => object,
        }
    }

    fn into_object(self) -> Value<'static> {
        match self {
            StateObject::Stored(object) | StateObject::Given { object, .. } => object,
        }
    }
}

fn is_of_cluster(object: &Value<'_>) -> bool {
    is_namespace(object) || is_definition_of_any_version(object)
}

/// The objects of some kinds among others that a server can decode.
pub(crate) fn inputs_of_cluster<'t>(
    inputs: impl IntoIterator<Item = InputObject<'t>>,
    kinds: &[&str],
) -> Vec<InputObject<'static>> {
    let is_wanted = |object: &Value<'_>| match object.get("kind").and_then(Value::as_str) {
        Some("Namespace") => is_namespace(object),
        kind => kind.is_some_and(|kind| kinds.contains(&kind)),
    };
    inputs
        .into_iter()
        .filter(|input| input.received.is_ok() && is_wanted(&input.object))
        .map(|input| InputObject {
            object: input.object.into_owned(),
            ..input
        })
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
