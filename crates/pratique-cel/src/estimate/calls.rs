//! The cost of calls of the standard functions.

use super::{Estimator, Path, READ, Range, extensions, kubernetes};
use crate::ast::ExprId;
use crate::checker::Reference;
use crate::types::Type;

/// What is known of an operand of a call.
#[derive(Clone)]
pub(super) struct Operand<'c> {
    pub(super) id: ExprId,
    pub(super) of: &'c Type,
    pub(super) path: Path,
    pub(super) known: Option<Range>,
    pub(super) cost: Range,
}

/// A call by one of the overloads that it may be of.
pub(super) struct Call<'o, 'c> {
    pub(super) function: &'o str,
    pub(super) overload: &'o str,
    pub(super) target: Option<&'o Operand<'c>>,
    pub(super) args: &'o [Operand<'c>],
}

/// What a call may cost, and the size of its result where that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallCost {
    /// The cost of the call, without that of its arguments.
    pub cost: Range,
    /// The size of the result.
    pub result: Option<Range>,
}

/// What a call may cost from the sizes of its arguments, a receiver's first; [`Range::UNKNOWN`] where nothing is known.
pub type EstimateFn = fn(sizes: &[Range]) -> CallCost;

/// What traversing a string costs for each of its characters.
pub(super) const PER_CHARACTER: f64 = 0.1;
/// What matching a pattern costs for each of its characters, times the cost of traversing the text.
pub(super) const PER_PATTERN_CHARACTER: f64 = 0.25;

impl Operand<'_> {
    pub(super) fn size(&self) -> Range {
        self.known.unwrap_or(Range::UNKNOWN)
    }

    /// The cost of traversing it as a string.
    pub(super) fn traversal(&self) -> Range {
        self.size().scaled(PER_CHARACTER)
    }
}

impl CallCost {
    /// A cost, of a call whose result has any size.
    pub fn new(cost: Range) -> Self {
        CallCost { cost, result: None }
    }

    /// The same cost, with the size of the result.
    pub fn giving(self, size: Range) -> Self {
        CallCost {
            result: Some(size),
            ..self
        }
    }
}

impl<'c> Estimator<'c> {
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
        let before = target.as_ref().map_or(Range::exactly(0), |target| target.cost);
        let mut cost = Range::NONE;
        let mut size = None;
        for overload in overloads {
            let call = Call {
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
        before.plus(cost)
    }

    fn operand(&mut self, id: ExprId) -> Operand<'c> {
        Operand {
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
    fn index(&mut self, id: ExprId, call: &Call<'_, '_>, size: Option<Range>) -> Option<Range> {
        let step = match call.overload {
            "index_list" => "@items",
            "index_map" => "@values",
            _ => return size,
        };
        let container = call.args.first()?;
        let path = super::below(container.path.clone(), step);
        self.set_path(id, path);
        self.entry_size(container.id).map(|entry| entry.value)
    }

    fn overload(&mut self, id: ExprId, call: &Call<'_, '_>) -> CallCost {
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
    fn declared(&self, id: ExprId, call: &Call<'_, '_>) -> Option<CallCost> {
        let Some(Reference::Overloads(function, _)) = self.checked.reference(id) else {
            return None;
        };
        let estimate = function.estimate?;
        let operands = call.target.into_iter().chain(call.args);
        let sizes: Vec<Range> = operands.map(Operand::size).collect();
        Some(estimate(&sizes))
    }

    /// The operators that evaluate some of their operands only, or whose result has a size.
    fn operator(&mut self, id: ExprId, call: &Call<'_, '_>, args: Range) -> CallCost {
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
fn standard(call: &Call<'_, '_>) -> Option<CallCost> {
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

/// The cost of matching a text with a pattern; an empty text counts as one character.
pub(super) fn matching(text: &Operand<'_>, pattern: &Operand<'_>) -> Range {
    let text = text.size().plus(Range::exactly(1)).scaled(PER_CHARACTER);
    text.times(pattern.size().scaled(PER_PATTERN_CHARACTER))
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
