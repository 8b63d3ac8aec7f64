//! Receivers, arguments and iteration variables of macros.

use std::sync::Arc;

use crate::ast::ExprId;
use crate::parser::{ACCUMULATOR, Expander, MacroError};

/// The arguments of a macro; the parser has counted them.
pub(super) fn arguments<const N: usize>(
    macros: &Expander<'_, '_>,
    args: &[ExprId],
) -> Result<[ExprId; N], MacroError> {
    args.try_into()
        .map_err(|_| macros.error(ExprId(0), "wrong number of arguments"))
}

/// The receiver of a macro call.
pub(super) fn receiver(macros: &Expander<'_, '_>, target: Option<ExprId>) -> Result<ExprId, MacroError> {
    target.ok_or_else(|| macros.error(ExprId(0), "missing target"))
}

/// The name of an iteration variable, which must not hide the accumulator.
pub(super) fn variable(
    macros: &Expander<'_, '_>,
    argument: ExprId,
    otherwise: &str,
) -> Result<Arc<str>, MacroError> {
    let name = macros
        .name(argument)
        .ok_or_else(|| macros.error(argument, otherwise))?;
    distinct_from_accumulator(macros, argument, &name)?;
    Ok(name)
}

pub(super) fn distinct_from_accumulator(
    macros: &Expander<'_, '_>,
    argument: ExprId,
    name: &str,
) -> Result<(), MacroError> {
    if name == ACCUMULATOR || name == "__result__" {
        Err(macros.error(argument, "iteration variable overwrites accumulator variable"))
    } else {
        Ok(())
    }
}
