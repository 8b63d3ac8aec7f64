//! Which nodes and which other Pods a Pod wants.

use pratique_gotext::validation::{dns1123_label, label_value};

use super::options::{PodOptions, has_invalid_selector};
use super::topology::validate_label_keys;
use crate::errors::Errors;
use crate::messages::subdomain_name;
use crate::node::Node;
use crate::selector::{validate_label_name, validate_selector};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

// Upstream: pkg/apis/core/validation/validation.go, validateAffinity
pub(super) fn validate_affinity(affinity: &Node<'_, '_>, options: PodOptions, errors: &mut Errors) {
    validate_node_affinity(&affinity.child("nodeAffinity"), options, errors);
    for name in ["podAffinity", "podAntiAffinity"] {
        let terms = affinity.child(name);
        for term in terms.child(REQUIRED).items() {
            validate_pod_term(&term, options, errors);
        }
        for weighted in terms.child(PREFERRED).items() {
            validate_weight(&weighted, errors);
            validate_pod_term(&weighted.child("podAffinityTerm"), options, errors);
        }
    }
}

fn validate_weight(weighted: &Node<'_, '_>, errors: &mut Errors) {
    let weight = weighted.child("weight");
    if !(1..=100).contains(&weight.int()) {
        errors.invalid(weight, weight.int(), "must be in the range 1-100");
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateNodeAffinity
fn validate_node_affinity(affinity: &Node<'_, '_>, options: PodOptions, errors: &mut Errors) {
    let required = affinity.child(REQUIRED);
    if required.is_set() {
        validate_node_selector(&required, options.invalid_node_affinity_values, errors);
    }
    for term in affinity.child(PREFERRED).items() {
        validate_weight(&term, errors);
        // Values were never looked at here.
        validate_node_term(&term.child("preference"), true, errors);
    }
}

/// Nodes by their labels and fields.
// Upstream: pkg/apis/core/validation/validation.go, ValidateNodeSelector
pub(crate) fn validate_node_selector(
    selector: &Node<'_, '_>,
    allows_invalid_values: bool,
    errors: &mut Errors,
) {
    let terms = selector.child("nodeSelectorTerms");
    if terms.is_empty() {
        errors.required(terms, "must have at least one node selector term");
    }
    for term in terms.items() {
        validate_node_term(&term, allows_invalid_values, errors);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateNodeSelectorTerm
fn validate_node_term(term: &Node<'_, '_>, allows_invalid_values: bool, errors: &mut Errors) {
    for requirement in term.child("matchExpressions").items() {
        validate_node_requirement(&requirement, allows_invalid_values, errors);
    }
    for requirement in term.child("matchFields").items() {
        validate_node_field(&requirement, errors);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateNodeSelectorRequirement
fn validate_node_requirement(requirement: &Node<'_, '_>, allows_invalid_values: bool, errors: &mut Errors) {
    let (operator, values) = (requirement.child("operator"), requirement.child("values"));
    match operator.as_text() {
        "In" | "NotIn" => {
            if values.is_empty() {
                errors.required(values, "must be specified when `operator` is 'In' or 'NotIn'");
            }
        }
        "Exists" | "DoesNotExist" => {
            if !values.is_empty() {
                errors.forbidden(
                    values,
                    "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
                );
            }
        }
        "Gt" | "Lt" => {
            if values.len() != 1 {
                errors.required(
                    values,
                    "must be specified single value when `operator` is 'Lt' or 'Gt'",
                );
            }
        }
        _ => errors.invalid_name(&operator, "not a valid selector operator"),
    }
    validate_label_name(&requirement.child("key"), errors);
    if !allows_invalid_values {
        for value in values.items() {
            errors.invalid_each(&value, &label_value(value.as_text()));
        }
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateNodeFieldSelectorRequirement
fn validate_node_field(requirement: &Node<'_, '_>, errors: &mut Errors) {
    let (operator, values) = (requirement.child("operator"), requirement.child("values"));
    if !["In", "NotIn"].contains(&operator.as_text()) {
        errors.invalid_name(&operator, "not a valid selector operator");
    } else if values.len() != 1 {
        errors.required(
            values,
            "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
        );
    }
    let key = requirement.child("key");
    if key.as_text() != "metadata.name" {
        errors.invalid_or_empty(&key, "not a valid field selector key");
        return;
    }
    for value in values.items() {
        errors.invalid_each(&value, &subdomain_name(value.as_text(), false));
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validatePodAffinityTerm
fn validate_pod_term(term: &Node<'_, '_>, options: PodOptions, errors: &mut Errors) {
    for name in ["labelSelector", "namespaceSelector"] {
        validate_selector(&term.child(name), options.invalid_selector_values, errors);
    }
    for namespace in term.child("namespaces").items() {
        for message in dns1123_label(namespace.as_text()) {
            errors.invalid(term.path().child("namespace"), namespace.as_text(), &message);
        }
    }
    validate_label_keys(term, &term.child("mismatchLabelKeys"), errors);
    let key = term.child("topologyKey");
    if key.as_text().is_empty() {
        errors.required(key, "can not be empty");
    }
    for message in pratique_gotext::validation::qualified_name(key.as_text()) {
        errors.invalid(key, key.as_text(), &message);
    }
}

// Upstream: pkg/api/pod/util.go, hasInvalidLabelValueInAffinitySelector
pub(super) fn has_invalid_selector_values(spec: &Node<'_, '_>) -> bool {
    let affinity = spec.child("affinity");
    let is_invalid = |term: &Node<'_, '_>| {
        ["labelSelector", "namespaceSelector"]
            .iter()
            .any(|name| has_invalid_selector(&term.child(name)))
    };
    ["podAffinity", "podAntiAffinity"].iter().any(|name| {
        let terms = affinity.child(name);
        terms.child(REQUIRED).items().any(|term| is_invalid(&term))
            || terms
                .child(PREFERRED)
                .items()
                .any(|term| is_invalid(&term.child("podAffinityTerm")))
    })
}

// Upstream: pkg/api/pod/util.go, hasInvalidLabelValueInRequiredNodeAffinity
pub(super) fn has_invalid_node_values(spec: &Node<'_, '_>) -> bool {
    let affinity = spec.child("affinity");
    let affinity = affinity.child("nodeAffinity");
    has_invalid_term_values(&affinity.child(REQUIRED))
}

/// Whether a selector of nodes has values that no label can have.
// Upstream: pkg/apis/core/helper/helpers.go, HasInvalidLabelValueInNodeSelectorTerms
pub(crate) fn has_invalid_term_values(selector: &Node<'_, '_>) -> bool {
    selector.child("nodeSelectorTerms").items().any(|term| {
        term.child("matchExpressions").items().any(|requirement| {
            let values = requirement.child("values");
            values
                .items()
                .any(|value| !label_value(value.as_text()).is_empty())
        })
    })
}
