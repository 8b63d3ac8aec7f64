//! One mutation: evaluated, and applied to an object.

use pratique_cel::Value;
use pratique_cel::library::mutation::check_type_names;
use pratique_json as json;

use super::version::Version;
use super::{Form, Mutation, patch};
use crate::evaluate::{BUDGET, Halt, OUT_OF_BUDGET, Round};
use crate::hook::Hook;
use crate::outcome::Unfinished;
use crate::session::{Inputs, Session};
use crate::trace::Part;

/// Why a mutation does not change the object.
pub(super) enum Refusal {
    /// It failed: the failure policy says what that means.
    Policy(String),
    /// It failed in a way that no failure policy ignores.
    Server(String),
    Unfinished(Unfinished),
}

/// The object as a mutation makes it; `None` where it says itself that there is nothing to do.
pub(super) fn apply<'s>(
    session: &Session<'s>,
    (index, mutation): (usize, &'s Mutation),
    hook: &'s Hook,
    version: &Version<'s>,
    inputs: &Inputs<'s>,
) -> Result<Option<&'s json::Value<'s>>, Refusal> {
    let value = evaluate(session, (index, mutation), hook, inputs)?;
    match mutation.form {
        Form::JsonPatch => patch::patched(&value, version, session),
        Form::ApplyConfiguration => merged(value, version),
    }
}

fn evaluate<'s>(
    session: &Session<'s>,
    (index, mutation): (usize, &'s Mutation),
    hook: &'s Hook,
    inputs: &Inputs<'s>,
) -> Result<Value<'s>, Refusal> {
    if let Err(error) = &mutation.expression {
        let error = error.to_string();
        let part = Part::Mutation(index);
        session.trace().inspect(|trace| trace.broken(part, &error));
        return Err(Refusal::Policy(error));
    }
    let mut round = Round::new(session, &hook.variables, inputs, BUDGET);
    match round.evaluate(Part::Mutation(index), &mutation.expression) {
        Ok(answer) => answer.map_err(Refusal::Policy),
        Err(Halt::OutOfBudget) => Err(Refusal::Policy(OUT_OF_BUDGET.to_owned())),
        Err(Halt::Unfinished(unfinished)) => Err(Refusal::Unfinished(unfinished)),
    }
}

fn merged<'s>(value: Value<'s>, version: &Version<'s>) -> Result<Option<&'s json::Value<'s>>, Refusal> {
    check_type_names(&value).map_err(|error| Refusal::Policy(format!("type mismatch: {error}")))?;
    let _ = version;
    Ok(None)
}
