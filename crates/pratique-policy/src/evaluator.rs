//! Evaluates expressions over the same inputs, and shares their results.

use std::sync::Arc;

use pratique_cel::{Activation, Fault, Program, Value};
use pratique_expression::{BoundExpression, Expression, InputSet, slots};

use crate::compiled_expressions::NamedVariable;
use crate::inputs::{ExpressionInputs, InputKey};
use crate::memo::{MemoEntry, MemoKey, ResultRetention};
use crate::session::RequestSession;
use crate::variables::{RoundVariables, VariableReading};

/// Evaluates expressions over the same inputs, with the variables of one policy at a time.
pub(crate) struct PolicyEvaluator<'e, 's> {
    session: &'e RequestSession<'s>,
    inputs: ExpressionInputs<'s>,
    /// Made once an expression has to be evaluated.
    activation: Option<HeldActivation<'s>>,
    /// Whether the activation has everything that expressions read.
    is_supplied: bool,
    retention: ResultRetention,
    /// Made once an expression reads a variable.
    variables: Option<PolicyVariables<'s>>,
    /// The cost of variables of other policies that was not taken yet.
    cost: u64,
    /// The cost of variables that was taken.
    taken: u64,
}

/// The activation of an evaluator.
// Rows `match-1` and `deny-100` of `benches/`: it is large to move, so that evaluators pass on a pointer to it, and one that passes
// on none needs no memory for it. It is never moved itself.
#[expect(clippy::large_enum_variant)]
enum HeldActivation<'s> {
    InPlace(Activation<'s>),
    /// One that other evaluators use later.
    Shared(Box<Activation<'s>>),
}

impl<'s> HeldActivation<'s> {
    fn get_mut(&mut self) -> &mut Activation<'s> {
        match self {
            HeldActivation::InPlace(activation) => activation,
            HeldActivation::Shared(activation) => activation,
        }
    }
}

/// The variables of a policy, compiled and evaluated.
#[derive(Clone, Copy)]
struct PolicyVariables<'s> {
    compiled: &'s [NamedVariable],
    variables: &'s RoundVariables<'s>,
}

/// An expression, bound or not.
#[derive(Clone, Copy)]
pub(crate) struct EvaluableExpression<'s> {
    pub(crate) expression: &'s Expression,
    pub(crate) bound: Option<&'s Arc<BoundExpression>>,
}

impl<'e, 's> PolicyEvaluator<'e, 's> {
    /// Evaluates the expressions of one policy.
    pub(crate) fn new(session: &'e RequestSession<'s>, inputs: &ExpressionInputs<'s>) -> Self {
        PolicyEvaluator {
            session,
            inputs: *inputs,
            activation: None,
            is_supplied: false,
            retention: ResultRetention::Memo,
            variables: None,
            cost: 0,
            taken: 0,
        }
    }

    /// Evaluates the expressions of many policies, with the inputs that are [supplied](Self::supply_inputs). The caller
    /// keeps the results.
    // Inlined, as it is large to move.
    #[inline(always)]
    pub(crate) fn for_batch(session: &'e RequestSession<'s>, inputs: &ExpressionInputs<'s>) -> Self {
        PolicyEvaluator {
            session,
            inputs: *inputs,
            activation: Some(HeldActivation::InPlace(slots().activation())),
            is_supplied: true,
            retention: ResultRetention::Caller,
            variables: None,
            cost: 0,
            taken: 0,
        }
    }

    /// Adds the objects, and the variables of the request.
    pub(crate) fn supply_inputs(&mut self, set: InputSet) {
        if let Some(activation) = &mut self.activation {
            let activation = activation.get_mut();
            self.session.supply_objects(activation, &self.inputs);
            self.session.supply_inputs(activation, &self.inputs, set);
        }
    }

    pub(crate) fn inputs(&self) -> &ExpressionInputs<'s> {
        &self.inputs
    }

    /// The result of an expression that reads these variables; one with a key may come from the memo. Fails when
    /// interrupted.
    #[inline]
    pub(crate) fn evaluate(
        &mut self,
        evaluable: EvaluableExpression<'s>,
        variables: impl Fn() -> &'s [NamedVariable] + Copy,
        key: Option<MemoKey>,
    ) -> Result<MemoEntry<'s>, Fault> {
        let (memo, retention) = (self.session.memo(), self.retention);
        memo.get_or_evaluate(
            key,
            retention,
            self,
            |evaluator, reads| evaluator.variables(variables()).replay(evaluable.bound, reads),
            |evaluator| evaluator.evaluate_now(evaluable, variables),
        )
    }

    #[inline]
    fn evaluate_now(
        &mut self,
        evaluable: EvaluableExpression<'s>,
        variables: impl Fn() -> &'s [NamedVariable],
    ) -> MemoEntry<'s> {
        let program = evaluable.expression.program();
        let variables = if program.reads(slots().variables) {
            Some(self.variables(variables()))
        } else {
            None
        };
        if !self.is_supplied {
            self.supply(program);
        }
        let (session, inputs) = (self.session, &self.inputs);
        let activation = self
            .activation
            .get_or_insert_with(|| HeldActivation::InPlace(session.activation(inputs)))
            .get_mut();
        let scratch = session.scratch();
        let reading = variables.map(|variables| variables.begin_reading(evaluable.bound));
        let (evaluation, cost) = scratch.evaluate(program, activation);
        MemoEntry {
            evaluation,
            cost,
            reads: reading.map_or(0, VariableReading::end),
        }
    }

    /// Adds the variables that a program reads to the activation.
    fn supply(&mut self, program: &Program) {
        let (session, inputs) = (self.session, self.inputs);
        session.supply(self.activation(), &inputs, program);
    }

    /// The cost of all variables that were evaluated.
    pub(crate) fn variables_cost(&mut self) -> u64 {
        if self.variables.is_some() {
            self.taken = self.taken.saturating_add(self.take_variables_cost());
        }
        self.taken
    }

    /// The cost of the variables that were evaluated since the last call.
    pub(crate) fn take_variables_cost(&mut self) -> u64 {
        let current = self.variables.map_or(0, |current| current.variables.take_cost());
        std::mem::take(&mut self.cost).saturating_add(current)
    }

    fn activation(&mut self) -> &mut Activation<'s> {
        let (session, inputs) = (self.session, &self.inputs);
        let is_common = self.is_common();
        let held = self.activation.get_or_insert_with(|| {
            if is_common {
                HeldActivation::Shared(session.take_activation(inputs))
            } else {
                HeldActivation::InPlace(session.activation(inputs))
            }
        });
        held.get_mut()
    }

    /// Whether the activation suits other policies.
    fn is_common(&self) -> bool {
        matches!(self.inputs.params, Value::Null) && self.inputs.key != InputKey::UNSHARED
    }

    /// The variables of a policy, which take the place of another policy's.
    fn variables(&mut self, compiled: &'s [NamedVariable]) -> &'s RoundVariables<'s> {
        if let Some(current) = self.variables
            && std::ptr::eq(current.compiled, compiled)
        {
            return current.variables;
        }
        self.cost = self.take_variables_cost();
        if !self.is_supplied {
            let variables = compiled.iter().map(|(_, variable)| variable);
            for expression in variables.flat_map(|variable| &variable.expression) {
                self.supply(expression.program());
            }
        }
        let (session, key) = (self.session, self.inputs.key);
        let variables = session.add_variables(compiled, self.activation(), key);
        self.variables = Some(PolicyVariables { compiled, variables });
        variables
    }
}

impl Drop for PolicyEvaluator<'_, '_> {
    /// Returns the activation for other evaluators.
    fn drop(&mut self) {
        if self.is_common()
            && !self.is_supplied
            && let Some(HeldActivation::Shared(activation)) = self.activation.take()
        {
            self.session.return_activation(&self.inputs, activation);
        }
    }
}
