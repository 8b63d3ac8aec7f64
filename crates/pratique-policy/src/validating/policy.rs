//! The decision of one policy with one param.

use std::borrow::Cow;

use pratique_cel::Value;
use pratique_core::ConditionError;
use pratique_expression::MissingDependency;
use pratique_types::cel_limits::{RUNTIME_BUDGET, read_message};

use crate::compiled_expressions::{CompiledAnnotation, CompiledValidation};
use crate::conditions;
use crate::inputs::ExpressionInputs;
use crate::observer::ErrorType;
use crate::policies::RunnablePolicy;
use crate::round::{EvaluationHalt, EvaluationRound, ExpressionAnswer, OUT_OF_BUDGET};
use crate::session::RequestSession;
use crate::trace::ExpressionId;
use pratique_core::UnfinishedEvaluation;

/// The decision of a policy with one param.
#[derive(Debug, Default)]
pub(crate) struct PolicyDecision<'s> {
    /// How many match conditions failed; `None` for a policy without.
    pub(crate) condition_errors: Option<usize>,
    /// The error of match conditions that failed, and are ignored.
    pub(crate) ignored_conditions: Option<String>,
    /// One for each validation that is not simply true, by its index; or a single one without for an error that is about none
    /// of them.
    pub(crate) validations: Vec<(Option<usize>, ValidationDecision<'s>)>,
    pub(crate) annotations: Vec<AnnotationDecision<'s>>,
    /// The missing inputs.
    pub(crate) undecided: Vec<MissingInput>,
}

/// A missing input of a validation or an audit annotation.
#[derive(Debug)]
pub(crate) struct MissingInput {
    /// The index of the validation; `None` for an audit annotation.
    pub(crate) validation: Option<usize>,
    pub(crate) missing: MissingDependency,
}

/// The decision of a validation that is not true.
#[derive(Debug)]
pub(crate) enum ValidationDecision<'s> {
    /// It failed, and failures are ignored.
    Ignored { message: String, error: ErrorType },
    /// It is false, or failed.
    Deny {
        message: Cow<'s, str>,
        /// `None` unless it is false.
        reason: Option<&'s str>,
        error: ErrorType,
    },
}

/// The decision of an audit annotation.
#[derive(Debug)]
pub(crate) enum AnnotationDecision<'s> {
    Publish {
        key: &'s str,
        value: &'s str,
    },
    /// It failed, which denies.
    Error(String),
    /// That with this index failed, and failures are ignored.
    Ignored {
        index: usize,
        error: String,
    },
}

/// Evaluates a policy. `audited` gives the inputs of audit annotations, which few policies have.
pub(crate) fn evaluate<'s>(
    policy: &'s RunnablePolicy,
    session: &RequestSession<'s>,
    inputs: &ExpressionInputs<'s>,
    audited: impl FnOnce() -> ExpressionInputs<'s>,
) -> Result<PolicyDecision<'s>, UnfinishedEvaluation> {
    let outcome = conditions::evaluate(&policy.core, session, inputs)?;
    let condition_errors = outcome.as_ref().map(|outcome| outcome.errors);
    let (matches, ignored_conditions) = match outcome {
        Some(outcome) => (outcome.matches, outcome.ignored),
        None => (Ok(true), None),
    };
    let decision = match matches {
        Ok(true) => evaluate_matched(policy, session, inputs, audited)
            .or_else(|halt| PolicyDecision::halted(policy, halt))?,
        Ok(false) => PolicyDecision::default(),
        Err(ConditionError::Failed(message)) => PolicyDecision::failed(policy, message),
        Err(ConditionError::Undecided(missing)) => {
            return PolicyDecision::halted(policy, EvaluationHalt::Undecided(missing));
        }
    };
    Ok(PolicyDecision {
        condition_errors,
        ignored_conditions,
        ..decision
    })
}

/// Evaluates a policy whose match conditions hold.
fn evaluate_matched<'s>(
    policy: &'s RunnablePolicy,
    session: &RequestSession<'s>,
    inputs: &ExpressionInputs<'s>,
    audited: impl FnOnce() -> ExpressionInputs<'s>,
) -> Result<PolicyDecision<'s>, EvaluationHalt> {
    let mut undecided = Vec::new();
    let validations = validate(policy, session, inputs, &mut undecided)?;
    let annotations = annotate(policy, session, audited, &mut undecided)?;
    Ok(PolicyDecision {
        validations,
        annotations,
        undecided,
        ..PolicyDecision::default()
    })
}

impl PolicyDecision<'_> {
    /// The decision of a policy whose evaluation ended early.
    fn halted(policy: &RunnablePolicy, halt: EvaluationHalt) -> Result<Self, UnfinishedEvaluation> {
        match halt {
            EvaluationHalt::OutOfBudget => Ok(PolicyDecision::failed(policy, OUT_OF_BUDGET.to_owned())),
            EvaluationHalt::Undecided(missing) => Ok(PolicyDecision {
                undecided: vec![MissingInput {
                    validation: Some(0),
                    missing: *missing,
                }],
                ..PolicyDecision::default()
            }),
            EvaluationHalt::Unfinished(unfinished) => Err(unfinished),
        }
    }

    fn failed(policy: &RunnablePolicy, message: String) -> Self {
        PolicyDecision {
            validations: vec![(None, ValidationDecision::failed(policy, message))],
            ..PolicyDecision::default()
        }
    }
}

impl ValidationDecision<'_> {
    pub(crate) fn failed(policy: &RunnablePolicy, message: String) -> Self {
        let error = ErrorType::of_message(&message);
        if policy.core.failure_policy.ignores() {
            ValidationDecision::Ignored { message, error }
        } else {
            ValidationDecision::Deny {
                message: message.into(),
                reason: None,
                error,
            }
        }
    }
}

/// A validation that is not true, by its index.
type UnmetValidation<'s> = (usize, ExpressionAnswer<'s>);

fn validate<'s>(
    policy: &'s RunnablePolicy,
    session: &RequestSession<'s>,
    inputs: &ExpressionInputs<'s>,
    undecided: &mut Vec<MissingInput>,
) -> Result<Vec<(Option<usize>, ValidationDecision<'s>)>, EvaluationHalt> {
    let expressions = &policy.expressions;
    let mut round = EvaluationRound::new(session, &policy.core.variables, inputs, RUNTIME_BUDGET);
    let mut unmet: Vec<UnmetValidation<'s>> = Vec::new();
    let mut pending = None;
    for (index, validation) in expressions.validations.iter().enumerate() {
        match round.evaluate(ExpressionId::Validation(index), &validation.expression) {
            Ok(Ok(Value::Bool(true))) => {}
            Ok(answer) => {
                if unmet.is_empty() {
                    unmet = Vec::with_capacity(expressions.validations.len() - index);
                }
                unmet.push((index, answer));
            }
            // A validation that is false denies, whatever the others evaluate to.
            Err(EvaluationHalt::Undecided(missing)) => undecided.push(MissingInput {
                validation: Some(index),
                missing: *missing,
            }),
            // The others may need checks as well.
            Err(halt @ EvaluationHalt::Unfinished(UnfinishedEvaluation::Pending)) => pending = Some(halt),
            Err(halt) => return Err(pending.unwrap_or(halt)),
        }
    }
    if let Some(pending) = pending {
        return Err(pending);
    }
    let messages = if expressions.has_messages {
        messages(policy, session, inputs, (&unmet, round.budget()))
    } else {
        Ok(Vec::new())
    };
    match messages {
        Err(halt @ (EvaluationHalt::Unfinished(_) | EvaluationHalt::Undecided(_))) => Err(halt),
        Err(EvaluationHalt::OutOfBudget) => Ok(decide_without_messages(policy, unmet)),
        Ok(messages) => Ok(decide_all(policy, unmet, messages)),
    }
}

/// The results of the message expressions of those that are unmet. All message expressions are evaluated, whether
/// they are needed or not: they count for the budget.
fn messages<'s>(
    policy: &'s RunnablePolicy,
    session: &RequestSession<'s>,
    inputs: &ExpressionInputs<'s>,
    (unmet, budget): (&[UnmetValidation<'s>], u64),
) -> Result<Vec<(usize, ExpressionAnswer<'s>)>, EvaluationHalt> {
    let inputs = ExpressionInputs {
        authorizer: false,
        ..*inputs
    };
    let mut round = EvaluationRound::new(session, &policy.core.variables, &inputs, budget);
    let mut answers = Vec::with_capacity(unmet.len());
    for (index, validation) in policy.expressions.validations.iter().enumerate() {
        let Some(expression) = &validation.message_expression else {
            continue;
        };
        let answer = match round.evaluate(ExpressionId::Message(index), expression) {
            // Like a message that fails: the validation's message is used.
            Err(EvaluationHalt::Undecided(missing)) => Err(missing.to_string()),
            answer => answer?,
        };
        if unmet.iter().any(|(other, _)| *other == index) {
            answers.push((index, answer));
        }
    }
    Ok(answers)
}

/// Decides on validations that are not true.
fn decide_all<'s>(
    policy: &'s RunnablePolicy,
    unmet: Vec<UnmetValidation<'s>>,
    messages: Vec<(usize, ExpressionAnswer<'s>)>,
) -> Vec<(Option<usize>, ValidationDecision<'s>)> {
    let mut messages = messages.into_iter().peekable();
    let validations = &policy.expressions.validations;
    let mut decisions = Vec::with_capacity(unmet.len());
    let decided = unmet.into_iter().filter_map(|(index, answer)| {
        let message = messages.next_if(|(other, _)| *other == index);
        let decided = match answer {
            Ok(_) => decide_false(validations.get(index)?, message.map(|(_, message)| message)),
            Err(error) => ValidationDecision::failed(policy, error),
        };
        Some((Some(index), decided))
    });
    decisions.extend(decided);
    decisions
}

/// Where messages ran out of budget, even validations that hold have failed.
fn decide_without_messages<'s>(
    policy: &'s RunnablePolicy,
    unmet: Vec<UnmetValidation<'s>>,
) -> Vec<(Option<usize>, ValidationDecision<'s>)> {
    let mut unmet = unmet.into_iter().peekable();
    let count = policy.expressions.validations.len();
    let decisions = (0..count).map(|index| {
        let error = match unmet.next_if(|(other, _)| *other == index) {
            Some((_, Err(error))) => error,
            Some((_, Ok(_))) | None => format!("failed messageExpression: {OUT_OF_BUDGET}"),
        };
        (Some(index), ValidationDecision::failed(policy, error))
    });
    decisions.collect()
}

/// Decides on a validation that is false.
fn decide_false<'s>(
    validation: &'s CompiledValidation,
    message: Option<ExpressionAnswer<'s>>,
) -> ValidationDecision<'s> {
    let message = match message {
        Some(Ok(Value::String(text))) => read_message(text).ok(),
        _ => None,
    };
    ValidationDecision::Deny {
        message: Cow::Borrowed(message.unwrap_or(&validation.message)),
        reason: Some(validation.reason.as_deref().unwrap_or("Invalid")),
        error: ErrorType::None,
    }
}

fn annotate<'s>(
    policy: &'s RunnablePolicy,
    session: &RequestSession<'s>,
    inputs: impl FnOnce() -> ExpressionInputs<'s>,
    undecided: &mut Vec<MissingInput>,
) -> Result<Vec<AnnotationDecision<'s>>, EvaluationHalt> {
    let annotations = &policy.expressions.annotations;
    if annotations.is_empty() {
        return Ok(Vec::new());
    }
    let mut round = EvaluationRound::new(session, &policy.core.variables, &inputs(), RUNTIME_BUDGET);
    let mut published = Vec::new();
    for (index, annotation) in annotations.iter().enumerate() {
        match round.evaluate(ExpressionId::Annotation(index), &annotation.value) {
            Err(EvaluationHalt::Undecided(missing)) => undecided.push(MissingInput {
                validation: None,
                missing: *missing,
            }),
            answer => published.extend(decide_annotation(policy, (index, annotation), answer?)),
        }
    }
    Ok(published)
}

/// The decision of an annotation's value; `None` for nothing.
fn decide_annotation<'s>(
    policy: &RunnablePolicy,
    (index, annotation): (usize, &'s CompiledAnnotation),
    answer: ExpressionAnswer<'s>,
) -> Option<AnnotationDecision<'s>> {
    Some(match answer {
        Ok(Value::Null) => return None,
        Ok(Value::String(text)) if text.trim().is_empty() => return None,
        Ok(Value::String(text)) => AnnotationDecision::Publish {
            key: &annotation.key,
            value: text.trim(),
        },
        Ok(other) => AnnotationDecision::Error(format!(
            "valueExpression '{}' resulted in unsupported return type: {}. Return type must be either string or null.",
            annotation.text,
            other.type_name()
        )),
        Err(error) if policy.core.failure_policy.ignores() => AnnotationDecision::Ignored { index, error },
        Err(error) => AnnotationDecision::Error(error),
    })
}
