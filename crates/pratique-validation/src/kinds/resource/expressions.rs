//! Expressions of claims and classes, which the [caller's compiler](crate::rules::DeviceCompiler) compiles.

use super::limits::{ListLimit, validate_list};
use crate::errors::Errors;
use crate::node::Node;
use crate::open_question::OpenQuestion;
use crate::rules::Request;

const MAX_LENGTH: usize = 10 << 10;

/// What one expression may cost, and all derived attributes of a claim together.
const MAX_COST: u64 = 1_000_000;

/// The costs of the derived attributes of a claim.
#[derive(Default)]
pub(super) struct ExpressionBudget {
    cost: u64,
}

impl ExpressionBudget {
    pub(super) fn is_exceeded(&self) -> bool {
        self.cost > MAX_COST
    }
}

/// Selectors of devices; the expressions of stored ones were compiled before.
// Upstream: pkg/apis/resource/validation/validation.go, validateSelectorSlice
pub(super) fn validate_selectors(
    request: &Request<'_>,
    selectors: &Node<'_, '_>,
    are_stored: bool,
    errors: &mut Errors,
) {
    validate_list(selectors, ListLimit::Covered(32), errors, |selector, errors| {
        let cel = selector.child("cel");
        if !cel.is_set() {
            errors.required(cel, "");
        } else if !are_stored || !errors.release().at_least(1, 37) {
            // Upstream: pkg/apis/resource/validation/validation.go, validateCELExpression: before 1.37, stored ones were compiled
            // again.
            validate_expression(request, &cel.child("expression"), false, errors);
        }
    });
}

pub(super) fn validate_derived_expression(
    request: &Request<'_>,
    expression: &Node<'_, '_>,
    budget: &mut ExpressionBudget,
    errors: &mut Errors,
) {
    let cost = validate_expression(request, expression, true, errors);
    budget.cost = budget.cost.saturating_add(cost);
}

/// What the expression costs at most.
// Upstream: pkg/apis/resource/validation/validation.go, validateCELExpression
fn validate_expression(
    request: &Request<'_>,
    expression: &Node<'_, '_>,
    is_derived: bool,
    errors: &mut Errors,
) -> u64 {
    let text = expression.as_text();
    if text.len() > MAX_LENGTH {
        errors.too_long(expression, MAX_LENGTH as i64);
        return 0;
    }
    let Some(compile) = request.settings.compile_device_expression else {
        errors.leave_open(OpenQuestion::DeviceExpression);
        return 0;
    };
    match compile(request.settings.gates.feature_gates, text, is_derived) {
        Ok(cost) => {
            if cost > MAX_COST {
                errors.forbidden(expression, "too complex, exceeds cost limit");
            }
            cost
        }
        Err(detail) => {
            errors.invalid(expression, text, &detail);
            0
        }
    }
}
