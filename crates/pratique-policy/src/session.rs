//! What one request needs while it is judged, made when it is first asked for.

use std::cell::RefCell;
use std::sync::atomic::AtomicBool;

use pratique_cel::{Activation, Arena, Value, value::Struct};
use pratique_expression::slots;
use pratique_json as json;
use pratique_match::Matched;
use pratique_types::{AdmissionRequest, GroupVersionKind, GroupVersionResource};

use crate::cluster::Cluster;
use crate::request;
use crate::variables::Variables;

/// What a verdict depends on besides the request and the policies.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    pub(crate) cluster: &'a dyn Cluster,
    pub(crate) interrupt: Option<&'a AtomicBool>,
}

impl<'a> Surroundings<'a> {
    /// Judges with this view of the cluster.
    pub fn new(cluster: &'a dyn Cluster) -> Self {
        Surroundings {
            cluster,
            interrupt: None,
        }
    }

    /// Stops soon after `flag` is set.
    pub fn with_interrupt(self, flag: &'a AtomicBool) -> Self {
        Surroundings {
            interrupt: Some(flag),
            ..self
        }
    }
}

/// Memory for a request; outlives its [`Session`].
#[derive(Default)]
pub(crate) struct Store<'s> {
    arena: Arena,
    values: typed_arena::Arena<json::Value<'s>>,
    variables: typed_arena::Arena<Variables<'s>>,
}

/// A request while it is judged.
pub(crate) struct Session<'s> {
    pub(crate) request: &'s AdmissionRequest<'s>,
    /// The object's name: the request's, or where the server is to generate it that of the object.
    pub(crate) name: &'s str,
    pub(crate) surroundings: Surroundings<'s>,
    store: &'s Store<'s>,
    requests: RefCell<Vec<Made<'s>>>,
}

/// The variable `request` as it was matched.
struct Made<'s> {
    resource: &'s GroupVersionResource,
    kind: &'s GroupVersionKind,
    value: Value<'s>,
}

/// The variables that are there in all of a policy's expressions, and those that differ.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'s> {
    /// What the policy matched.
    pub(crate) matched: Matched<'s>,
    /// `params`
    pub(crate) params: Value<'s>,
    /// `namespaceObject`
    pub(crate) namespace: Value<'s>,
    /// Whether there is an `authorizer`.
    pub(crate) authorizer: bool,
}

impl<'s> Session<'s> {
    pub(crate) fn new(
        request: &'s AdmissionRequest<'s>,
        surroundings: Surroundings<'s>,
        store: &'s Store<'s>,
    ) -> Self {
        let given = request
            .object
            .at(&["metadata", "name"])
            .and_then(json::Value::as_str);
        let name = match request.name.as_str() {
            "" => given.unwrap_or_default(),
            name => name,
        };
        Session {
            request,
            name,
            surroundings,
            store,
            requests: RefCell::default(),
        }
    }

    pub(crate) fn arena(&self) -> &'s Arena {
        &self.store.arena
    }

    /// Keeps a JSON value until the end of the request.
    pub(crate) fn keep(&self, value: json::Value<'s>) -> &'s json::Value<'s> {
        self.store.values.alloc(value)
    }

    /// Keeps the variables of a policy until the end of the request.
    pub(crate) fn keep_variables(&self, variables: Variables<'s>) -> &'s Variables<'s> {
        self.store.variables.alloc(variables)
    }

    /// The variables of an evaluation, but for `variables`.
    pub(crate) fn activation(&self, inputs: &Inputs<'s>) -> Activation<'s> {
        let slots = slots();
        let mut activation = slots.activation();
        activation.set(slots.object, Value::from_json(&self.request.object));
        activation.set(slots.old_object, Value::from_json(&self.request.old_object));
        activation.set(slots.request, self.request_value(&inputs.matched));
        activation.set(slots.params, inputs.params);
        activation.set(slots.namespace_object, inputs.namespace);
        let _ = inputs.authorizer;
        activation
    }

    /// `variables` for an activation.
    pub(crate) fn with_variables(&self, activation: &mut Activation<'s>, variables: &'s dyn Struct) {
        activation.set(slots().variables, Value::Struct(variables));
    }

    fn request_value(&self, matched: &Matched<'s>) -> Value<'s> {
        let mut made = self.requests.borrow_mut();
        let known = made
            .iter()
            .find(|made| made.resource == matched.resource && made.kind == matched.kind);
        if let Some(known) = known {
            return known.value;
        }
        let value = request::value(self.request, self.name, matched.resource, matched.kind);
        let value = Value::from_json(self.keep(value));
        made.push(Made {
            resource: matched.resource,
            kind: matched.kind,
            value,
        });
        value
    }
}
