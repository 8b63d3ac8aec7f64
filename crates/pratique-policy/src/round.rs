//! Evaluates the expressions of one policy within a budget.

use pratique_cel::Value;
pub(crate) use pratique_core::{Halt, OUT_OF_BUDGET};
use pratique_core::{compilation_error, evaluation_error};
use pratique_expression::Expression;

use crate::compiled::{Compiled, Variable};
use crate::evaluator::{Evaluable, Evaluator};
use crate::inputs::Inputs;
use crate::memo::{MemoEntry, MemoKey, ended};
use crate::session::Session;
use crate::trace::ExpressionId;

/// Evaluates expressions of a policy over the same inputs, which share variables and a budget.
pub(crate) struct Round<'e, 's> {
    session: &'e Session<'s>,
    compiled: &'s [Variable],
    evaluator: Evaluator<'e, 's>,
    budget: u64,
}

/// The value of an expression, or its error's message.
pub(crate) type Answer<'s> = Result<Value<'s>, String>;

impl<'e, 's> Round<'e, 's> {
    pub(crate) fn new(
        session: &'e Session<'s>,
        compiled: &'s [Variable],
        inputs: &Inputs<'s>,
        budget: u64,
    ) -> Self {
        Round {
            session,
            compiled,
            evaluator: Evaluator::new(session, inputs),
            budget,
        }
    }

    /// The rest of the budget.
    pub(crate) fn budget(&self) -> u64 {
        self.budget
    }

    /// Evaluates an expression. Its variables are charged first, then itself.
    pub(crate) fn evaluate(
        &mut self,
        id: ExpressionId<&str>,
        compiled: &'s Compiled,
    ) -> Result<Answer<'s>, Halt> {
        self.session.proceed()?;
        let trace = self.session.trace();
        let expression = match &compiled.expression {
            Ok(expression) => &**expression,
            Err(error) => {
                let error = compilation_error(error);
                trace.inspect(|trace| trace.broken(id, &error));
                return Ok(Err(error));
            }
        };
        trace.inspect(|trace| trace.begin(id, expression.source_text()));
        let MemoEntry { evaluation, cost, .. } = self.result(compiled, expression)?;
        let namespace = &self.session.request.namespace;
        let fault = evaluation.as_ref().err();
        if let Some(halt) = fault.and_then(|fault| Halt::from_fault(fault, namespace)) {
            return Err(halt);
        }
        let variables_cost = self.evaluator.take_variables_cost();
        let spent = self.spend(variables_cost);
        let spent = spent.and_then(|()| self.spend(cost));
        spent.inspect_err(|_| {
            trace.inspect(|trace| trace.exhausted());
        })?;
        Ok(evaluation.map_err(|fault| evaluation_error(expression, &fault)))
    }

    fn result(&mut self, compiled: &'s Compiled, expression: &'s Expression) -> Result<MemoEntry<'s>, Halt> {
        let key = self.key(compiled);
        let variables = self.compiled;
        let evaluable = Evaluable {
            expression,
            bound: compiled.bound.as_ref(),
        };
        let result = self.evaluator.evaluate(evaluable, || variables, key);
        result.map_err(|fault| Halt::Unfinished(ended(&fault)))
    }

    /// The key of an expression's result; `None` where it is not used again, and where a trace is to see every evaluation.
    fn key(&self, compiled: &Compiled) -> Option<MemoKey> {
        let bound = compiled.bound.as_ref()?;
        let inputs = self.evaluator.inputs();
        let is_used_again = inputs.repeats || compiled.is_shared();
        match self.session.trace() {
            None if is_used_again => MemoKey::new(bound, inputs.key),
            _ => None,
        }
    }

    fn spend(&mut self, cost: u64) -> Result<(), Halt> {
        self.budget = self.budget.checked_sub(cost).ok_or(Halt::OutOfBudget)?;
        Ok(())
    }
}
