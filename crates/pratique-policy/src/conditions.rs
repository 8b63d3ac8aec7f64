//! Match conditions.

use pratique_cel::Value;

use crate::evaluate::{CONDITIONS_BUDGET, Halt, OUT_OF_BUDGET, Round};
use crate::hook::Hook;
use crate::memo::{Frame, NamespaceForm};
use crate::outcome::Unfinished;
use crate::session::{Inputs, Session};
use crate::trace::Part;

/// What match conditions say of a request.
pub(crate) struct Applied {
    /// Whether the policy applies; the error is the text of what went wrong, unless the policy ignores failures.
    pub(crate) applies: Result<bool, String>,
    /// How many conditions failed before one was false.
    pub(crate) errors: usize,
}

/// Evaluates the match conditions of a policy; `None` for a policy without, which applies.
///
/// One condition that is false beats any errors, and what others depend on that was not given. There is no
/// `namespaceObject` here, and `request.resource` is that of the request even where the policy matched an equivalent.
pub(crate) fn apply<'s>(
    hook: &'s Hook,
    session: &Session<'s>,
    inputs: &Inputs<'s>,
) -> Result<Option<Applied>, Halt> {
    let conditions = &hook.conditions;
    if conditions.is_empty() {
        return Ok(None);
    }
    let mut inputs = *inputs;
    inputs.matched.resource = &session.request.resource;
    inputs.namespace = NamespaceForm::Absent;
    if inputs.frame != Frame::OWN {
        inputs.frame = session.frame(&inputs.matched, inputs.namespace);
    }
    let mut round = Round::new(session, &hook.variables, &inputs, CONDITIONS_BUDGET);
    let mut errors: Vec<String> = Vec::new();
    let mut failed = false;
    let mut pending = false;
    let mut undecided = None;
    let mut error_count = 0;
    // The budget counts for all, so all are evaluated even after a false one.
    for (index, condition) in conditions.iter().enumerate() {
        match round.evaluate(Part::Condition(index), condition) {
            Ok(Ok(Value::Bool(false))) => failed = true,
            Ok(Ok(_)) => {}
            Ok(Err(error)) => {
                error_count += usize::from(!failed);
                if !errors.contains(&error) {
                    errors.push(error);
                }
            }
            Err(Halt::Unfinished(Unfinished::Pending)) => pending = true,
            Err(Halt::Undecided(missing)) => undecided = undecided.or(Some(missing)),
            Err(halt @ Halt::Unfinished(_)) => return Err(halt),
            Err(Halt::OutOfBudget) if pending => break,
            Err(Halt::OutOfBudget) => {
                let applies = match hook.failure_policy.ignores() {
                    true => Ok(false),
                    false => Err(OUT_OF_BUDGET.to_owned()),
                };
                return Ok(Some(Applied { applies, errors: 0 }));
            }
        }
    }
    if pending {
        return Err(Unfinished::Pending.into());
    }
    let ignored = !errors.is_empty() && hook.failure_policy.ignores();
    if failed || ignored {
        return Ok(Some(Applied {
            applies: Ok(false),
            errors: error_count,
        }));
    }
    if let Some(missing) = undecided {
        return Err(Halt::Undecided(missing));
    }
    let applies = match errors.as_slice() {
        [] => Ok(true),
        [error] => Err(error.clone()),
        errors => Err(format!("[{}]", errors.join(", "))),
    };
    Ok(Some(Applied {
        applies,
        errors: error_count,
    }))
}
