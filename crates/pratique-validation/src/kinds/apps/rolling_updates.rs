//! How workloads replace their Pods, in numbers or percentages.

use pratique_types::field::BadValue;

use crate::errors::Errors;
use crate::node::Node;

// Upstream: pkg/apis/apps/validation/validation.go, ValidatePositiveIntOrPercent
pub(crate) fn validate_int_or_percent(value: &Node<'_, '_>, errors: &mut Errors) {
    let text = value.as_text();
    if value.value().as_str().is_none() {
        if value.int() < 0 {
            errors.invalid(value, value.int(), crate::errors::NEGATIVE);
        }
    } else if percent(text).is_none() {
        errors.invalid(
            value,
            crate::errors::named(text),
            "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for \
             validation is '[0-9]+%')",
        );
    }
}

fn percent(text: &str) -> Option<i64> {
    let digits = text.strip_suffix('%')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(i64::MAX))
}

// Upstream: pkg/apis/apps/validation/validation.go, getIntOrPercentValue
pub(super) fn int_or_percent(value: &Node<'_, '_>) -> i64 {
    match value.value().as_str() {
        Some(text) => percent(text).unwrap_or_else(|| text.parse().unwrap_or(0)),
        None => value.int(),
    }
}

// Upstream: pkg/apis/apps/validation/validation.go, IsNotMoreThan100Percent
pub(crate) fn validate_at_most_all(value: &Node<'_, '_>, errors: &mut Errors) {
    if percent(value.as_text()).is_some_and(|percent| percent > 100) {
        errors.invalid(
            value,
            crate::errors::named(value.as_text()),
            "must not be greater than 100%",
        );
    }
}

/// A number or percentage as errors print it.
pub(super) fn printed<'a>(value: &Node<'_, 'a>) -> BadValue<'a> {
    match value.value().as_str() {
        Some(text) => BadValue::Named(text.into()),
        None => BadValue::Int(value.int()),
    }
}
