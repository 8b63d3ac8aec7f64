//! The cost of calls of the standard functions.

use super::operand::{EstimatedCall, EstimatedOperand, PER_CHARACTER, below, matching};
use super::{CostEstimator, READ, extensions, kubernetes};
use crate::ast::ExprId;
use crate::checker::Reference;
use crate::cost::{CallCost, Range};

impl<'c> CostEstimator<'c> {
    pub(super) fn call(
        &mut self,
        id: ExprId,
        function: &str,
        target: Option<ExprId>,
        args: &[ExprId],
    ) -> Range {
        if let ("dyn", [only]) = (function, args) {
            let cost = self.cost(*only);
            self.copy_size(id, *only);
            return cost.plus(Range::exactly(1));
        }
        let args: Vec<_> = args.iter().map(|arg| self.operand(*arg)).collect();
        let overloads = self.overloads(id);
        if overloads.is_empty() {
            return Range::exactly(0);
        }
        let target = target.map(|target| self.operand(target));
        let target_cost = target.as_ref().map_or(Range::exactly(0), |target| target.cost);
        let mut cost = Range::NONE;
        let mut size = None;
        for overload in overloads {
            let call = EstimatedCall {
                function,
                overload: &overload,
                target: target.as_ref(),
                args: &args,
            };
            let estimate = self.overload(id, &call);
            cost = cost.or(estimate.cost);
            size = match (size, estimate.result) {
                (Some(size), Some(other)) => Some(Range::or(size, other)),
                (size, other) => size.or(other),
            };
            size = self.index(id, &call, size).or_else(|| self.size(id));
        }
        self.set_size(id, size);
        target_cost.plus(cost)
    }

    fn operand(&mut self, id: ExprId) -> EstimatedOperand<'c> {
        EstimatedOperand {
            cost: self.cost(id),
            id,
            of: self.checked.type_of(id),
            path: self.path(id),
            known: self.size(id),
        }
    }

    /// The identities of the overloads that a call may be of.
    fn overloads(&self, id: ExprId) -> Vec<std::sync::Arc<str>> {
        match self.checked.reference(id) {
            Some(Reference::Overloads(function, indices)) => indices
                .iter()
                .filter_map(|index| function.overloads.get(*index))
                .map(|overload| overload.id.clone())
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Follows the path of an element of a list or map; the size of the element, else `size`.
    fn index(&mut self, id: ExprId, call: &EstimatedCall<'_, '_>, size: Option<Range>) -> Option<Range> {
        let step = match call.overload {
            "index_list" => "@items",
            "index_map" => "@values",
            _ => return size,
        };
        let container = call.args.first()?;
        let path = below(container.path.clone(), step);
        self.set_path(id, path);
        self.entry_size(container.id).map(|entry| entry.value)
    }

    fn overload(&mut self, id: ExprId, call: &EstimatedCall<'_, '_>) -> CallCost {
        let costs = call.args.iter().map(|arg| arg.cost);
        let args = costs.fold(Range::exactly(0), Range::plus);
        let special = self
            .declared(id, call)
            .or_else(|| extensions::estimate(&self.checked.ast, call))
            .or_else(|| kubernetes::estimate(&self.checked.ast, self.sizes, call));
        match special.or_else(|| standard(call)) {
            Some(estimate) => CallCost {
                cost: estimate.cost.plus(args),
                ..estimate
            },
            None => self.operator(id, call, args),
        }
    }

    /// The estimate that a function was declared with.
    fn declared(&self, id: ExprId, call: &EstimatedCall<'_, '_>) -> Option<CallCost> {
        let Some(Reference::Overloads(function, _)) = self.checked.reference(id) else {
            return None;
        };
        let estimate = function.estimate?;
        let operands = call.target.into_iter().chain(call.args);
        let sizes: Vec<Range> = operands.map(EstimatedOperand::size).collect();
        Some(estimate(&sizes))
    }

    /// The operators that evaluate some of their operands only, or whose result has a size.
    fn operator(&mut self, id: ExprId, call: &EstimatedCall<'_, '_>, args: Range) -> CallCost {
        match (call.overload, call.args) {
            ("logical_or" | "logical_and", [left, right]) => CallCost::new(Range {
                min: left.cost.min,
                max: left.cost.plus(right.cost).max,
            }),
            ("conditional", [condition, yes, no]) => {
                self.join_entries(id, yes.id, no.id);
                CallCost::new(condition.cost.plus(yes.cost.or(no.cost))).giving(yes.size().or(no.size()))
            }
            (overload @ ("add_string" | "add_bytes" | "add_list"), [left, right]) => {
                self.join_entries(id, left.id, right.id);
                let size = left.size().plus(right.size());
                let cost = match overload {
                    "add_list" => READ,
                    _ => size.scaled(PER_CHARACTER),
                };
                CallCost::new(cost.plus(args)).giving(size)
            }
            _ => CallCost::new(Range::exactly(1).plus(args)),
        }
    }

    fn join_entries(&mut self, id: ExprId, left: ExprId, right: ExprId) {
        if let (Some(left), Some(right)) = (self.entry_size(left), self.entry_size(right)) {
            self.set_entry(id, Some(left.or(right)));
        }
    }
}

/// The standard functions that cost more the larger their operands are.
fn standard(call: &EstimatedCall<'_, '_>) -> Option<CallCost> {
    Some(match (call.overload, call.target, call.args) {
        ("string_format", Some(target), _) => CallCost::new(target.traversal()),
        ("string_to_bytes", None, [text]) => {
            let size = text.size();
            CallCost::new(text.traversal()).giving(Range::new(size.min, size.max.wrapping_mul(4)))
        }
        ("bytes_to_string", None, [bytes]) => {
            let size = bytes.size();
            CallCost::new(bytes.traversal()).giving(Range::new(size.min / 4, size.max))
        }
        ("strings_quote", None, [text]) => {
            let size = text.size();
            let result = Range::new(size.min.wrapping_add(2), size.max.wrapping_mul(2).wrapping_add(2));
            CallCost::new(text.traversal()).giving(result)
        }
        ("starts_with_string" | "ends_with_string", _, [part]) => CallCost::new(part.traversal()),
        ("in_list", None, [_, list]) => CallCost::new(list.size()),
        ("matches_string", Some(text), [pattern]) | ("matches", None, [text, pattern]) => {
            CallCost::new(matching(text, pattern))
        }
        ("contains_string", Some(text), [part]) => CallCost::new(text.traversal().times(part.traversal())),
        (overload, _, [left, right]) if compares_all(overload) => {
            let max = left.size().max.min(right.size().max);
            CallCost::new(Range::new(u64::from(max > 0), max).scaled(PER_CHARACTER))
        }
        _ => return None,
    })
}

/// Whether an overload compares operands of any size.
fn compares_all(overload: &str) -> bool {
    let relation = ["less_", "greater_"]
        .iter()
        .find_map(|relation| overload.strip_prefix(relation));
    match relation.map(|ending| ending.strip_prefix("equals_").unwrap_or(ending)) {
        Some(ending) => matches!(ending, "string" | "bytes"),
        None => matches!(overload, "equals" | "not_equals"),
    }
}
