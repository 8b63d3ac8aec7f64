//! Match conditions.

use pratique_cel::{Activation, Arena, Context, FaultKind, Stop, Value};
use pratique_expression::{Authorizers, Missing, request_value, slots};
use pratique_json as json;
use pratique_types::{AdmissionRequest, GroupVersionKind};

use crate::outcome::Unanswered;
use crate::surroundings::Surroundings;
use crate::webhook::{FailurePolicy, Webhook};

/// What the conditions of a webhook are evaluated on.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'i> {
    pub(crate) request: &'i AdmissionRequest<'i>,
    /// The name of the object, as far as it is known.
    pub(crate) name: &'i str,
    /// The kind that the webhook asked for; the objects are in it.
    pub(crate) kind: &'i GroupVersionKind,
    pub(crate) object: &'i json::Value<'i>,
    pub(crate) old_object: &'i json::Value<'i>,
    /// Whether the objects have a type of their own.
    pub(crate) typed: bool,
}

/// What conditions say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Applies {
    /// Whether the webhook is to be called.
    pub(crate) answer: Result<bool, NotKnown>,
    /// How many conditions failed before one was false.
    pub(crate) errors: usize,
}

impl Applies {
    /// The error with which the request is refused.
    pub(crate) fn failure(&self) -> Option<&str> {
        match &self.answer {
            Err(NotKnown::Error(error)) => Some(error),
            _ => None,
        }
    }
}

/// Why it is not known whether a webhook is to be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NotKnown {
    /// An error, with which the request is refused.
    Error(String),
    /// It depends on what was not given.
    Undecided(Box<Missing>),
}

/// What one evaluation may cost.
const CALL_LIMIT: u64 = 1_000_000;

/// What the conditions of a webhook may cost together.
const BUDGET: u64 = 2_500_000;

const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// Whether a webhook with match conditions is to be called.
///
/// One condition that is false beats any errors, and what others depend on that was not given. There is no `namespaceObject`, and `request.resource` is that of the
/// request even where the webhook matched an equivalent.
pub(crate) fn apply(
    webhook: &Webhook,
    inputs: &Inputs<'_>,
    surroundings: &Surroundings<'_>,
) -> Result<Applies, Unanswered> {
    let (arena, store) = (Arena::within(&surroundings.memory), request_of(inputs));
    let mut evaluator = Evaluator {
        arena: &arena,
        activation: activation(inputs),
        request: &store,
        inputs: *inputs,
        surroundings,
        budget: BUDGET,
    };
    let mut errors: Vec<String> = Vec::new();
    let mut failed = false;
    let mut pending = false;
    let mut undecided = None;
    let (mut faults, mut faults_at_first_false) = (0, None);
    // The budget counts for all, so all are evaluated even after a false one.
    for condition in &webhook.conditions {
        match evaluator.evaluate(condition) {
            Ok(Ok(Value::Bool(false))) => {
                failed = true;
                faults_at_first_false.get_or_insert(faults);
            }
            Ok(Ok(_)) => {}
            Ok(Err(error)) => {
                faults += 1;
                if !errors.contains(&error) {
                    errors.push(error);
                }
            }
            Err(Halt::Pending) => pending = true,
            Err(Halt::Stopped(stopped)) => return Err(stopped),
            Err(Halt::Undecided(missing)) => undecided = undecided.or(Some(missing)),
            Err(Halt::OutOfBudget) if pending => break,
            Err(Halt::OutOfBudget) => {
                let answer = match webhook.failure_policy {
                    FailurePolicy::Fail => Err(NotKnown::Error(OUT_OF_BUDGET.to_owned())),
                    FailurePolicy::Ignore => Ok(false),
                    FailurePolicy::Unknown => Ok(true),
                };
                return Ok(Applies { answer, errors: 0 });
            }
        }
    }
    if pending {
        return Err(Unanswered::Pending);
    }
    let answer = match (errors.as_slice(), webhook.failure_policy, undecided) {
        _ if failed => Ok(false),
        ([_, ..], FailurePolicy::Ignore, _) => Ok(false),
        (_, _, Some(missing)) => Err(NotKnown::Undecided(missing)),
        ([], ..) | (_, FailurePolicy::Unknown, _) => Ok(true),
        ([error], ..) => Err(NotKnown::Error(error.clone())),
        (errors, ..) => Err(NotKnown::Error(format!("[{}]", errors.join(", ")))),
    };
    Ok(Applies {
        answer,
        errors: faults_at_first_false.unwrap_or(faults),
    })
}

/// Why there is no value.
enum Halt {
    Pending,
    Stopped(Unanswered),
    OutOfBudget,
    Undecided(Box<Missing>),
}

struct Evaluator<'e> {
    arena: &'e Arena,
    activation: Activation<'e>,
    request: &'e json::Value<'e>,
    inputs: Inputs<'e>,
    surroundings: &'e Surroundings<'e>,
    budget: u64,
}

impl<'e> Evaluator<'e> {
    fn evaluate(
        &mut self,
        compiled: &'e crate::webhook::Compiled,
    ) -> Result<Result<Value<'e>, String>, Halt> {
        let expression = match compiled {
            Ok(expression) => expression,
            Err(error) => return Ok(Err(format!("compilation error: {error}"))),
        };
        self.supply(expression.program());
        let context = Context::new(self.arena, CALL_LIMIT).with_interrupt(&self.surroundings.interrupt);
        let evaluation = expression.program().evaluate(&context, &self.activation);
        match evaluation.as_ref().map_err(|fault| fault.kind()) {
            Err(FaultKind::Stopped(Stop::Pending)) => return Err(Halt::Pending),
            Err(FaultKind::Stopped(Stop::Interrupted)) => return Err(Halt::Stopped(Unanswered::Interrupted)),
            Err(FaultKind::Stopped(Stop::MemoryLimit)) => return Err(Halt::Stopped(Unanswered::MemoryLimit)),
            Err(FaultKind::Stopped(Stop::MemoryBudget)) => {
                return Err(Halt::Stopped(Unanswered::MemoryBudget));
            }
            Err(FaultKind::Unknown(unknown)) => {
                let missing = Missing::of(unknown, &self.inputs.request.namespace);
                return Err(Halt::Undecided(Box::new(missing)));
            }
            _ => {}
        }
        let left = self.budget.checked_sub(context.cost());
        self.budget = left.ok_or(Halt::OutOfBudget)?;
        let text = expression.text();
        Ok(evaluation.map_err(|fault| format!("expression '{text}' resulted in error: {fault}")))
    }

    /// Adds the variables that have to be made to the activation, once a program reads them.
    fn supply(&mut self, program: &pratique_cel::Program) {
        let slots = slots();
        if program.reads(slots.request) {
            self.activation
                .set(slots.request, Value::from_typed_json(self.request));
        }
        let missing = self.activation.get(slots.authorizer).is_none();
        if missing && (program.reads(slots.authorizer) || program.reads(slots.request_resource)) {
            let host = &self.surroundings.authorizer;
            let made = Authorizers::new(self.arena, self.inputs.request, self.inputs.name, host);
            self.activation.set(slots.authorizer, made.authorizer);
            self.activation.set(slots.request_resource, made.request_resource);
        }
    }
}

fn request_of<'i>(inputs: &Inputs<'i>) -> json::Value<'i> {
    request_value(inputs.request, inputs.name, &inputs.request.resource, inputs.kind)
}

fn activation<'i>(inputs: &Inputs<'i>) -> Activation<'i> {
    let slots = slots();
    let seen = |object| match inputs.typed {
        true => Value::from_typed_json(object),
        false => Value::from_json(object),
    };
    let mut activation = slots.activation();
    activation.set(slots.object, seen(inputs.object));
    activation.set(slots.old_object, seen(inputs.old_object));
    activation.set(slots.namespace_object, Value::Null);
    activation
}
