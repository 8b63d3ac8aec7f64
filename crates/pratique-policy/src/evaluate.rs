//! Rounds of expressions within a budget.

use pratique_cel::value::Evaluation;
use pratique_cel::{Activation, Value};
pub(crate) use pratique_core::{CALL_LIMIT, Halt, OUT_OF_BUDGET};
use pratique_core::{compilation_error, evaluation_error};
use pratique_expression::{Expression, slots};

use crate::compiled::{Compiled, Variable};
use crate::memo::{Frame, Key, Known, ended};
use crate::session::{Inputs, Session};
use crate::trace::{self, Part};
use crate::variables::Variables;

/// What the validations of a policy for one binding and param may cost together; the same again for its annotations.
pub(crate) const BUDGET: u64 = 10_000_000;

/// A round of expressions over the same inputs, which share variables and a budget.
pub(crate) struct Round<'e, 's> {
    session: &'e Session<'s>,
    inputs: Inputs<'s>,
    compiled: &'s [Variable],
    /// Made once something has to be evaluated that nobody knows yet.
    activation: Option<Activation<'s>>,
    /// Made once a variable is read.
    variables: Option<&'s Variables<'s>>,
    budget: u64,
}

/// The value of an expression, or the text of the error that took its place.
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
            inputs: *inputs,
            compiled,
            activation: None,
            variables: None,
            budget,
        }
    }

    /// What is left of the budget.
    pub(crate) fn budget(&self) -> u64 {
        self.budget
    }

    /// Evaluates an expression. Its variables are accounted for first, then itself.
    pub(crate) fn evaluate(&mut self, part: Part<'_>, compiled: &'s Compiled) -> Result<Answer<'s>, Halt> {
        self.session.proceed()?;
        let trace = self.session.trace();
        let expression = match &compiled.expression {
            Ok(expression) => &**expression,
            Err(error) => {
                let error = compilation_error(error);
                trace.inspect(|trace| trace.broken(part, &error));
                return Ok(Err(error));
            }
        };
        trace.inspect(|trace| trace.begin(part, expression.text()));
        let Known { evaluation, cost, .. } = self.known_or_evaluated(compiled, expression)?;
        let namespace = &self.session.request.namespace;
        let halt = evaluation.as_ref().err();
        if let Some(halt) = halt.and_then(|fault| Halt::from_fault(fault, namespace)) {
            return Err(halt);
        }
        let of_variables = self.variables.map_or(0, Variables::take_cost);
        let spent = self.spend(of_variables);
        let spent = spent.and_then(|()| self.spend(cost));
        spent.inspect_err(|_| {
            trace.inspect(|trace| trace.exhausted());
        })?;
        Ok(evaluation.map_err(|fault| evaluation_error(expression, &fault)))
    }

    fn known_or_evaluated(
        &mut self,
        compiled: &'s Compiled,
        expression: &'s Expression,
    ) -> Result<Known<'s>, Halt> {
        let Some(key) = self.key(compiled) else {
            return Ok(self.evaluated(compiled, expression));
        };
        let Some(known) = self.session.memo().get(key) else {
            let known = self.evaluated(compiled, expression);
            self.session.memo().set(key, known.clone());
            return Ok(known);
        };
        if known.reads != 0
            && let Some(closed) = &compiled.closed
        {
            // Who reads variables first pays for them.
            let replayed = self.variables().replay(closed, known.reads);
            replayed.map_err(|fault| Halt::Unfinished(ended(&fault)))?;
        }
        Ok(known)
    }

    /// By what the value of an expression is known to all who ask the same; `None` where nobody else will ask, and
    /// where somebody looks on.
    fn key(&self, compiled: &Compiled) -> Option<Key> {
        let closed = compiled.closed.as_ref()?;
        let asked_again = self.inputs.repeats || compiled.is_shared();
        match self.session.trace() {
            None if asked_again => Key::new(closed, self.inputs.frame),
            _ => None,
        }
    }

    fn evaluated(&mut self, compiled: &'s Compiled, expression: &'s Expression) -> Known<'s> {
        let program = expression.program();
        let variables = program.reads(slots().variables).then(|| self.variables());
        let session = self.session;
        let inputs = self.inputs;
        let activation = self.activation();
        session.supply(activation, &inputs, program);
        let context = session.context();
        let note = variables.map(|variables| variables.note(compiled.closed.as_deref()));
        let evaluation: Evaluation<'s> = trace::evaluate(program, &context, activation, session.trace());
        Known {
            evaluation,
            cost: context.cost(),
            reads: match (variables, note) {
                (Some(variables), Some(note)) => variables.noted(note),
                _ => 0,
            },
        }
    }

    fn activation(&mut self) -> &mut Activation<'s> {
        let (session, inputs) = (self.session, &self.inputs);
        let ordinary = self.is_ordinary();
        self.activation.get_or_insert_with(|| match ordinary {
            true => session.take_activation(inputs),
            false => session.activation(inputs),
        })
    }

    /// Whether the activation is like those of other policies.
    fn is_ordinary(&self) -> bool {
        let without = self.compiled.is_empty() && matches!(self.inputs.params, Value::Null);
        without && self.inputs.frame != Frame::OWN
    }

    fn variables(&mut self) -> &'s Variables<'s> {
        if let Some(variables) = self.variables {
            return variables;
        }
        let (session, compiled, inputs) = (self.session, self.compiled, self.inputs);
        let activation = self.activation();
        let variables = Variables::new(session, compiled, &inputs, activation);
        session.with_variables(activation, variables);
        self.variables = Some(variables);
        variables
    }

    /// Hands on what others can use.
    fn end(&mut self) {
        if self.is_ordinary()
            && self.variables.is_none()
            && let Some(activation) = self.activation.take()
        {
            self.session.give_back(&self.inputs, activation);
        }
    }

    fn spend(&mut self, cost: u64) -> Result<(), Halt> {
        self.budget = self.budget.checked_sub(cost).ok_or(Halt::OutOfBudget)?;
        Ok(())
    }
}

impl Drop for Round<'_, '_> {
    fn drop(&mut self) {
        self.end();
    }
}
