//! Evaluates the expressions of one policy within a budget.

use pratique_cel::Value;
pub(crate) use pratique_core::{EvaluationHalt, OUT_OF_BUDGET};
use pratique_core::{compilation_error, evaluation_error};
use pratique_expression::Expression;

use crate::compiled_expressions::{CompiledExpression, NamedVariable};
use crate::evaluator::{EvaluableExpression, PolicyEvaluator};
use crate::inputs::ExpressionInputs;
use crate::memo::{MemoEntry, MemoKey, ended};
use crate::session::RequestSession;
use crate::trace::ExpressionId;

/// Evaluates expressions of a policy over the same inputs, which share variables and a budget.
pub(crate) struct EvaluationRound<'e, 's> {
    session: &'e RequestSession<'s>,
    compiled: &'s [NamedVariable],
    evaluator: PolicyEvaluator<'e, 's>,
    budget: u64,
}

/// The value of an expression, or its error's message.
pub(crate) type ExpressionAnswer<'s> = Result<Value<'s>, String>;

impl<'e, 's> EvaluationRound<'e, 's> {
    pub(crate) fn new(
        session: &'e RequestSession<'s>,
        compiled: &'s [NamedVariable],
        inputs: &ExpressionInputs<'s>,
        budget: u64,
    ) -> Self {
        EvaluationRound {
            session,
            compiled,
            evaluator: PolicyEvaluator::new(session, inputs),
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
        compiled: &'s CompiledExpression,
    ) -> Result<ExpressionAnswer<'s>, EvaluationHalt> {
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
        if let Some(halt) = fault.and_then(|fault| EvaluationHalt::from_fault(fault, namespace)) {
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

    fn result(
        &mut self,
        compiled: &'s CompiledExpression,
        expression: &'s Expression,
    ) -> Result<MemoEntry<'s>, EvaluationHalt> {
        let key = self.key(compiled);
        let variables = self.compiled;
        let evaluable = EvaluableExpression {
            expression,
            bound: compiled.bound.as_ref(),
        };
        let result = self.evaluator.evaluate(evaluable, || variables, key);
        result.map_err(|fault| EvaluationHalt::Unfinished(ended(&fault)))
    }

    /// The key of an expression's result; `None` where it is not used again, and where a trace is to see every evaluation.
    fn key(&self, compiled: &CompiledExpression) -> Option<MemoKey> {
        let bound = compiled.bound.as_ref()?;
        let inputs = self.evaluator.inputs();
        let is_used_again = inputs.repeats || compiled.is_shared();
        match self.session.trace() {
            None if is_used_again => MemoKey::new(bound, inputs.key),
            _ => None,
        }
    }

    fn spend(&mut self, cost: u64) -> Result<(), EvaluationHalt> {
        self.budget = self.budget.checked_sub(cost).ok_or(EvaluationHalt::OutOfBudget)?;
        Ok(())
    }
}
