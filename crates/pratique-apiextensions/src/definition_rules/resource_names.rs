//! The names of a resource, and of the version and group it is in.

use pratique_gotext::validation::{dns1035_label, dns1123_subdomain};
use pratique_validation::rules::{Errors, Node};

/// Validates a group.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, validateCustomResourceDefinitionSpec
pub(crate) fn validate_group(group: &Node<'_, '_>, errors: &mut Errors) {
    let text = group.as_text();
    let faults = dns1123_subdomain(text);
    if text.is_empty() {
        errors.required(group, "");
    } else if !faults.is_empty() {
        errors.invalid(group, text, &faults.join(","));
    } else if !text.contains('.') {
        errors.invalid(group, text, "should be a domain with at least one dot");
    }
}

/// Names that a definition needs, and the names that a server accepted do not.
pub(super) fn require_names(names: &Node<'_, '_>, errors: &mut Errors) {
    for name in ["plural", "singular", "kind", "listKind"] {
        let name = names.child(name);
        if name.as_text().is_empty() {
            errors.required(name, "");
        }
    }
}

/// Validates the names of a resource, as far as they are there.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, ValidateCustomResourceDefinitionNames
pub(super) fn validate_names(names: &Node<'_, '_>, errors: &mut Errors) {
    for name in ["plural", "singular"] {
        let name = names.child(name);
        if !name.as_text().is_empty() {
            validate_label(&name, errors);
        }
    }
    let (kind, list_kind) = (names.child("kind"), names.child("listKind"));
    for name in [&kind, &list_kind] {
        let faults = dns1035_label(&name.as_text().to_lowercase());
        if !name.as_text().is_empty() && !faults.is_empty() {
            let detail = format!(
                "may have mixed case, but should otherwise match: {}",
                faults.join(",")
            );
            errors.invalid(name, name.as_text(), &detail);
        }
    }
    for name in names.child("shortNames").items() {
        validate_label(&name, errors);
    }
    if !kind.as_text().is_empty() && kind.as_text() == list_kind.as_text() {
        let detail = "kind and listKind may not be the same";
        errors.invalid(list_kind, list_kind.as_text(), detail);
    }
    for category in names.child("categories").items() {
        validate_label(&category, errors);
    }
}

/// Validates a name that is a label of DNS.
pub(super) fn validate_label(name: &Node<'_, '_>, errors: &mut Errors) {
    let faults = dns1035_label(name.as_text());
    if !faults.is_empty() {
        errors.invalid(name, name.as_text(), &faults.join(","));
    }
}
