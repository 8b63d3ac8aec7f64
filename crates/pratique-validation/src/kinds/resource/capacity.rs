//! The capacity of devices, and how much of it a claim can ask for.

use pratique_gotext::quantity::Quantity;

use super::limits::{ListLimit, validate_list};
use crate::errors::{Errors, NEGATIVE};
use crate::node::Node;
use crate::quantities::quantity;

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

// Upstream: pkg/apis/resource/validation/validation.go, validateRequestPolicyValidValues
fn validate_values(values: &Node<'_, '_>, default: &Node<'_, '_>, whole: &Node<'_, '_>, errors: &mut Errors) {
    let mut last = None;
    for value in values.items() {
        let number = quantity(&value);
        if last.as_ref().is_some_and(|last| *last > number) {
            errors.invalid(value, value.text(), "values must be sorted in ascending order");
        }
        last = Some(number);
    }
    let max = quantity(whole);
    let is_judged = validate_list(values, ListLimit::Max(10), errors, |value, errors| {
        if quantity(value) > max {
            let detail = format!("option is larger than capacity value: {}", whole.text());
            errors.invalid(value, value.text(), &detail);
        }
    });
    if is_judged {
        // Fractions are told apart by their next whole number only.
        let mut seen = std::collections::HashSet::new();
        for value in values.items() {
            let number = quantity(&value).value();
            if !seen.insert(number) {
                errors.duplicate(value, number.to_string().as_str());
            }
        }
    }
    let wanted = quantity(default);
    if !is_judged || !values.items().any(|value| quantity(&value) == wanted) {
        errors.invalid(
            values,
            default.text(),
            "default value is not valid according to the requestPolicy",
        );
    }
}

// Upstream: pkg/apis/resource/validation/validation.go, validateRequestPolicyRange
fn validate_range(range: &Node<'_, '_>, default: &Node<'_, '_>, whole: &Node<'_, '_>, errors: &mut Errors) {
    let (min, max, step) = (range.child("min"), range.child("max"), range.child("step"));
    // Its errors are told of a member that the range does not have.
    let shown_default = Node::with_path(default.value(), range.path().child("default"));
    if !min.is_set() {
        errors.required(min, "required when validRange is defined");
        return;
    }
    let (least, most, wanted) = (quantity(&min), quantity(&max), quantity(default));
    let all = quantity(whole);
    if least > all {
        let detail = format!("min is larger than capacity value: {}", whole.text());
        errors.invalid(min, min.text(), &detail);
    }
    if wanted < least {
        let detail = format!("default is less than min: {}", min.text());
        errors.invalid(shown_default, default.text(), &detail);
    }
    if max.is_set() {
        if least > most {
            let detail = format!("min is larger than max: {}", max.text());
            errors.invalid(max, min.text(), &detail);
        }
        if most > all {
            let detail = format!("max is larger than capacity value: {}", whole.text());
            errors.invalid(max, max.text(), &detail);
        }
        if wanted > most {
            let detail = format!("default is more than max: {}", max.text());
            errors.invalid(shown_default, default.text(), &detail);
        }
    }
    if step.is_set() {
        validate_step(&[&shown_default, &min, &max, &step], whole, errors);
    }
}

fn validate_step([default, min, max, step]: &[&Node<'_, '_>; 4], whole: &Node<'_, '_>, errors: &mut Errors) {
    let (least, by) = (quantity(min), quantity(step));
    if by.signum() <= 0 {
        errors.invalid(*step, step.text(), "must be greater than zero");
        return;
    }
    if let Ok(next) = least.add(&by)
        && next > quantity(whole)
    {
        let detail = format!("one step {next} is larger than capacity value: {}", whole.text());
        errors.invalid(*step, step.text(), &detail);
    }
    let start = errors.len();
    for field in [default, min, max, step]
        .into_iter()
        .filter(|field| field.is_set())
    {
        validate_integer_range(field, errors);
    }
    if errors.len() > start {
        return;
    }
    for value in [default, max].into_iter().filter(|value| value.is_set()) {
        let distance = quantity(value).value().wrapping_sub(least.value());
        if distance.checked_rem(by.value()).is_some_and(|rest| rest != 0) {
            let detail = format!(
                "value is not a multiple of a given step ({}) from ({})",
                step.text(),
                min.text()
            );
            errors.invalid(*step, value.text(), &detail);
        }
    }
}

// Upstream: pkg/apis/resource/validation/validation.go, validateInt64Range
fn validate_integer_range(field: &Node<'_, '_>, errors: &mut Errors) {
    let number = quantity(field);
    if number.signum() < 0 {
        errors.invalid(field, field.text(), NEGATIVE);
    } else if number > Quantity::from_integer(i64::MAX) {
        errors.invalid(field, field.text(), "must not be larger than 9223372036854775807");
    }
}
