//! Quantities of resources.

use std::cmp::Ordering;

use pratique_gotext::quantity::Quantity;

use crate::errors::{Errors, NEGATIVE};
use crate::node::Node;

/// The quantity of a field, which was decoded, so that it is one; zero where it is absent.
pub(crate) fn quantity(field: &Node<'_, '_>) -> Quantity {
    Quantity::parse(field.as_text()).unwrap_or_else(|_| Quantity::from_integer(0))
}

/// The order of two amounts that are whole numbers of the same unit, as of most containers: then nothing is converted.
pub(crate) fn compare_whole_amounts(one: &str, other: &str) -> Option<Ordering> {
    let (one, unit) = split_whole_amount(one)?;
    let (other, other_unit) = split_whole_amount(other)?;
    (unit == other_unit).then(|| one.len().cmp(&other.len()).then_with(|| one.cmp(other)))
}

/// The digits and the unit of an amount that is a whole number, and so small that it is none of those that are cut.
fn split_whole_amount(text: &str) -> Option<(&str, &str)> {
    let end = text
        .bytes()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at_checked(end)?;
    let is_plain = (1..=9).contains(&digits.len()) && !digits.starts_with('0');
    (is_plain && matches!(unit, "" | "m" | "Ki" | "Mi" | "Gi")).then_some((digits, unit))
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateNonnegativeQuantity
pub(crate) fn validate_nonnegative(field: &Node<'_, '_>, errors: &mut Errors) {
    if field.as_text().starts_with('-') && quantity(field).signum() < 0 {
        errors.invalid(field, field.as_text(), NEGATIVE);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidatePositiveQuantityValue
pub(crate) fn validate_positive(field: &Node<'_, '_>, errors: &mut Errors) {
    if quantity(field).signum() <= 0 {
        errors.invalid(field, field.as_text(), "must be greater than zero");
    }
}

/// Whether a resource is counted in whole numbers only.
// Upstream: pkg/apis/core/helper/helpers.go, IsIntegerResourceName
pub(crate) fn is_integer_resource(name: &str) -> bool {
    const COUNTED: &[&str] = &[
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
    ];
    !is_compute_resource(name) && (COUNTED.contains(&name) || is_extended_resource(name))
}

/// Whether a quota can be of a resource without a domain.
// Upstream: pkg/apis/core/helper/helpers.go, IsStandardQuotaResourceName
pub(crate) fn is_quota_resource(name: &str) -> bool {
    const STANDARD: &[&str] = &[
        "cpu",
        "memory",
        "ephemeral-storage",
        "requests.cpu",
        "requests.memory",
        "requests.storage",
        "requests.ephemeral-storage",
        "limits.cpu",
        "limits.memory",
        "limits.ephemeral-storage",
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "persistentvolumeclaims",
        "configmaps",
        "services.nodeports",
        "services.loadbalancers",
    ];
    STANDARD.contains(&name) || is_huge_pages(name) || name.starts_with("requests.hugepages-")
}

/// Whether a resource is one of those that nearly all containers ask for: they are standard and native ones, and are not counted.
pub(crate) fn is_compute_resource(name: &str) -> bool {
    matches!(name, "cpu" | "memory" | "ephemeral-storage")
}

/// Whether a resource is one of Kubernetes itself.
// Upstream: pkg/apis/core/helper/helpers.go, IsNativeResource
pub(crate) fn is_native_resource(name: &str) -> bool {
    is_compute_resource(name) || !name.contains('/') || name.contains("kubernetes.io/")
}

// Upstream: pkg/apis/core/helper/helpers.go, IsExtendedResourceName
pub(crate) fn is_extended_resource(name: &str) -> bool {
    if is_native_resource(name) || name.starts_with("requests.") {
        return false;
    }
    pratique_gotext::validation::qualified_name(&format!("requests.{name}")).is_empty()
}

// Upstream: pkg/apis/core/helper/helpers.go, IsHugePageResourceName
pub(crate) fn is_huge_pages(name: &str) -> bool {
    name.starts_with("hugepages-")
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateResourceQuantityValue
pub(crate) fn validate_resource_quantity(name: &str, field: &Node<'_, '_>, errors: &mut Errors) {
    validate_nonnegative(field, errors);
    if is_integer_resource(name) && !is_integer(&quantity(field), errors) {
        errors.invalid(field, field.as_text(), "must be an integer");
    }
}

/// Whether a number is no whole one. One that is too large for 64 bits counts as whole.
// Upstream: pkg/apis/resource/validation/validation.go, isFractionalQuantity
pub(crate) fn has_fraction(number: &Quantity) -> bool {
    let is_large = *number > Quantity::from_integer(i64::MAX);
    !is_large && *number != Quantity::from_integer(number.value())
}

/// Whether a number counts as a whole one: `1.9999` does, as its thousandths are rounded.
// Upstream: pkg/apis/core/validation/validation.go, isIntegerResourceValue
fn is_integer(number: &Quantity, errors: &Errors) -> bool {
    let milli = number.milli_value();
    // Since 1.38, thousandths that do not fit say nothing.
    if errors.release().at_least(1, 38) {
        let max = i64::MAX / 1000;
        let fits = *number <= Quantity::from_integer(max) && *number >= Quantity::from_integer(-max);
        return !has_fraction(number) || (fits && milli % 1000 == 0);
    }
    milli % 1000 == 0
}

/// An amount that is not negative. What is too large for 64 bits counted as negative or not by chance before 1.38.
// Upstream: pkg/apis/core/validation/validation.go, validateBasicResource
pub(crate) fn validate_basic_amount(amount: &Node<'_, '_>, errors: &mut Errors) -> bool {
    const DETAIL: &str = "must be a valid resource quantity";
    let number = quantity(amount);
    if errors.release().at_least(1, 38) {
        if number.signum() < 0 {
            errors.invalid(amount, amount.as_text(), DETAIL);
        }
        return number.signum() >= 0;
    }
    let value = number.value();
    if value < 0 {
        errors.invalid(amount, value, DETAIL);
    }
    value >= 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_amounts_of_a_unit_are_ordered_as_quantities() {
        let amounts = [
            "1",
            "2",
            "10",
            "999999999",
            "1m",
            "250m",
            "1Ki",
            "64Mi",
            "512Mi",
            "999999999Gi",
        ];
        for one in amounts {
            for other in amounts {
                let parse = |text| Quantity::parse(text).unwrap();
                if let Some(order) = compare_whole_amounts(one, other) {
                    assert_eq!(order, parse(one).cmp(&parse(other)), "{one} {other}");
                }
            }
        }
        assert_eq!(compare_whole_amounts("64Mi", "512Mi"), Some(Ordering::Less));
        for unknown in ["", "-1", "01", "1.5", "1e3", "1Ti", "1000000000", "Mi"] {
            assert_eq!(compare_whole_amounts(unknown, unknown), None, "{unknown}");
        }
    }
}
