//! One policy judges with one param.

use pratique_cel::Value;

use crate::compiled::{Annotation, Validation};
use crate::conditions;
use crate::evaluate::{Answer, BUDGET, Halt, OUT_OF_BUDGET, Round};
use crate::observer::ErrorType;
use crate::outcome::Unfinished;
use crate::policies::Policy;
use crate::session::{Inputs, Session};
use crate::trace::Part;

/// What a policy decided with one param.
#[derive(Debug, Default)]
pub(crate) struct Judgement<'s> {
    /// One for each validation, or a single one for an error.
    pub(crate) decisions: Vec<Decided>,
    pub(crate) annotations: Vec<Annotated<'s>>,
}

/// What came of a validation.
#[derive(Debug)]
pub(crate) enum Decided {
    /// It is true.
    Admit,
    /// It failed, and failures are ignored.
    Ignored(ErrorType),
    /// It is false, or failed.
    Deny {
        message: String,
        /// `None` unless it is false.
        reason: Option<String>,
        error: ErrorType,
    },
}

/// What came of an audit annotation.
#[derive(Debug)]
pub(crate) enum Annotated<'s> {
    Publish {
        key: &'s str,
        value: String,
    },
    Exclude,
    /// It failed, which denies.
    Error(String),
}

/// A message longer than this is not used.
const MAX_MESSAGE_BYTES: usize = 5 * 1024;

/// Judges. `audited` are the inputs of audit annotations.
pub(crate) fn judge<'s>(
    policy: &'s Policy,
    session: &Session<'s>,
    inputs: &Inputs<'s>,
    audited: &Inputs<'s>,
) -> Result<Judgement<'s>, Unfinished> {
    match conditions::apply(&policy.hook, session, inputs)? {
        Ok(true) => {}
        Ok(false) => return Ok(Judgement::default()),
        Err(message) => return Ok(Judgement::failed(policy, message)),
    }
    let decisions = match validate(policy, session, inputs) {
        Ok(decisions) => decisions,
        Err(Halt::OutOfBudget) => return Ok(Judgement::failed(policy, OUT_OF_BUDGET.to_owned())),
        Err(Halt::Unfinished(unfinished)) => return Err(unfinished),
    };
    match annotate(policy, session, audited) {
        Ok(annotations) => Ok(Judgement {
            decisions,
            annotations,
        }),
        Err(Halt::OutOfBudget) => Ok(Judgement::failed(policy, OUT_OF_BUDGET.to_owned())),
        Err(Halt::Unfinished(unfinished)) => Err(unfinished),
    }
}

impl Judgement<'_> {
    fn failed(policy: &Policy, message: String) -> Self {
        Judgement {
            decisions: vec![Decided::failed(policy, message)],
            annotations: Vec::new(),
        }
    }
}

impl Decided {
    fn failed(policy: &Policy, message: String) -> Self {
        let error = ErrorType::of_message(&message);
        match policy.hook.failure_policy.ignores() {
            true => Decided::Ignored(error),
            false => Decided::Deny {
                message,
                reason: None,
                error,
            },
        }
    }
}

fn validate<'s>(
    policy: &'s Policy,
    session: &Session<'s>,
    inputs: &Inputs<'s>,
) -> Result<Vec<Decided>, Halt> {
    let expressions = &policy.expressions;
    let mut round = Round::new(session, &policy.hook.variables, inputs, BUDGET);
    let mut answers = Vec::with_capacity(expressions.validations.len());
    let mut pending = None;
    for (index, validation) in expressions.validations.iter().enumerate() {
        match round.evaluate(Part::Validation(index), &validation.expression) {
            Ok(answer) => answers.push(answer),
            // The others may have checks to ask too.
            Err(halt @ Halt::Unfinished(Unfinished::Pending)) => pending = Some(halt),
            Err(halt) => return Err(pending.unwrap_or(halt)),
        }
    }
    if let Some(pending) = pending {
        return Err(pending);
    }
    let messages = messages(policy, session, inputs, round.budget());
    let messages = match messages {
        Err(Halt::Unfinished(_)) => messages.map(Some)?,
        Err(Halt::OutOfBudget) => None,
        Ok(messages) => Some(messages),
    };
    let pairs = expressions.validations.iter().zip(answers).enumerate();
    let decisions = pairs.map(|(index, (validation, answer))| {
        let message = messages
            .as_ref()
            .map(|messages| messages.get(index).and_then(Option::as_ref));
        decide(policy, validation, answer, message)
    });
    Ok(decisions.collect())
}

/// The results of message expressions, which are evaluated whether they are needed or not: they count for the budget.
fn messages<'s>(
    policy: &'s Policy,
    session: &Session<'s>,
    inputs: &Inputs<'s>,
    budget: u64,
) -> Result<Vec<Option<Answer<'s>>>, Halt> {
    let validations = &policy.expressions.validations;
    if validations
        .iter()
        .all(|validation| validation.message_expression.is_none())
    {
        return Ok(Vec::new());
    }
    let inputs = Inputs {
        authorizer: false,
        ..*inputs
    };
    let mut round = Round::new(session, &policy.hook.variables, &inputs, budget);
    let expressions = validations
        .iter()
        .map(|validation| validation.message_expression.as_ref());
    let answers = expressions.enumerate().map(|(index, expression)| {
        expression
            .map(|expression| round.evaluate(Part::Message(index), expression))
            .transpose()
    });
    answers.collect()
}

/// Decides on the answer of a validation; `message` is `None` when messages ran out of budget.
fn decide(
    policy: &Policy,
    validation: &Validation,
    answer: Answer<'_>,
    message: Option<Option<&Answer<'_>>>,
) -> Decided {
    let holds = match answer {
        Ok(value) => matches!(value, Value::Bool(true)),
        Err(error) => return Decided::failed(policy, error),
    };
    let Some(message) = message else {
        let text = format!("failed messageExpression: {OUT_OF_BUDGET}");
        return Decided::failed(policy, text);
    };
    if holds {
        return Decided::Admit;
    }
    let message = match message {
        Some(Ok(Value::String(text))) => usable(text),
        _ => None,
    };
    Decided::Deny {
        message: message.map_or_else(|| validation.message.clone(), str::to_owned),
        reason: Some(validation.reason.clone().unwrap_or_else(|| "Invalid".to_owned())),
        error: ErrorType::None,
    }
}

/// A message as it is shown; `None` for one that is empty, too long or has several lines.
fn usable(text: &str) -> Option<&str> {
    let text = text.trim();
    let fits = !text.is_empty() && text.len() <= MAX_MESSAGE_BYTES && !text.contains('\n');
    fits.then_some(text)
}

fn annotate<'s>(
    policy: &'s Policy,
    session: &Session<'s>,
    inputs: &Inputs<'s>,
) -> Result<Vec<Annotated<'s>>, Halt> {
    let annotations = &policy.expressions.annotations;
    if annotations.is_empty() {
        return Ok(Vec::new());
    }
    let inputs = Inputs {
        authorizer: false,
        ..*inputs
    };
    let mut round = Round::new(session, &policy.hook.variables, &inputs, BUDGET);
    let annotated = annotations.iter().enumerate().map(|(index, annotation)| {
        let answer = round.evaluate(Part::Annotation(index), &annotation.value)?;
        Ok(annotated(policy, annotation, answer))
    });
    annotated.collect()
}

fn annotated<'s>(policy: &Policy, annotation: &'s Annotation, answer: Answer<'_>) -> Annotated<'s> {
    match answer {
        Ok(Value::Null) => Annotated::Exclude,
        Ok(Value::String(text)) if text.trim().is_empty() => Annotated::Exclude,
        Ok(Value::String(text)) => Annotated::Publish {
            key: &annotation.key,
            value: text.trim().to_owned(),
        },
        Ok(other) => Annotated::Error(format!(
            "valueExpression '{}' resulted in unsupported return type: {}. Return type must be either string or null.",
            annotation.text,
            other.type_name()
        )),
        Err(_) if policy.hook.failure_policy.ignores() => Annotated::Exclude,
        Err(error) => Annotated::Error(error),
    }
}
