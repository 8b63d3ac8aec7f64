//! Calls.

use super::PlanEvaluator;
use super::logic::{first_stop, truth};
use crate::context::Context;
use crate::cost;
use crate::error::Fault;
use crate::function::Intrinsic;
use crate::ops;
use crate::plan::guard::accept_all;
use crate::plan::node::{CallTarget, NodeId, PlannedCall, PlannedCost};
use crate::plan::observe::EvaluationObserver;
use crate::types::Type;
use crate::value::{Evaluation, Value};

/// How many arguments are kept on the stack.
const INLINE_ARGUMENTS: usize = 4;

impl<'a, O: EvaluationObserver> PlanEvaluator<'_, 'a, O> {
    pub(super) fn call(&mut self, call: &'a PlannedCall) -> Evaluation<'a> {
        if let CallTarget::Made { value, cost } = &call.target
            && !O::ACTIVE
        {
            self.context.charge(*cost)?;
            return Ok(value.copy(self.context.arena));
        }
        match *call.arguments {
            [] => self.finish(call, &[]),
            [only] => match self.operand(only) {
                Ok(value) => self.finish(call, &[value]),
                Err(fault) => self.charge_failed(call, fault, &[Value::Null], 1),
            },
            [left, right] if !call.sequential => self.call_two(call, left, right),
            _ => self.call_many(call),
        }
    }

    /// A call of a function that the evaluator computes itself if the operands have the usual types.
    pub(super) fn intrinsic(&mut self, intrinsic: Intrinsic, call: &'a PlannedCall) -> Result<bool, Fault> {
        let &[left, right] = &*call.arguments else {
            return truth(self.call(call));
        };
        self.with_operands(left, right, |evaluator, left, right| {
            if let (Ok(left), Ok(right)) = (left, right)
                && let Some((result, cost)) = intrinsic.apply(left, right)
            {
                evaluator.context.work(cost.saturating_mul(10))?;
                evaluator.context.charge(cost)?;
                return Ok(result);
            }
            truth(evaluator.finish_two(call, left, right))
        })
    }

    /// A match with a constant pattern.
    pub(super) fn matches(&mut self, call: &'a PlannedCall) -> Result<bool, Fault> {
        let (CallTarget::Pattern { regex, size, .. }, &[text, pattern]) = (&call.target, &*call.arguments)
        else {
            return truth(self.call(call));
        };
        match self.operand(text)? {
            Value::String(text) => {
                let is_match = regex.try_is_match(text, self.context)?;
                let cost = ops::cost_of_match(ops::characters(text) as u64, *size);
                self.context.charge(cost)?;
                Ok(is_match)
            }
            other => {
                let pattern = self.operand(pattern)?;
                truth(self.finish(call, &[other, pattern]))
            }
        }
    }

    /// Both arguments are evaluated, even if the first is an error, unless errors end calls.
    fn call_two(&mut self, call: &'a PlannedCall, left: NodeId, right: NodeId) -> Evaluation<'a> {
        self.with_operands(left, right, |evaluator, left, right| {
            evaluator.finish_two(call, left, right)
        })
    }

    /// Evaluates two operands, and gives their results where they lie, as they are large to move. The second is not
    /// evaluated if the first ends the evaluation; if it ends the call, its error is that of both.
    #[inline(always)]
    pub(super) fn with_operands<T>(
        &mut self,
        left: NodeId,
        right: NodeId,
        give: impl FnOnce(&mut Self, &Evaluation<'a>, &Evaluation<'a>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let left = self.operand(left);
        if let Err(fault) = &left {
            if fault.is_stop() {
                return Err(fault.clone());
            }
            if self.ends_calls_at_errors() {
                return give(self, &left, &left);
            }
        }
        let right = self.operand(right);
        give(self, &left, &right)
    }

    fn finish_two(
        &mut self,
        call: &'a PlannedCall,
        left: &Evaluation<'a>,
        right: &Evaluation<'a>,
    ) -> Evaluation<'a> {
        match (left, right) {
            (Ok(left), Ok(right)) => self.finish(call, &[*left, *right]),
            _ => {
                if let Some(stop) = first_stop([left, right]) {
                    return Err(stop);
                }
                let failed = u64::from(left.is_err()) | u64::from(right.is_err()) << 1;
                let known = |result: &Evaluation<'a>| *result.as_ref().unwrap_or(&Value::Null);
                let arguments = [known(left), known(right)];
                match left.clone().and(right.clone()) {
                    Err(fault) => self.charge_failed(call, fault, &arguments, failed),
                    Ok(value) => Ok(value),
                }
            }
        }
    }

    /// Arguments are evaluated up to the first error.
    fn call_many(&mut self, call: &'a PlannedCall) -> Evaluation<'a> {
        let mut inline = [Value::Null; INLINE_ARGUMENTS];
        let count = call.arguments.len();
        let arguments = match inline.get_mut(..count) {
            Some(arguments) => arguments,
            None => self.context.arena.filled(count, Value::Null),
        };
        for (index, (argument, place)) in call.arguments.iter().zip(arguments.iter_mut()).enumerate() {
            match self.evaluate(*argument) {
                Ok(value) => *place = value,
                // The reference charges a call of which all arguments have been evaluated.
                Err(fault) if index + 1 == count => {
                    let failed = u32::try_from(index)
                        .ok()
                        .and_then(|index| 1_u64.checked_shl(index));
                    return self.charge_failed(call, fault, arguments, failed.unwrap_or(0));
                }
                Err(fault) => return Err(fault),
            }
        }
        self.finish(call, arguments)
    }

    #[inline]
    fn finish(&mut self, call: &'a PlannedCall, arguments: &[Value<'a>]) -> Evaluation<'a> {
        let weight = arguments.iter().map(weight).fold(0, u64::saturating_add);
        self.context.work(weight)?;
        let result = call.run(self.context, arguments);
        match call.cost {
            PlannedCost::One if result.is_ok() => self.context.charge(1)?,
            _ => self.charge_call(call, arguments, 0, &result)?,
        }
        result
    }

    /// Charges a call that is not made because arguments are errors, whose bits are set in `failed`, unless errors end calls.
    #[cold]
    fn charge_failed(
        &mut self,
        call: &'a PlannedCall,
        fault: Fault,
        arguments: &[Value<'a>],
        failed: u64,
    ) -> Evaluation<'a> {
        let result = Err(fault);
        if !self.ends_calls_at_errors() {
            self.charge_call(call, arguments, failed, &result)?;
        }
        result
    }

    fn charge_call(
        &mut self,
        call: &PlannedCall,
        arguments: &[Value<'a>],
        failed: u64,
        result: &Evaluation<'a>,
    ) -> Result<(), Fault> {
        if let Some(stop) = first_stop([result]) {
            return Err(stop);
        }
        let result = result.as_ref().ok();
        let cost = match call.cost {
            PlannedCost::One => 1,
            PlannedCost::By(cost) => cost(arguments, result),
            PlannedCost::Walk => cost::walk(self.context, arguments.first())?,
            PlannedCost::Needing(index, need, cost) => {
                let argument = arguments.get(index).filter(|_| failed >> index & 1 == 0);
                if let Some(fault) = ops::unmet_need(need, argument) {
                    return Err(fault);
                }
                cost(arguments, result)
            }
        };
        self.context.charge(cost)
    }
}

impl PlannedCall {
    /// Calls the implementation, if the arguments have the types that it takes.
    #[inline]
    pub(in crate::plan) fn run<'a>(&self, context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
        match &self.target {
            CallTarget::Direct {
                implementation,
                guards,
            } if accept_all(guards, arguments) => implementation.call(context, arguments),
            CallTarget::Dispatch(candidates) => {
                let fits = |guards: &[Type]| guards.len() == arguments.len() && accept_all(guards, arguments);
                match candidates.iter().find(|(guards, _)| fits(guards)) {
                    Some((_, implementation)) => implementation.call(context, arguments),
                    None => Err(self.unknown(arguments)),
                }
            }
            CallTarget::Pattern { call, regex, .. } => match arguments.first() {
                Some(Value::Optional(_) | Value::Type(_)) => {
                    let native: Vec<Value<'a>> = arguments.iter().map(native).collect();
                    call(context, regex, &native)
                }
                _ => call(context, regex, arguments),
            },
            CallTarget::Made { value, .. } => Ok(value.copy(context.arena)),
            CallTarget::Direct { .. } => Err(self.unknown(arguments)),
            CallTarget::Missing => Err(match arguments.first() {
                Some(first) => ops::unknown_operands(&self.name, first),
                None => Fault::no_such_overload(),
            }),
        }
    }

    #[cold]
    fn unknown(&self, arguments: &[Value<'_>]) -> Fault {
        let types: Vec<&str> = arguments.iter().map(Value::type_name).collect();
        Fault::error(format!("no such overload: {}({})", self.name, types.join(", ")))
    }
}

/// The work of going through an argument once. Functions that look into its members account for that themselves.
#[inline]
fn weight(argument: &Value<'_>) -> u64 {
    match argument {
        Value::String(text) => text.len() as u64,
        Value::Bytes(bytes) => bytes.len() as u64,
        Value::List(list) => (list.len() as u64).saturating_mul(8),
        Value::Map(map) => (map.len() as u64).saturating_mul(8),
        Value::Optional(Some(inner)) => weight(inner),
        // Numbers of many digits take long to be added or compared.
        Value::Opaque(opaque) => (opaque.owned_bytes() as u64).saturating_mul(64),
        _ => 1,
    }
}

/// An argument as functions with a constant pattern see it: the reference converts it to a native value, so that an optional is
/// its content and a type its name.
fn native<'a>(value: &Value<'a>) -> Value<'a> {
    match value {
        Value::Optional(Some(inner)) => native(inner),
        Value::Type(name) => Value::String(name),
        other => *other,
    }
}
