//! Rounds of expressions within a budget.

use pratique_cel::{Activation, Context, FaultKind, Stop, Value};

use crate::compiled::Compiled;
use crate::outcome::Unfinished;
use crate::session::{Inputs, Session};
use crate::trace::{self, Part};
use crate::variables::Variables;

/// What one evaluation may cost.
pub(crate) const CALL_LIMIT: u64 = 1_000_000;

/// What the validations of a policy for one binding and param may cost together; the same again for its annotations.
pub(crate) const BUDGET: u64 = 10_000_000;

/// What the match conditions of a policy may cost together.
pub(crate) const CONDITIONS_BUDGET: u64 = 2_500_000;

/// A round of expressions over the same inputs, which share variables and a budget.
pub(crate) struct Round<'e, 's> {
    session: &'e Session<'s>,
    inputs: Inputs<'s>,
    activation: Activation<'s>,
    variables: &'s Variables<'s>,
    budget: u64,
}

/// Why a round ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    OutOfBudget,
    Unfinished(Unfinished),
}

/// The value of an expression, or the text of the error that took its place.
pub(crate) type Answer<'s> = Result<Value<'s>, String>;

/// What is said when a budget is spent.
pub(crate) const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

impl<'e, 's> Round<'e, 's> {
    pub(crate) fn new(
        session: &'e Session<'s>,
        variables: &'s [(String, Compiled)],
        inputs: &Inputs<'s>,
        budget: u64,
    ) -> Self {
        let mut activation = session.activation(inputs);
        let variables = Variables::new(session, variables, inputs, &mut activation);
        session.with_variables(&mut activation, variables);
        Round {
            session,
            inputs: *inputs,
            activation,
            variables,
            budget,
        }
    }

    /// What is left of the budget.
    pub(crate) fn budget(&self) -> u64 {
        self.budget
    }

    /// Evaluates an expression. Its variables are accounted for first, then itself.
    pub(crate) fn evaluate(&mut self, part: Part<'_>, compiled: &'s Compiled) -> Result<Answer<'s>, Halt> {
        let trace = self.session.trace();
        let expression = match compiled {
            Ok(expression) => expression,
            Err(error) => {
                let error = format!("compilation error: {error}");
                trace.inspect(|trace| trace.broken(part, &error));
                return Ok(Err(error));
            }
        };
        trace.inspect(|trace| trace.begin(part, expression.text()));
        self.session
            .supply(&mut self.activation, &self.inputs, expression.program());
        let mut context = Context::new(self.session.arena(), CALL_LIMIT);
        if let Some(flag) = self.session.surroundings.interrupt {
            context = context.with_interrupt(flag);
        }
        let evaluation = trace::evaluate(expression.program(), &context, &self.activation, trace);
        let unfinished = |unfinished| Err(Halt::Unfinished(unfinished));
        match evaluation.as_ref().map_err(|fault| fault.kind()) {
            Err(FaultKind::Stopped(Stop::Pending)) => return unfinished(Unfinished::Pending),
            Err(FaultKind::Stopped(Stop::Interrupted)) => return unfinished(Unfinished::Interrupted),
            _ => {}
        }
        let spent = self.spend(self.variables.take_cost());
        let spent = spent.and_then(|()| self.spend(context.cost()));
        spent.inspect_err(|_| {
            trace.inspect(|trace| trace.exhausted());
        })?;
        Ok(evaluation
            .map_err(|fault| format!("expression '{}' resulted in error: {fault}", expression.text())))
    }

    fn spend(&mut self, cost: u64) -> Result<(), Halt> {
        self.budget = self.budget.checked_sub(cost).ok_or(Halt::OutOfBudget)?;
        Ok(())
    }
}
