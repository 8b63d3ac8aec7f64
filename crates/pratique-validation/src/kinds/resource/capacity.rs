//! The capacity of devices, and how much of it a claim can ask for.

use pratique_gotext::quantity::Quantity;

use super::limits::{ListLimit, validate_list, validate_map};
use super::names::{MAX_QUALIFIED_NAME, validate_qualified_name};
use crate::errors::{Errors, NEGATIVE};
use crate::node::Node;
use crate::quantities::{has_fraction, quantity};

// Upstream: pkg/apis/resource/validation/validation.go, validateMultiAllocatableDeviceCapacity, validateSingleAllocatableDeviceCapacity
pub(super) fn validate_policy(capacity: &Node<'_, '_>, is_shared: bool, errors: &mut Errors) {
    let policy = capacity.child("requestPolicy");
    if !policy.is_set() {
        return;
    }
    if !is_shared {
        errors.forbidden(policy, "allowMultipleAllocations must be true");
        return;
    }
    let (values, range, default) = (
        policy.child("validValues"),
        policy.child("validRange"),
        policy.child("default"),
    );
    let whole = capacity.child("value");
    match (!values.is_empty(), range.is_set()) {
        (true, true) => errors.forbidden(
            policy,
            "exactly one policy can be specified, cannot specify \"validValues\" and \"validRange\" at the same time",
        ),
        (true, false) if default.is_set() => validate_values(&values, &default, &whole, errors),
        (false, true) if default.is_set() => validate_range(&range, &default, &whole, errors),
        (true, false) => errors.required(default, "required when validValues is defined"),
        (false, true) => errors.required(default, "required when validRange is defined"),
        (false, false) => {}
    }
}

/// The names of capacities, whose amounts declarative rules validate.
// Upstream: pkg/apis/resource/validation/validation.go, validateCapacityNames
pub(super) fn validate_capacity_names(capacity: &Node<'_, '_>, errors: &mut Errors) {
    validate_map(
        capacity,
        MAX_QUALIFIED_NAME,
        errors,
        validate_qualified_name,
        |_, _| {},
    );
}

// Upstream: pkg/apis/resource/validation/validation.go, validateRequestPolicyValidValues
fn validate_values(values: &Node<'_, '_>, default: &Node<'_, '_>, whole: &Node<'_, '_>, errors: &mut Errors) {
    let mut last = None;
    for value in values.items() {
        let number = quantity(&value);
        if last.as_ref().is_some_and(|last| *last > number) {
            errors.invalid(value, value.as_text(), "values must be sorted in ascending order");
        }
        last = Some(number);
    }
    let max = quantity(whole);
    let is_validated = validate_list(values, ListLimit::Max(10), errors, |value, errors| {
        if quantity(value) > max {
            let detail = format!("option is larger than capacity value: {}", whole.as_text());
            errors.invalid(value, value.as_text(), &detail);
        }
    });
    if is_validated {
        validate_distinct(values, errors);
    }
    let wanted = quantity(default);
    if !is_validated || !values.items().any(|value| quantity(&value) == wanted) {
        errors.invalid(
            values,
            default.as_text(),
            "default value is not valid according to the requestPolicy",
        );
    }
}

/// Without a feature, fractions are told apart by their next whole number only.
// Upstream: pkg/apis/resource/validation/validation.go, quantityKeyInt, quantityKeyAsDec
fn validate_distinct(values: &Node<'_, '_>, errors: &mut Errors) {
    let mut seen = std::collections::HashSet::new();
    let has_fractions = errors.gates().divides_capacity;
    for value in values.items() {
        let number = quantity(&value);
        let text = if has_fractions {
            decimal_text(&number)
        } else {
            number.value().to_string()
        };
        if !seen.insert(text.clone()) {
            errors.duplicate(value, text.as_str());
        }
    }
}

/// A number with as many digits behind its point as it is stored with: `1.5` is another text than `1500m`.
// Upstream: gopkg.in/inf.v0, Dec.String
fn decimal_text(number: &Quantity) -> String {
    /// More digits than an amount has that is meant.
    const MAX_DIGITS: usize = 1000;
    let parts = number.go_parts();
    if parts.is_big {
        return number.to_string();
    }
    let sign = if parts.value < 0 { "-" } else { "" };
    let digits = parts.value.unsigned_abs().to_string();
    let places = usize::try_from(parts.scale.unsigned_abs()).unwrap_or_default();
    if parts.scale >= 0 {
        let zeros = if parts.value == 0 { 0 } else { places };
        if digits.len() + zeros > MAX_DIGITS {
            // A server writes two gigabytes for `1e2000000000`. Here, too, equal numbers have the same text.
            let significant = digits.trim_end_matches('0');
            let exponent = zeros + digits.len() - significant.len();
            return format!("{sign}{significant}e{exponent}");
        }
        return format!("{sign}{digits}{}", "0".repeat(zeros));
    }
    let digits = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    format!("{sign}{whole}.{fraction}")
}

// Upstream: pkg/apis/resource/validation/validation.go, validateRequestPolicyRange
fn validate_range(range: &Node<'_, '_>, default: &Node<'_, '_>, whole: &Node<'_, '_>, errors: &mut Errors) {
    let (min, max, step) = (range.child("min"), range.child("max"), range.child("step"));
    // Its errors are told of a member that the range does not have.
    let shown_default = Node::with_path(default.value(), range.path().child("default"));
    // Upstream: pkg/apis/resource/validation/validation.go, validateRequestPolicyRange: before 1.37, of the bound that it exceeds.
    let is_latest = errors.release().at_least(1, 37);
    if !min.is_set() {
        errors.required(min, "required when validRange is defined");
        return;
    }
    let (least, most, wanted) = (quantity(&min), quantity(&max), quantity(default));
    let all = quantity(whole);
    if least > all {
        let detail = format!("min is larger than capacity value: {}", whole.as_text());
        errors.invalid(min, min.as_text(), &detail);
    }
    if wanted < least {
        let detail = format!("default is less than min: {}", min.as_text());
        errors.invalid(
            if is_latest { &shown_default } else { &min },
            default.as_text(),
            &detail,
        );
    }
    if max.is_set() {
        if least > most {
            let detail = format!("min is larger than max: {}", max.as_text());
            errors.invalid(max, min.as_text(), &detail);
        }
        if most > all {
            let detail = format!("max is larger than capacity value: {}", whole.as_text());
            errors.invalid(max, max.as_text(), &detail);
        }
        if wanted > most {
            let detail = format!("default is more than max: {}", max.as_text());
            errors.invalid(
                if is_latest { &shown_default } else { &max },
                default.as_text(),
                &detail,
            );
        }
    }
    // Upstream: isFractionalQuantity; the default is not part of the range.
    let fields = [&shown_default, &min, &max, &step];
    let is_divided = errors.gates().divides_capacity
        && fields
            .iter()
            .any(|field| field.is_set() && has_fraction(&quantity(field)));
    if is_divided && has_finer_parts(&fields, errors) {
        return;
    }
    if step.is_set() {
        validate_step(&fields, is_divided, whole, errors);
    }
}

/// Whether numbers are no multiples of a thousandth.
fn has_finer_parts(fields: &[&Node<'_, '_>; 4], errors: &mut Errors) -> bool {
    let start = errors.len();
    for field in fields.iter().filter(|field| field.is_set()) {
        let number = quantity(field);
        let thousandths = Quantity::parse(&format!("{}m", number.milli_value()));
        if thousandths.is_ok_and(|rounded| rounded != number) {
            errors.invalid(
                *field,
                field.as_text(),
                "value cannot be represented as a milli value",
            );
        }
    }
    errors.len() > start
}

fn validate_step(
    [default, min, max, step]: &[&Node<'_, '_>; 4],
    is_divided: bool,
    whole: &Node<'_, '_>,
    errors: &mut Errors,
) {
    let (least, by) = (quantity(min), quantity(step));
    // Before 1.37, the step and the bounds were not validated by themselves.
    let is_latest = errors.release().at_least(1, 37);
    if by.signum() <= 0 && is_latest {
        errors.invalid(*step, step.as_text(), "must be greater than zero");
        return;
    }
    if let Ok(next) = least.add(&by)
        && next > quantity(whole)
    {
        let detail = format!(
            "one step {next} is larger than capacity value: {}",
            whole.as_text()
        );
        errors.invalid(*step, step.as_text(), &detail);
    }
    let start = errors.len();
    for field in [default, min, max, step]
        .into_iter()
        .filter(|field| field.is_set() && is_latest && !is_divided)
    {
        validate_integer_range(field, errors);
    }
    if errors.len() > start {
        return;
    }
    for value in [default, max].into_iter().filter(|value| value.is_set()) {
        let number = |of: &Quantity| if is_divided { of.milli_value() } else { of.value() };
        let distance = number(&quantity(value)).wrapping_sub(number(&least));
        if distance.checked_rem(number(&by)).is_some_and(|rest| rest != 0) {
            let detail = format!(
                "value is not a multiple of a given step ({}) from ({})",
                step.as_text(),
                min.as_text()
            );
            errors.invalid(*step, value.as_text(), &detail);
        }
    }
}

// Upstream: pkg/apis/resource/validation/validation.go, validateInt64Range
fn validate_integer_range(field: &Node<'_, '_>, errors: &mut Errors) {
    let number = quantity(field);
    if number.signum() < 0 {
        errors.invalid(field, field.as_text(), NEGATIVE);
    } else if number > Quantity::from_integer(i64::MAX) {
        errors.invalid(
            field,
            field.as_text(),
            "must not be larger than 9223372036854775807",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_texts_are_short() {
        for (text, expected) in [
            ("12e3", "12000"),
            ("-1500m", "-1.500"),
            ("5m", "0.005"),
            ("1e2000000000", "1e2000000000"),
            ("-10e1999999999", "-1e2000000000"),
        ] {
            assert_eq!(decimal_text(&Quantity::parse(text).unwrap()), expected, "{text}");
        }
    }
}
