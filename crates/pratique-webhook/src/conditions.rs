//! Match conditions of webhooks.

use pratique_cel::{Activation, Arena, Context, Program, Value};
use pratique_core::{
    Attributes, ConditionsOutcome, EvaluationHalt, UnfinishedEvaluation, compilation_error,
    evaluate_conditions, evaluation_error, typed_value,
};
use pratique_expression::{Authorizers, UNKNOWN_OBJECT, partly_known_request, request_value, slots};
use pratique_schema::Release;
use pratique_types::cel_limits::{MATCH_CONDITIONS_BUDGET, PER_CALL_LIMIT};

use crate::context::WebhookContext;
use crate::version::VersionedObjects;
use crate::webhook::{CompiledCondition, CompiledWebhook};

/// The request that match conditions are evaluated on.
#[derive(Clone, Copy)]
pub(crate) struct ConditionInputs<'i> {
    pub(crate) attributes: Attributes<'i>,
    /// The name of the object, as far as it is known.
    pub(crate) name: &'i str,
    /// The objects in the kind that the webhook's rules name.
    pub(crate) objects: &'i VersionedObjects<'i>,
    /// Whether the objects have a type of their own.
    pub(crate) typed: bool,
}

/// Evaluates the match conditions of a webhook.
///
/// `namespaceObject` is null here, and `request.resource` is that of the request even where the webhook matched an
/// equivalent.
// Upstream: pkg/admission/plugin/webhook/matchconditions/matcher.go, Match
pub(crate) fn evaluate(
    webhook: &CompiledWebhook,
    inputs: &ConditionInputs<'_>,
    context: &WebhookContext<'_>,
) -> Result<ConditionsOutcome, UnfinishedEvaluation> {
    let arena = Arena::within(&context.memory);
    let request = inputs.attributes.request;
    let value = request_value(request, inputs.name, &request.resource, &inputs.objects.kind);
    let known = partly_known_request(request, &value);
    let mut evaluator = ConditionEvaluator {
        arena: &arena,
        activation: activation(inputs, context.release),
        request: match &known {
            Some(known) => Value::Struct(known),
            None => typed_value(context.release, &value),
        },
        inputs: *inputs,
        context,
        budget: MATCH_CONDITIONS_BUDGET,
    };
    let results = webhook.conditions.iter().map(|condition| {
        let result = evaluator.evaluate(condition)?;
        Ok::<_, EvaluationHalt>(result.map(|value| !matches!(value, Value::Bool(false))))
    });
    evaluate_conditions(results, webhook.failure_policy.on_condition_error())
}

struct ConditionEvaluator<'e> {
    arena: &'e Arena,
    activation: Activation<'e>,
    /// The variable `request`.
    request: Value<'e>,
    inputs: ConditionInputs<'e>,
    context: &'e WebhookContext<'e>,
    budget: u64,
}

impl<'e> ConditionEvaluator<'e> {
    fn evaluate(
        &mut self,
        compiled: &'e CompiledCondition,
    ) -> Result<Result<Value<'e>, String>, EvaluationHalt> {
        let expression = match compiled {
            Ok(expression) => expression,
            Err(error) => return Ok(Err(compilation_error(error))),
        };
        self.supply(expression.program());
        let context = Context::new(self.arena, PER_CALL_LIMIT).with_interrupt(&self.context.interrupt);
        let evaluation = expression.program().evaluate(&context, &self.activation);
        let namespace = &self.inputs.attributes.request.namespace;
        let fault = evaluation.as_ref().err();
        if let Some(halt) = fault.and_then(|fault| EvaluationHalt::from_fault(fault, namespace)) {
            return Err(halt);
        }
        let left = self.budget.checked_sub(context.cost());
        self.budget = left.ok_or(EvaluationHalt::OutOfBudget)?;
        Ok(evaluation.map_err(|fault| evaluation_error(expression, &fault)))
    }

    /// Adds the variables to the activation that are made once a program reads them.
    fn supply(&mut self, program: &Program) {
        let slots = slots();
        if program.reads(slots.request) {
            self.activation.set(slots.request, self.request);
        }
        let missing = self.activation.get(slots.authorizer).is_none();
        if missing && (program.reads(slots.authorizer) || program.reads(slots.request_resource)) {
            let request = self.inputs.attributes.request;
            let made = Authorizers::new(self.arena, request, self.inputs.name, &self.context.authorizer);
            self.activation.set(slots.authorizer, made.authorizer);
            self.activation.set(slots.request_resource, made.request_resource);
        }
    }
}

fn activation<'i>(inputs: &ConditionInputs<'i>, release: &Release) -> Activation<'i> {
    let slots = slots();
    let value = |object| {
        if inputs.typed {
            typed_value(release, object)
        } else {
            Value::from_json(object)
        }
    };
    let mut activation = slots.activation();
    activation.set(slots.object, value(inputs.objects.object.get()));
    let old_object = if inputs.attributes.request.lacks_old_object {
        Value::Struct(&UNKNOWN_OBJECT)
    } else {
        value(inputs.objects.old_object.get())
    };
    activation.set(slots.old_object, old_object);
    activation.set(slots.namespace_object, Value::Null);
    activation
}
