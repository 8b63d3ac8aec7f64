//! The innermost subexpression that made an expression false, or fail.

use std::collections::BTreeMap;

use pratique_cel::Value;
use pratique_cel::ast::ExprId;
use pratique_cel::value::Evaluation;

use crate::open_evaluation::ObservedValue;
use crate::source::{ExpressionLogic, SourceExpression};

/// Finds the decisive subexpression of a result that is false or an error; `None` if that is the whole expression.
pub(crate) fn decisive(
    source: &SourceExpression,
    observed: &BTreeMap<ExprId, ObservedValue>,
    result: &Evaluation<'_>,
) -> Option<String> {
    let root = source.root();
    let node = match result {
        Ok(Value::Bool(false)) => truth(source, observed, false),
        Ok(_) => root,
        Err(fault) => error(source, observed, &fault.to_string()),
    };
    (node != root).then(|| source.print_part(node))
}

/// Follows a truth value down to the subexpression that gave it.
fn truth(source: &SourceExpression, observed: &BTreeMap<ExprId, ObservedValue>, result: bool) -> ExprId {
    let is = |id: &ExprId, truth: bool| {
        observed
            .get(id)
            .is_some_and(|observed| observed.truth == Some(truth))
    };
    let (mut at, mut wanted) = (source.root(), result);
    loop {
        let next = match (source.logic(at), wanted) {
            (ExpressionLogic::And(terms), false) => terms.into_iter().find(|term| is(term, false)),
            (ExpressionLogic::Or(terms), true) => terms.into_iter().find(|term| is(term, true)),
            (ExpressionLogic::Not(operand), _) => {
                wanted = !wanted;
                Some(operand)
            }
            (ExpressionLogic::Conditional { condition, yes, no }, _) => {
                Some(if is(&condition, true) { yes } else { no })
            }
            _ => None,
        };
        match next {
            Some(next) => at = next,
            None => return at,
        }
    }
}

/// Follows an error down to the subexpression that failed.
fn error(source: &SourceExpression, observed: &BTreeMap<ExprId, ObservedValue>, message: &str) -> ExprId {
    let failed = |id: &ExprId| {
        observed
            .get(id)
            .is_some_and(|observed| observed.error.as_deref() == Some(message))
    };
    let mut at = source.root();
    // A chain of field selections is reported as one step; the nodes between are skipped.
    while let Some(next) = source.children(at).into_iter().find(failed) {
        at = next;
    }
    at
}
