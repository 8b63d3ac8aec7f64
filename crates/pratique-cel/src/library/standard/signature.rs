//! Short forms of the signatures of standard functions.

use crate::function::{Function, Overload};
use crate::types::Type;

/// The overload `function(params…)`.
pub(super) fn global(id: &str, params: &[Type], result: Type) -> Overload {
    Overload::new(id, false, params, result)
}

/// The overload `params[0].function(params[1..]…)`.
pub(super) fn member(id: &str, params: &[Type], result: Type) -> Overload {
    Overload::new(id, true, params, result)
}

/// A function named as an operator whose operands and result have one type, once for each type:
/// `add_int64` and its like.
pub(super) fn closed(name: &str, operand_count: usize, ids: &[(&str, Type)]) -> Function {
    ids.iter().fold(Function::new(name), |function, (id, of)| {
        function.with(global(id, &vec![of.clone(); operand_count], of.clone()))
    })
}
