//! The evaluator of programs.

mod attribute;
mod call;
mod fold;
mod literals;
mod logic;
mod range;

use super::Program;
use super::node::{LocalIndex, NodeId, PlanNode};
use super::observe::EvaluationObserver;
use crate::context::Context;
use crate::environment::Activation;
use crate::error::Fault;
use crate::ops;
use crate::value::{Evaluation, Value};

use logic::truth;

/// One evaluation of a program.
///
/// Its functions have small stack frames, as expressions nest as deep as the parser allows.
pub(super) struct PlanEvaluator<'r, 'a, O> {
    program: &'a Program,
    context: &'r Context<'a>,
    activation: &'r Activation<'a>,
    locals: &'r mut [LocalValue<'a>],
    /// The errors of [`LocalValue::Failed`].
    faults: Vec<Fault>,
    observer: &'r mut O,
}

/// The value of a comprehension's variable.
#[derive(Clone, Copy, Debug)]
pub(super) enum LocalValue<'a> {
    Value(Value<'a>),
    /// A value that is computed when it is first used.
    Pending(NodeId),
    /// An error, by its index among the faults.
    Failed(usize),
}

impl LocalValue<'_> {
    /// The value of a variable before one is bound.
    pub(super) const UNSET: Self = LocalValue::Value(Value::Null);
}

impl<'r, 'a, O: EvaluationObserver> PlanEvaluator<'r, 'a, O> {
    pub(super) fn new(
        program: &'a Program,
        context: &'r Context<'a>,
        activation: &'r Activation<'a>,
        locals: &'r mut [LocalValue<'a>],
        observer: &'r mut O,
    ) -> Self {
        PlanEvaluator {
            program,
            context,
            activation,
            locals,
            faults: Vec::new(),
            observer,
        }
    }

    /// The value of a node.
    pub(super) fn evaluate(&mut self, id: NodeId) -> Evaluation<'a> {
        if !O::ACTIVE {
            return self.run(id);
        }
        let result = self.run(id);
        self.observer.observe(self.program.origin(id), &result);
        result
    }

    #[inline(always)]
    fn run(&mut self, id: NodeId) -> Evaluation<'a> {
        match self.program.node(id) {
            PlanNode::Constant(constant) => Ok(constant.value()),
            PlanNode::Attribute(attribute) => self.attribute(attribute),
            PlanNode::Presence(attribute) => self.presence(attribute),
            PlanNode::Not(operand) => self.not(*operand).map(Value::Bool),
            PlanNode::Intrinsic(intrinsic, call) => self.intrinsic(*intrinsic, call).map(Value::Bool),
            PlanNode::Matches(call) => self.matches(call).map(Value::Bool),
            PlanNode::And(terms) => self.and(terms).map(Value::Bool),
            PlanNode::Or(terms) => self.or(terms).map(Value::Bool),
            PlanNode::Conditional { condition, yes, no } => {
                let chosen = if self.truth(*condition)? { *yes } else { *no };
                self.evaluate(chosen).and_then(ops::sound)
            }
            PlanNode::Equality { left, right, negated } => {
                self.equality(*left, *right, *negated).map(Value::Bool)
            }
            PlanNode::OptionalOr { left, right, unwrap } => self.optional_or(*left, *right, *unwrap),
            PlanNode::InSet { element, set } => self.in_set(*element, set),
            PlanNode::NotStrictlyFalse(operand) => self.not_strictly_false(*operand),
            PlanNode::Call(call) => self.call(call),
            PlanNode::List(elements) => self.list(elements),
            PlanNode::Map(entries) => self.map(entries),
            PlanNode::Struct(literal) => self.struct_literal(literal),
            PlanNode::Fold(fold) => self.fold(fold),
            PlanNode::Let { local, value, body } => {
                self.bind_lazily(*local, *value);
                self.evaluate(*body)
            }
        }
    }

    /// The value of a node that has to be a boolean.
    #[inline]
    fn truth(&mut self, id: NodeId) -> Result<bool, Fault> {
        match self.program.node(id) {
            _ if O::ACTIVE => truth(self.evaluate(id)),
            PlanNode::And(terms) => self.and(terms),
            PlanNode::Or(terms) => self.or(terms),
            PlanNode::Equality { left, right, negated } => self.equality(*left, *right, *negated),
            PlanNode::Presence(attribute) => truth(self.presence(attribute)),
            PlanNode::Not(operand) => self.not(*operand),
            PlanNode::Intrinsic(intrinsic, call) => self.intrinsic(*intrinsic, call),
            PlanNode::Matches(call) => self.matches(call),
            _ => truth(self.evaluate(id)),
        }
    }

    /// The value of an operand: [`evaluate`](Self::evaluate) with the nodes that most operands are inlined.
    #[inline(always)]
    fn operand(&mut self, id: NodeId) -> Evaluation<'a> {
        match self.program.node(id) {
            _ if O::ACTIVE => self.evaluate(id),
            PlanNode::Constant(constant) => Ok(constant.value()),
            PlanNode::Attribute(attribute) => self.attribute(attribute),
            _ => self.evaluate(id),
        }
    }

    /// Whether an error is all that a call or a literal gives in which it is an operand: the rest is neither evaluated nor charged.
    // Upstream: interpreter/interpretable.go of cel-go 0.33, whose `Exec` returns before it tracks a cost. Before, all that was evaluated
    // was observed and charged, errors included. Asked where there is an error alone, so that other evaluations have no more to do.
    fn ends_calls_at_errors(&self) -> bool {
        self.program.is_of_cel_go_0_33
    }

    /// Binds a variable to a value.
    #[inline]
    fn bind(&mut self, local: LocalIndex, value: Value<'a>) {
        self.bind_result(local, ops::sound(value));
    }

    /// Binds a variable to a value or an error.
    #[inline]
    fn bind_result(&mut self, local: LocalIndex, result: Evaluation<'a>) {
        match result {
            Ok(value) => self.set(local, LocalValue::Value(value)),
            Err(fault) => {
                // Takes effect at the next check of the limits.
                self.context
                    .arena
                    .count(usize::try_from(fault.size()).unwrap_or(usize::MAX));
                self.set(local, LocalValue::Failed(self.faults.len()));
                self.faults.push(fault);
            }
        }
    }

    /// Binds a variable to a value that is computed when it is first used.
    fn bind_lazily(&mut self, local: LocalIndex, value: NodeId) {
        self.set(local, LocalValue::Pending(value));
    }

    /// The value of a variable.
    fn local(&mut self, local: LocalIndex) -> Evaluation<'a> {
        match self.locals.get(local as usize) {
            Some(LocalValue::Value(value)) => Ok(*value),
            Some(LocalValue::Pending(node)) => {
                let result = self.evaluate(*node).map(Value::without_constants);
                self.bind_result(local, result.clone());
                result
            }
            Some(LocalValue::Failed(fault)) => match self.faults.get(*fault) {
                Some(fault) => Err(fault.clone()),
                None => Ok(Value::Null),
            },
            None => Ok(Value::Null),
        }
    }

    fn set(&mut self, local: LocalIndex, value: LocalValue<'a>) {
        if let Some(place) = self.locals.get_mut(local as usize) {
            *place = value;
        }
    }
}
