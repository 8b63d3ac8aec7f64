//! `has`, and the comprehensions of the CEL specification.
//!
//! Upstream: github.com/google/cel-go, parser/macro.go

use std::sync::Arc;

use super::arguments::{arguments, receiver, variable};
use crate::ast::{Comprehension, Expr, ExprId, Literal};
use crate::parser::{Expander, Macro, MacroError, MacroExpansion};

pub(super) fn macros() -> Vec<Macro> {
    let all: MacroExpansion = |macros, target, args| quantifier(macros, target, args, fold_all);
    let exists: MacroExpansion = |macros, target, args| quantifier(macros, target, args, fold_exists);
    let exists_one: MacroExpansion = |macros, target, args| quantifier(macros, target, args, fold_exists_one);
    vec![
        Macro::global("has", 1, has),
        Macro::member("all", 2, all),
        Macro::member("exists", 2, exists),
        Macro::member("exists_one", 2, exists_one),
        Macro::member("map", 2, |macros, target, args| {
            let [variable, transform] = arguments(macros, args)?;
            map(macros, receiver(macros, target)?, variable, None, transform)
        }),
        Macro::member("map", 3, |macros, target, args| {
            let [variable, filter, transform] = arguments(macros, args)?;
            let range = receiver(macros, target)?;
            map(macros, range, variable, Some(filter), transform)
        }),
        Macro::member("filter", 2, |macros, target, args| {
            let [variable, filter] = arguments(macros, args)?;
            let range = receiver(macros, target)?;
            map(macros, range, variable, Some(filter), variable)
        }),
    ]
}

/// `has(operand.field)`
fn has(macros: &mut Expander<'_, '_>, _: Option<ExprId>, args: &[ExprId]) -> Result<ExprId, MacroError> {
    let [argument] = arguments(macros, args)?;
    match macros.expr(argument) {
        // A presence test is a selection, too: `has(has(a.b))` is `has(a.b)`.
        Some(Expr::Select { operand, field, .. }) => {
            let (operand, field) = (*operand, field.clone());
            Ok(macros.presence(operand, &field))
        }
        _ => Err(macros.error(argument, "invalid argument to has() macro")),
    }
}

/// How a quantifier gathers its answer.
pub(super) struct QuantifierFold {
    pub(super) init: ExprId,
    pub(super) condition: ExprId,
    pub(super) step: ExprId,
    pub(super) result: ExprId,
}

impl QuantifierFold {
    /// One whose result is the accumulator.
    pub(super) fn gathering(
        macros: &mut Expander<'_, '_>,
        init: ExprId,
        condition: ExprId,
        step: ExprId,
    ) -> Self {
        QuantifierFold {
            init,
            condition,
            step,
            result: macros.accumulator(),
        }
    }
}

/// `range.all(variable, predicate)` and its like.
fn quantifier(
    macros: &mut Expander<'_, '_>,
    target: Option<ExprId>,
    args: &[ExprId],
    fold: fn(&mut Expander<'_, '_>, ExprId) -> QuantifierFold,
) -> Result<ExprId, MacroError> {
    let [argument, predicate] = arguments(macros, args)?;
    let range = receiver(macros, target)?;
    let variable = variable(macros, argument, "argument must be a simple name")?;
    let fold = fold(macros, predicate);
    Ok(comprehension(macros, range, variable, None, fold))
}

/// A comprehension that gathers in the usual accumulator.
pub(super) fn comprehension(
    macros: &mut Expander<'_, '_>,
    range: ExprId,
    var: Arc<str>,
    var2: Option<Arc<str>>,
    fold: QuantifierFold,
) -> ExprId {
    let accumulator = macros.accumulator_name();
    macros.comprehension(Comprehension {
        range,
        var,
        var2,
        accumulator,
        init: fold.init,
        condition: fold.condition,
        step: fold.step,
        result: fold.result,
    })
}

/// True until the predicate is false.
pub(super) fn fold_all(macros: &mut Expander<'_, '_>, predicate: ExprId) -> QuantifierFold {
    let init = macros.literal(Literal::Bool(true));
    let so_far = macros.accumulator();
    let condition = macros.call("@not_strictly_false", &[so_far]);
    let so_far = macros.accumulator();
    let step = macros.call("_&&_", &[so_far, predicate]);
    QuantifierFold::gathering(macros, init, condition, step)
}

/// False until the predicate is true.
pub(super) fn fold_exists(macros: &mut Expander<'_, '_>, predicate: ExprId) -> QuantifierFold {
    let init = macros.literal(Literal::Bool(false));
    let so_far = macros.accumulator();
    let negated = macros.call("!_", &[so_far]);
    let condition = macros.call("@not_strictly_false", &[negated]);
    let so_far = macros.accumulator();
    let step = macros.call("_||_", &[so_far, predicate]);
    QuantifierFold::gathering(macros, init, condition, step)
}

/// Whether the predicate is true once, and only once.
pub(super) fn fold_exists_one(macros: &mut Expander<'_, '_>, predicate: ExprId) -> QuantifierFold {
    let init = macros.literal(Literal::Int(0));
    let condition = macros.literal(Literal::Bool(true));
    let (count, one) = (macros.accumulator(), macros.literal(Literal::Int(1)));
    let counted = macros.call("_+_", &[count, one]);
    let count = macros.accumulator();
    let step = macros.call("_?_:_", &[predicate, counted, count]);
    let (count, one) = (macros.accumulator(), macros.literal(Literal::Int(1)));
    let result = macros.call("_==_", &[count, one]);
    QuantifierFold {
        init,
        condition,
        step,
        result,
    }
}

/// Appends an element to the list so far, where the filter lets it.
pub(super) fn gather(
    macros: &mut Expander<'_, '_>,
    filter: Option<ExprId>,
    element: ExprId,
) -> QuantifierFold {
    let init = macros.list(&[]);
    let condition = macros.literal(Literal::Bool(true));
    let (so_far, more) = (macros.accumulator(), macros.list(&[element]));
    let step = macros.call("_+_", &[so_far, more]);
    let step = filtered(macros, filter, step);
    QuantifierFold::gathering(macros, init, condition, step)
}

/// A step that is taken only where the filter is true.
pub(super) fn filtered(macros: &mut Expander<'_, '_>, filter: Option<ExprId>, step: ExprId) -> ExprId {
    match filter {
        None => step,
        Some(filter) => {
            let unchanged = macros.accumulator();
            macros.call("_?_:_", &[filter, step, unchanged])
        }
    }
}

/// `range.map(variable, transform)`, with or without a filter; `filter` is the one that transforms nothing.
pub(super) fn map(
    macros: &mut Expander<'_, '_>,
    range: ExprId,
    argument: ExprId,
    filter: Option<ExprId>,
    transform: ExprId,
) -> Result<ExprId, MacroError> {
    let variable = variable(macros, argument, "argument is not an identifier")?;
    let fold = gather(macros, filter, transform);
    Ok(comprehension(macros, range, variable, None, fold))
}
