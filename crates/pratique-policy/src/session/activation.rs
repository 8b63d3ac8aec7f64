//! Activations: the variables of expressions.

use pratique_cel::{Activation, Program, Value};
use pratique_core::typed_value;
use pratique_expression::{Authorizers, InputSet, partly_known_request, request_value, slots};
use pratique_match::MatchedResource;

use super::RequestSession;
use crate::compiled_expressions::NamedVariable;
use crate::inputs::{ExpressionInputs, InputKey};
use crate::variables::RoundVariables;

impl<'s> RequestSession<'s> {
    /// An activation of inputs without params, new or used before. It is to be [returned](Self::return_activation).
    pub(crate) fn take_activation(&self, inputs: &ExpressionInputs<'s>) -> Box<Activation<'s>> {
        let mut idle = self.idle_activations.borrow_mut();
        let wanted = (inputs.key, inputs.authorizer);
        match idle.iter().position(|(key, _)| *key == wanted) {
            Some(at) => idle.swap_remove(at).1,
            None => Box::new(self.activation(inputs)),
        }
    }

    /// Keeps an activation for other policies with the same inputs.
    pub(crate) fn return_activation(&self, inputs: &ExpressionInputs<'s>, activation: Box<Activation<'s>>) {
        let key = (inputs.key, inputs.authorizer);
        self.idle_activations.borrow_mut().push((key, activation));
    }

    /// An activation with the variables that are free to make.
    // Inlined, as it is large to move.
    #[inline]
    pub(crate) fn activation(&self, inputs: &ExpressionInputs<'s>) -> Activation<'s> {
        let mut activation = slots().activation();
        self.supply_objects(&mut activation, inputs);
        activation
    }

    /// Adds the objects and the params.
    pub(crate) fn supply_objects(&self, activation: &mut Activation<'s>, inputs: &ExpressionInputs<'s>) {
        let slots = slots();
        activation.set(slots.object, inputs.objects.object);
        activation.set(slots.old_object, inputs.objects.old_object);
        activation.set(slots.params, inputs.params);
    }

    /// Adds the other variables of those that a program reads, but for `variables`.
    pub(crate) fn supply(
        &self,
        activation: &mut Activation<'s>,
        inputs: &ExpressionInputs<'s>,
        program: &Program,
    ) {
        let slots = slots();
        let wants = |activation: &Activation<'s>, slot| program.reads(slot) && activation.get(slot).is_none();
        let set = InputSet {
            objects: true,
            request: wants(activation, slots.request),
            namespace: wants(activation, slots.namespace_object),
        };
        self.supply_inputs(activation, inputs, set);
        let wants_authorizer =
            wants(activation, slots.authorizer) || wants(activation, slots.request_resource);
        if wants_authorizer && inputs.authorizer {
            let made = self.authorizers.get_or_init(|| {
                Authorizers::new(self.arena(), self.request, self.name, &self.context.authorizer)
            });
            activation.set(slots.authorizer, made.authorizer);
            activation.set(slots.request_resource, made.request_resource);
        }
    }

    /// Adds the variables of the request that are seen.
    pub(crate) fn supply_inputs(
        &self,
        activation: &mut Activation<'s>,
        inputs: &ExpressionInputs<'s>,
        set: InputSet,
    ) {
        let slots = slots();
        if set.request {
            activation.set(slots.request, self.request_value(&inputs.matched));
        }
        if set.namespace {
            activation.set(slots.namespace_object, self.namespace(inputs.namespace));
        }
    }

    /// Adds `variables`, those of a policy, without values yet; the activation has the variables that they read.
    pub(crate) fn add_variables(
        &self,
        compiled: &'s [NamedVariable],
        activation: &mut Activation<'s>,
        inputs: InputKey,
    ) -> &'s RoundVariables<'s> {
        let variables = RoundVariables::new(compiled, inputs, self.scratch());
        let variables = self.arena.keep_variables(variables);
        variables.set_place(activation);
        activation.set(slots().variables, Value::Struct(variables));
        variables
    }

    fn request_value(&self, matched: &MatchedResource<'s>) -> Value<'s> {
        let mut requests = self.requests.borrow_mut();
        if let Some((_, value)) = requests.iter().find(|(of, _)| of == matched) {
            return *value;
        }
        let value = request_value(self.request, self.name, matched.resource, matched.kind);
        let value = self.arena.keep_small(value);
        self.typed_roots().add_request(value);
        let value = match partly_known_request(self.request, value) {
            Some(known) => Value::Struct(self.arena.keep_request(known)),
            None => typed_value(self.context.release, value),
        };
        requests.push((*matched, value));
        value
    }
}
