//! The evaluator of programs.

mod attribute;
mod call;
mod fold;
mod literals;
mod logic;
mod range;

use super::Program;
use super::node::{LocalIndex, Node, NodeId};
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
pub(super) struct Evaluator<'r, 'a, O> {
    program: &'a Program,
    context: &'r Context<'a>,
    activation: &'r Activation<'a>,
    locals: &'r mut [Local<'a>],
    /// The errors of [`Local::Failed`].
    faults: Vec<Fault>,
    observer: &'r mut O,
}

/// The value of a comprehension's variable.
#[derive(Clone, Copy, Debug)]
pub(super) enum Local<'a> {
    Value(Value<'a>),
    /// A value that is computed when it is first used.
    Pending(NodeId),
    /// An error, by its index among the faults.
    Failed(usize),
}

impl Local<'_> {
    /// The value of a variable before one is bound.
    pub(super) const UNSET: Self = Local::Value(Value::Null);
}

impl<'r, 'a, O: EvaluationObserver> Evaluator<'r, 'a, O> {
    pub(super) fn new(
        program: &'a Program,
        context: &'r Context<'a>,
        activation: &'r Activation<'a>,
        locals: &'r mut [Local<'a>],
        observer: &'r mut O,
    ) -> Self {
        Evaluator {
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
            Node::Constant(constant) => Ok(constant.value()),
            Node::Attribute(attribute) => self.attribute(attribute),
            Node::Presence(attribute) => self.presence(attribute),
            Node::Not(operand) => self.not(*operand).map(Value::Bool),
            Node::Intrinsic(intrinsic, call) => self.intrinsic(*intrinsic, call).map(Value::Bool),
            Node::Matches(call) => self.matches(call).map(Value::Bool),
            Node::And(terms) => self.and(terms).map(Value::Bool),
            Node::Or(terms) => self.or(terms).map(Value::Bool),
            Node::Conditional { condition, yes, no } => {
                let chosen = if self.truth(*condition)? { *yes } else { *no };
                self.evaluate(chosen).and_then(ops::sound)
            }
            Node::Equality { left, right, negated } => {
                self.equality(*left, *right, *negated).map(Value::Bool)
            }
            Node::OptionalOr { left, right, unwrap } => self.optional_or(*left, *right, *unwrap),
            Node::InSet { element, set } => self.in_set(*element, set),
            Node::NotStrictlyFalse(operand) => self.not_strictly_false(*operand),
            Node::Call(call) => self.call(call),
            Node::List(elements) => self.list(elements),
            Node::Map(entries) => self.map(entries),
            Node::Struct(literal) => self.struct_literal(literal),
            Node::Fold(fold) => self.fold(fold),
            Node::Let { local, value, body } => {
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
            Node::And(terms) => self.and(terms),
            Node::Or(terms) => self.or(terms),
            Node::Equality { left, right, negated } => self.equality(*left, *right, *negated),
            Node::Presence(attribute) => truth(self.presence(attribute)),
            Node::Not(operand) => self.not(*operand),
            Node::Intrinsic(intrinsic, call) => self.intrinsic(*intrinsic, call),
            Node::Matches(call) => self.matches(call),
            _ => truth(self.evaluate(id)),
        }
    }

    /// The value of an operand: [`evaluate`](Self::evaluate) with the nodes that most operands are inlined.
    #[inline(always)]
    fn operand(&mut self, id: NodeId) -> Evaluation<'a> {
        match self.program.node(id) {
            _ if O::ACTIVE => self.evaluate(id),
            Node::Constant(constant) => Ok(constant.value()),
            Node::Attribute(attribute) => self.attribute(attribute),
            _ => self.evaluate(id),
        }
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
            Ok(value) => self.set(local, Local::Value(value)),
            Err(fault) => {
                // Takes effect at the next check of the limits.
                self.context
                    .arena
                    .count(usize::try_from(fault.size()).unwrap_or(usize::MAX));
                self.set(local, Local::Failed(self.faults.len()));
                self.faults.push(fault);
            }
        }
    }

    /// Binds a variable to a value that is computed when it is first used.
    fn bind_lazily(&mut self, local: LocalIndex, value: NodeId) {
        self.set(local, Local::Pending(value));
    }

    /// The value of a variable.
    fn local(&mut self, local: LocalIndex) -> Evaluation<'a> {
        match self.locals.get(local as usize) {
            Some(Local::Value(value)) => Ok(*value),
            Some(Local::Pending(node)) => {
                let result = self.evaluate(*node).map(Value::without_constants);
                self.bind_result(local, result.clone());
                result
            }
            Some(Local::Failed(fault)) => match self.faults.get(*fault) {
                Some(fault) => Err(fault.clone()),
                None => Ok(Value::Null),
            },
            None => Ok(Value::Null),
        }
    }

    fn set(&mut self, local: LocalIndex, value: Local<'a>) {
        if let Some(place) = self.locals.get_mut(local as usize) {
            *place = value;
        }
    }
}
