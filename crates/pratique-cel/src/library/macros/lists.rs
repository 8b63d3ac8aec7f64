//! `sortBy`: sorts a list by keys that are computed from its elements.

use std::sync::Arc;

use super::arguments::{arguments, receiver};
use super::optional::bind;
use super::standard::map;
use crate::ast::{Expr, ExprId};
use crate::parser::{Expander, Macro, MacroError};

pub(super) fn macros() -> Vec<Macro> {
    vec![Macro::member("sortBy", 2, sort_by)]
}

/// `bind(input, target, input.@sortByAssociatedKeys(input.map(variable, key)))`
fn sort_by(
    macros: &mut Expander<'_, '_>,
    target: Option<ExprId>,
    args: &[ExprId],
) -> Result<ExprId, MacroError> {
    let [variable, key] = arguments(macros, args)?;
    let target = receiver(macros, target)?;
    if !can_be_sorted(macros.expr(target)) {
        let message =
            "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
        return Err(macros.error(target, message));
    }
    let input: Arc<str> = "@__sortBy_input__".into();
    let range = macros.ident(&input);
    let keys = map(macros, range, variable, None, key)?;
    let list = macros.ident(&input);
    let sorted = macros.member_call("@sortByAssociatedKeys", list, &[keys]);
    Ok(bind(macros, input, target, sorted))
}

fn can_be_sorted(target: Option<&Expr>) -> bool {
    matches!(
        target,
        Some(
            Expr::List { .. }
                | Expr::Select { .. }
                | Expr::Ident(_)
                | Expr::Comprehension(_)
                | Expr::Call { .. }
        )
    )
}
