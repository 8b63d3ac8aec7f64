//! The macros of the libraries: what they expand to.
//!
//! The expansions are part of the language as it is spoken: costs and errors are those of the expressions
//! that macros become.

mod lists;
mod optional;
mod standard;
mod two_variables;

use std::sync::Arc;

use super::Library;
use crate::ast::ExprId;
use crate::parser::{ACCUMULATOR, Expander, Macro, MacroError};

/// `has`, and the comprehensions of the CEL specification.
pub(super) fn standard() -> Library {
    of(standard::macros())
}

/// `optMap` and `optFlatMap`.
pub(super) fn optional() -> Library {
    of(optional::macros())
}

/// CEL's extension for comprehensions of two variables: `{'a': 1}.all(k, v, v > 0)`, `transformList`, `transformMap` …
pub fn two_variables() -> Library {
    Library {
        functions: vec![two_variables::map_insert()],
        ..of(two_variables::macros())
    }
}

/// `sortBy`.
pub(super) fn lists() -> Library {
    of(lists::macros())
}

fn of(macros: Vec<Macro>) -> Library {
    Library {
        macros,
        ..Library::default()
    }
}

/// The arguments of a macro; their number is the macro's own.
fn arguments<const N: usize>(macros: &Expander<'_, '_>, args: &[ExprId]) -> Result<[ExprId; N], MacroError> {
    args.try_into()
        .map_err(|_| macros.error(ExprId(0), "wrong number of arguments"))
}

/// What a macro is called on.
fn receiver(macros: &Expander<'_, '_>, target: Option<ExprId>) -> Result<ExprId, MacroError> {
    target.ok_or_else(|| macros.error(ExprId(0), "missing target"))
}

/// The name of an iteration variable, which must not hide the accumulator.
fn variable(macros: &Expander<'_, '_>, argument: ExprId, otherwise: &str) -> Result<Arc<str>, MacroError> {
    let name = macros
        .name(argument)
        .ok_or_else(|| macros.error(argument, otherwise))?;
    distinct_from_accumulator(macros, argument, &name)?;
    Ok(name)
}

fn distinct_from_accumulator(
    macros: &Expander<'_, '_>,
    argument: ExprId,
    name: &str,
) -> Result<(), MacroError> {
    match name == ACCUMULATOR || name == "__result__" {
        true => Err(macros.error(argument, "iteration variable overwrites accumulator variable")),
        false => Ok(()),
    }
}
