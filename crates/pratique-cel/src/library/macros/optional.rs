//! `optMap` and `optFlatMap`: to compute with the value of an optional where it has one.
//!
//! Upstream: github.com/google/cel-go, cel/library.go, optionalLib

use std::sync::Arc;

use super::arguments::{arguments, receiver};
use crate::ast::{Comprehension, ExprId, Literal};
use crate::parser::{Expander, Macro, MacroError};

pub(super) fn macros() -> Vec<Macro> {
    vec![
        Macro::member("optMap", 2, |macros, target, args| {
            expand(macros, target, args, "optMap", |macros, value| {
                macros.call("optional.of", &[value])
            })
        }),
        Macro::member("optFlatMap", 2, |macros, target, args| {
            expand(macros, target, args, "optFlatMap", |_, value| value)
        }),
    ]
}

/// `target.hasValue() ? wrap(bind(name, target.value(), computation)) : optional.none()`
fn expand(
    macros: &mut Expander<'_, '_>,
    target: Option<ExprId>,
    args: &[ExprId],
    macro_name: &str,
    wrap: fn(&mut Expander<'_, '_>, ExprId) -> ExprId,
) -> Result<ExprId, MacroError> {
    let [argument, computation] = arguments(macros, args)?;
    let target = receiver(macros, target)?;
    let name = macros.name(argument).ok_or_else(|| {
        let message = format!("{macro_name}() variable name must be a simple identifier");
        macros.error(argument, message)
    })?;
    let has_value = macros.member_call("hasValue", target, &[]);
    let again = macros.copy(target);
    let value = macros.member_call("value", again, &[]);
    let bound = bind(macros, name, value, computation);
    let some = wrap(macros, bound);
    let none = macros.call("optional.none", &[]);
    Ok(macros.call("_?_:_", &[has_value, some, none]))
}

/// An expression in which a name has a value: a comprehension over nothing, whose accumulator is the name.
pub(super) fn bind(macros: &mut Expander<'_, '_>, name: Arc<str>, value: ExprId, result: ExprId) -> ExprId {
    let range = macros.list(&[]);
    let condition = macros.literal(Literal::Bool(false));
    let step = macros.ident(&name);
    macros.comprehension(Comprehension {
        range,
        var: "#unused".into(),
        var2: None,
        accumulator: name,
        init: value,
        condition,
        step,
        result,
    })
}
