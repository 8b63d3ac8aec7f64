//! Logic, equality, and the operators that choose between operands.

use super::PlanEvaluator;
use crate::error::Fault;
use crate::ops;
use crate::plan::node::{NodeId, PlanNode};
use crate::plan::observe::EvaluationObserver;
use crate::plan::set::ConstantSet;
use crate::value::{Evaluation, Value};

impl<'a, O: EvaluationObserver> PlanEvaluator<'_, 'a, O> {
    /// False if a term is false, even if others are errors; else the first error, else true.
    pub(super) fn and(&mut self, terms: &'a [NodeId]) -> Result<bool, Fault> {
        self.logical(terms, false)
    }

    /// True if a term is true, even if others are errors; else the first error, else false.
    pub(super) fn or(&mut self, terms: &'a [NodeId]) -> Result<bool, Fault> {
        self.logical(terms, true)
    }

    #[inline]
    fn logical(&mut self, terms: &'a [NodeId], decisive: bool) -> Result<bool, Fault> {
        let mut fault = None;
        for term in terms {
            match self.truth(*term) {
                Ok(value) if value == decisive => return Ok(decisive),
                Ok(_) => {}
                Err(stop) if stop.is_stop() => return Err(stop),
                Err(first) => {
                    self.context.work(first.size())?;
                    fault.get_or_insert(first);
                }
            }
        }
        fault.map_or(Ok(!decisive), Err)
    }

    pub(super) fn equality(&mut self, left: NodeId, right: NodeId, negated: bool) -> Result<bool, Fault> {
        self.with_operands(left, right, |evaluator, left, right| match (left, right) {
            (Ok(left), Ok(right)) => evaluator.equality_of(left, right, negated),
            _ => evaluator.equality_of_errors(left, right, negated),
        })
    }

    fn equality_of(&mut self, left: &Value<'a>, right: &Value<'a>, negated: bool) -> Result<bool, Fault> {
        self.context
            .charge(ops::cost_of_equality(Some(left), Some(right), negated))?;
        match (ops::equal_by(self.context, left, right), negated) {
            (Err(stop), _) if stop.is_stop() => Err(stop),
            (Ok(equal), negated) => Ok(equal != negated),
            // Values that cannot be compared are an error for `==`, but simply not equal for `!=`.
            (Err(_), true) => Ok(true),
            (Err(fault), false) => Err(fault),
        }
    }

    /// The error of a comparison, for which both operands are evaluated, and which is charged, even if the first is an error.
    #[cold]
    fn equality_of_errors(
        &mut self,
        left: &Evaluation<'a>,
        right: &Evaluation<'a>,
        negated: bool,
    ) -> Result<bool, Fault> {
        if let Some(stop) = first_stop([left, right]) {
            return Err(stop);
        }
        let cost = ops::cost_of_equality(left.as_ref().ok(), right.as_ref().ok(), negated);
        self.context.charge(cost)?;
        // One of them is an error.
        left.clone().and(right.clone()).map(|_| negated)
    }

    pub(super) fn optional_or(&mut self, left: NodeId, right: NodeId, unwrap: bool) -> Evaluation<'a> {
        if unwrap {
            let content = self.optional_operand(left)?;
            return content.map_or_else(|| self.evaluate(right), ops::sound);
        }
        match self.evaluate(left)? {
            some @ Value::Optional(Some(_)) => Ok(some),
            Value::Optional(None) => self.evaluate(right),
            _ => Err(Fault::no_such_overload()),
        }
    }

    /// The content of an operand that has to be an optional. For an attribute no optional is allocated.
    fn optional_operand(&mut self, id: NodeId) -> Result<Option<Value<'a>>, Fault> {
        match self.program.node(id) {
            PlanNode::Attribute(attribute) if !O::ACTIVE => self.optional_content(attribute),
            _ => match self.evaluate(id)? {
                Value::Optional(content) => Ok(content.copied()),
                _ => Err(Fault::no_such_overload()),
            },
        }
    }

    /// `!operand`, which is charged even if the operand is an error.
    #[inline]
    pub(super) fn not(&mut self, operand: NodeId) -> Result<bool, Fault> {
        let result = self.truth(operand);
        if !result.as_ref().is_err_and(Fault::is_stop) {
            self.context.charge(1)?;
        }
        result.map(|value| !value)
    }

    pub(super) fn in_set(&mut self, element: NodeId, set: &ConstantSet) -> Evaluation<'a> {
        let element = self.evaluate(element)?;
        set.contains(&element).map(Value::Bool)
    }

    pub(super) fn not_strictly_false(&mut self, operand: NodeId) -> Evaluation<'a> {
        let operand = self.evaluate(operand);
        if let Some(stop) = first_stop([&operand]) {
            return Err(stop);
        }
        self.context.charge(1)?;
        Ok(Value::Bool(!matches!(operand, Ok(Value::Bool(false)))))
    }
}

/// A result that has to be a boolean.
#[inline]
pub(super) fn truth(result: Evaluation<'_>) -> Result<bool, Fault> {
    match result {
        Ok(Value::Bool(value)) => Ok(value),
        Ok(_) => Err(Fault::no_such_overload()),
        Err(fault) => Err(fault),
    }
}

/// The first error among results that ends the evaluation.
#[inline]
pub(super) fn first_stop<const N: usize>(results: [&Evaluation<'_>; N]) -> Option<Fault> {
    results
        .into_iter()
        .find_map(|result| result.as_ref().err().filter(|fault| fault.is_stop()).cloned())
}
