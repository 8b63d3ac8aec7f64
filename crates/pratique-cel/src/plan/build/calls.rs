//! Planning calls: operators become nodes, other functions are bound to their implementation, and conversions of
//! constants are computed.

use std::sync::Arc;

use pratique_gotext::regexp::Regex;

use super::ExpressionPlanner;
use crate::arena::Arena;
use crate::ast::{Expr, ExprId};
use crate::checker::Reference;
use crate::constant::Constant;
use crate::context::Context;
use crate::error::PlanError;
use crate::function::{Function, Intrinsic, Overload};
use crate::ops;
use crate::plan::guard::guards;
use crate::plan::node::{CallTarget, GuardedImplementation, NodeId, PlanNode, PlannedCall, PlannedCost};
use crate::plan::set::ConstantSet;
use crate::value::Value;

impl ExpressionPlanner<'_> {
    pub(super) fn plan_call(
        &mut self,
        id: ExprId,
        function: &Arc<str>,
        target: Option<ExprId>,
        args: &[ExprId],
    ) -> Result<NodeId, PlanError> {
        if let "_&&_" | "_||_" = &**function {
            return self.plan_logical(id, function);
        }
        let mut arguments = Vec::with_capacity(args.len() + 1);
        for argument in target.iter().chain(args) {
            arguments.push(self.plan(*argument)?);
        }
        match (&**function, &*arguments) {
            ("_?_:_", &[condition, yes, no]) => Ok(self.plan_conditional(id, condition, yes, no)),
            ("_==_" | "_!=_", &[left, right]) => {
                let negated = &**function == "_!=_";
                Ok(self.add(id, PlanNode::Equality { left, right, negated }))
            }
            ("_[_]", &[operand, key]) => self.plan_index(id, operand, key, false),
            ("_?._" | "_[?_]", &[operand, key]) => self.plan_index(id, operand, key, true),
            ("or" | "orValue", &[left, right]) => {
                let unwrap = &**function == "orValue";
                Ok(self.add(id, PlanNode::OptionalOr { left, right, unwrap }))
            }
            ("@not_strictly_false", &[operand]) => Ok(self.add(id, PlanNode::NotStrictlyFalse(operand))),
            _ => self.plan_function(id, function, arguments.into()),
        }
    }

    /// A chain of `&&` or of `||` becomes one node, however the parser balanced it.
    fn plan_logical(&mut self, id: ExprId, function: &Arc<str>) -> Result<NodeId, PlanError> {
        let mut terms = Vec::new();
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            match self.checked.ast.expr(id) {
                Expr::Call {
                    function: inner,
                    args,
                    ..
                } if inner == function => pending.extend(args.iter().rev()),
                _ => terms.push(self.plan(id)?),
            }
        }
        let terms = terms.into();
        Ok(self.add(
            id,
            match &**function {
                "_&&_" => PlanNode::And(terms),
                _ => PlanNode::Or(terms),
            },
        ))
    }

    fn plan_conditional(&mut self, id: ExprId, condition: NodeId, yes: NodeId, no: NodeId) -> NodeId {
        self.mark_inner(yes);
        self.mark_inner(no);
        self.add(id, PlanNode::Conditional { condition, yes, no })
    }

    fn plan_function(
        &mut self,
        id: ExprId,
        name: &Arc<str>,
        arguments: Box<[NodeId]>,
    ) -> Result<NodeId, PlanError> {
        let Some(Reference::Overloads(function, fitting)) = self.checked.reference(id) else {
            return Err(PlanError::NoSuchOverload(name.clone()));
        };
        let overload = match **fitting {
            [only] => function.overloads.get(only),
            _ => None,
        };
        if let Some(node) = self.plan_membership(overload, &arguments) {
            return Ok(self.add(id, node));
        }
        let mut call = self.call(function, overload, arguments)?;
        if let Some(made) = self.made(overload, &call) {
            call.target = made;
        }
        let node = match (self.computed(&call)?, function.intrinsic) {
            (Some(constant), _) => PlanNode::Constant(constant),
            (None, Some(intrinsic)) => plan_intrinsic(intrinsic, call),
            (None, None) => PlanNode::Call(Box::new(call)),
        };
        Ok(self.add(id, node))
    }

    /// `x in [constants]` is a lookup in a set. For an empty list it is false, even if the element is an error.
    fn plan_membership(&self, overload: Option<&Overload>, arguments: &[NodeId]) -> Option<PlanNode> {
        let &[element, list] = arguments else {
            return None;
        };
        let Constant::List(constants) = self.constant(list)? else {
            return None;
        };
        if overload.is_none_or(|overload| *overload.id != *"in_list") {
            return None;
        }
        if constants.is_empty() {
            return Some(PlanNode::Constant(Constant::Bool(false)));
        }
        let set = Box::new(ConstantSet::new(constants)?);
        Some(PlanNode::InSet { element, set })
    }

    fn call(
        &self,
        function: &Arc<Function>,
        overload: Option<&Overload>,
        arguments: Box<[NodeId]>,
    ) -> Result<PlannedCall, PlanError> {
        let target = match self.pattern_target(function, &arguments)? {
            Some(target) => target,
            None => target(function, overload),
        };
        let sequential = arguments.len() > 2
            || matches!(target, CallTarget::Dispatch(_) | CallTarget::Pattern { .. })
            || overload.is_some_and(|overload| overload.sequential);
        let cost = match overload.and_then(|overload| Some((overload.cost?, overload.cost_needs))) {
            Some((cost, Some((index, need)))) => PlannedCost::Needing(index, need, cost),
            Some((cost, None)) => PlannedCost::By(cost),
            None if function.traverses => PlannedCost::Walk,
            None => function.cost.map_or(PlannedCost::One, PlannedCost::By),
        };
        Ok(PlannedCall {
            name: function.name.clone(),
            arguments,
            target,
            cost,
            sequential,
        })
    }

    /// Compiles a constant pattern. An invalid one is an error of planning where literals are checked, and of the call elsewhere.
    fn pattern_target(
        &self,
        function: &Function,
        arguments: &[NodeId],
    ) -> Result<Option<CallTarget>, PlanError> {
        let pattern = arguments.get(1).and_then(|pattern| self.constant(*pattern));
        match (function.with_pattern, pattern) {
            (Some(call), Some(Constant::String(pattern))) => match Regex::new(pattern) {
                Ok(regex) => {
                    let (regex, size) = (Box::new(regex), ops::characters(pattern) as u64);
                    Ok(Some(CallTarget::Pattern { call, regex, size }))
                }
                Err(error) if self.environment.checks_literals() => {
                    Err(PlanError::Pattern(error.to_string().into()))
                }
                Err(_) => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// The value that a function returns for a constant string, and what each call costs.
    fn made(&self, overload: Option<&Overload>, call: &PlannedCall) -> Option<CallTarget> {
        let &[argument] = &*call.arguments else {
            return None;
        };
        let Constant::String(text) = self.constant(argument)? else {
            return None;
        };
        let value = overload?.with_text?(text)?;
        let arena = Arena::new();
        let cost = match call.cost {
            PlannedCost::One => 1,
            PlannedCost::By(cost) => cost(&[Value::String(text)], Some(&value.copy(&arena))),
            PlannedCost::Walk | PlannedCost::Needing(..) => return None,
        };
        Some(CallTarget::Made { value, cost })
    }

    /// The result of converting a constant. An error is one of planning where literals are checked.
    fn computed(&self, call: &PlannedCall) -> Result<Option<Constant>, PlanError> {
        let &[argument] = &*call.arguments else {
            return Ok(None);
        };
        let Some(constant) = self.constant(argument).filter(|_| is_conversion(&call.name)) else {
            return Ok(None);
        };
        let arena = Arena::new();
        let context = Context::new(&arena, u64::MAX);
        match call.run(&context, &[constant.value()]) {
            Ok(value) => Ok(Constant::from_value(&value)),
            Err(fault) if self.environment.checks_literals() => Err(PlanError::Conversion(fault)),
            Err(_) => Ok(None),
        }
    }
}

/// The implementation of the overload that the checker chose, or all to choose from at run time.
fn target(function: &Function, overload: Option<&Overload>) -> CallTarget {
    let direct = |overload: &Overload| {
        Some(CallTarget::Direct {
            implementation: overload.implementation.clone()?,
            guards: guards(&overload.params),
        })
    };
    if let Some(implementation) = function.singleton.clone() {
        let guards = Arc::default();
        return CallTarget::Direct {
            implementation,
            guards,
        };
    }
    if let Some(target) = overload.and_then(direct) {
        return target;
    }
    let mut implemented = function
        .overloads
        .iter()
        .filter(|overload| overload.implementation.is_some());
    match (implemented.next(), implemented.next()) {
        (None, _) => CallTarget::Missing,
        (Some(only), None) => direct(only).unwrap_or(CallTarget::Missing),
        _ => CallTarget::Dispatch(candidates(function)),
    }
}

fn candidates(function: &Function) -> Box<[GuardedImplementation]> {
    let candidate = |overload: &Overload| Some((overload.params.clone(), overload.implementation.clone()?));
    function.overloads.iter().filter_map(candidate).collect()
}

/// The node of a call of a function that the evaluator computes itself, unless the call has another cost than it charges.
fn plan_intrinsic(intrinsic: Intrinsic, call: PlannedCall) -> PlanNode {
    match (intrinsic, &*call.arguments) {
        (Intrinsic::Not, &[operand]) => PlanNode::Not(operand),
        (Intrinsic::Matches, [_, _])
            if matches!(
                (&call.target, call.cost),
                (CallTarget::Pattern { .. }, PlannedCost::By(_))
            ) =>
        {
            PlanNode::Matches(Box::new(call))
        }
        (intrinsic, [_, _]) if !call.sequential && has_cost_of(intrinsic, call.cost) => {
            PlanNode::Intrinsic(intrinsic, Box::new(call))
        }
        _ => PlanNode::Call(Box::new(call)),
    }
}

fn has_cost_of(intrinsic: Intrinsic, cost: PlannedCost) -> bool {
    match intrinsic {
        Intrinsic::StartsWith | Intrinsic::EndsWith | Intrinsic::Contains => {
            matches!(cost, PlannedCost::By(_))
        }
        Intrinsic::In => matches!(cost, PlannedCost::One),
        Intrinsic::Not | Intrinsic::Matches => false,
        // To compare integers costs 1, even where strings were expected.
        Intrinsic::Less | Intrinsic::LessOrEqual | Intrinsic::Greater | Intrinsic::GreaterOrEqual => true,
    }
}

fn is_conversion(function: &str) -> bool {
    matches!(
        function,
        "bool" | "bytes" | "double" | "duration" | "dyn" | "int" | "string" | "timestamp" | "type" | "uint"
    )
}
