//! Quantities of resources.

use pratique_gotext::quantity::Quantity;

use crate::errors::{Errors, NEGATIVE};
use crate::node::Node;

/// The quantity of a field, which was decoded, so that it is one; zero where it is absent.
pub(crate) fn quantity(field: &Node<'_, '_>) -> Quantity {
    Quantity::parse(field.text()).unwrap_or_else(|_| Quantity::from_integer(0))
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateNonnegativeQuantity
pub(crate) fn validate_nonnegative(field: &Node<'_, '_>, errors: &mut Errors) {
    if quantity(field).signum() < 0 {
        errors.invalid(field, field.text(), NEGATIVE);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidatePositiveQuantityValue
pub(crate) fn validate_positive(field: &Node<'_, '_>, errors: &mut Errors) {
    if quantity(field).signum() <= 0 {
        errors.invalid(field, field.text(), "must be greater than zero");
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
    COUNTED.contains(&name) || is_extended_resource(name)
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

/// Whether a resource is one of Kubernetes itself.
// Upstream: pkg/apis/core/helper/helpers.go, IsNativeResource
pub(crate) fn is_native_resource(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
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
    if is_integer_resource(name) && quantity(field).milli_value() % 1000 != 0 {
        errors.invalid(field, field.text(), "must be an integer");
    }
}
