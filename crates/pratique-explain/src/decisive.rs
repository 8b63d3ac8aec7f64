//! The innermost expression that made an expression false, or an error.

use std::collections::BTreeMap;

use pratique_cel::Value;
use pratique_cel::ast::ExprId;
use pratique_cel::value::Evaluation;

use crate::recorder::ObservedValue;
use crate::source::{Logic, SourceExpression};

/// Finds it, for a result that is false or an error; `None` where it is the whole expression.
pub(crate) fn decisive(
    written: &SourceExpression,
    seen: &BTreeMap<ExprId, ObservedValue>,
    result: &Evaluation<'_>,
) -> Option<String> {
    let root = written.root();
    let found = match result {
        Ok(Value::Bool(false)) => truth(written, seen, false),
        Ok(_) => root,
        Err(fault) => error(written, seen, &fault.to_string()),
    };
    (found != root).then(|| written.text(found))
}

/// Follows a truth value down to what gave it.
fn truth(written: &SourceExpression, seen: &BTreeMap<ExprId, ObservedValue>, result: bool) -> ExprId {
    let is = |id: &ExprId, truth: bool| seen.get(id).is_some_and(|seen| seen.truth == Some(truth));
    let (mut at, mut wanted) = (written.root(), result);
    loop {
        let next = match (written.logic(at), wanted) {
            (Logic::And(terms), false) => terms.into_iter().find(|term| is(term, false)),
            (Logic::Or(terms), true) => terms.into_iter().find(|term| is(term, true)),
            (Logic::Not(operand), _) => {
                wanted = !wanted;
                Some(operand)
            }
            (Logic::Conditional { condition, yes, no }, _) => {
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

/// Follows an error down to what failed.
fn error(written: &SourceExpression, seen: &BTreeMap<ExprId, ObservedValue>, message: &str) -> ExprId {
    let failed = |id: &ExprId| {
        seen.get(id)
            .is_some_and(|seen| seen.error.as_deref() == Some(message))
    };
    let mut at = written.root();
    // A member of a member is one step, of which only the outermost is told: what lies between is passed through.
    while let Some(next) = written.children(at).into_iter().find(failed) {
        at = next;
    }
    at
}
