//! The devices that a claim asks for.

use std::collections::{HashMap, HashSet};

use pratique_json::Value;
use pratique_types::field::BadValue;

use super::capacity::validate_capacity_names;
use super::configuration::validate_configuration;
use super::expressions::{ExpressionBudget, validate_derived_expression, validate_selectors};
use super::limits::{ListLimit, NAMES, SetKey, TEXTS, validate_list, validate_set};
use super::names::{validate_full_name, validate_label, validate_label_text, validate_subdomain};
use super::taints::validate_toleration;
use crate::errors::{Errors, named};
use crate::node::{Node, is_same};
use crate::rules::Request;

/// How many requests a claim or a reference to requests can have.
pub(super) const MAX_REQUESTS: i64 = 32;

/// What a claim's requests are validated with.
struct ClaimScope<'r, 'v> {
    request: &'r Request<'r>,
    /// The attributes that constraints compare, by request, or by nothing where they are of all requests.
    attributes: HashMap<&'v str, HashSet<&'v str>>,
    budget: ExpressionBudget,
    /// Those of a template that is stored.
    old_requests: Option<&'v Value<'v>>,
}

// Upstream: pkg/apis/resource/validation/validation.go, validateDeviceClaim
pub(super) fn validate_device_claim<'v>(
    request: &Request<'_>,
    devices: &Node<'_, 'v>,
    old_requests: Option<&'v Value<'v>>,
    errors: &mut Errors,
) {
    let (requests, constraints) = (devices.child("requests"), devices.child("constraints"));
    let names = RequestNames::new(devices);
    let mut scope = ClaimScope {
        request,
        attributes: compared_attributes(&constraints),
        budget: ExpressionBudget::default(),
        old_requests,
    };
    validate_set(
        &requests,
        ListLimit::Covered(MAX_REQUESTS),
        &NAMES,
        errors,
        |of, errors| {
            validate_request(of, &mut scope, errors);
        },
    );
    validate_list(&constraints, ListLimit::Covered(32), errors, |of, errors| {
        validate_constraint(of, &names, errors);
    });
    validate_list(
        &devices.child("config"),
        ListLimit::Covered(32),
        errors,
        |of, errors| {
            validate_request_names(&of.child("requests"), &names, errors);
            validate_configuration(of, false, errors);
        },
    );
    if scope.budget.is_exceeded() {
        errors.forbidden(
            devices,
            "too complex, total cost of derived attribute CEL expressions in the claim exceeds cost limit",
        );
    }
}

// Upstream: pkg/apis/resource/validation/validation.go, gatherConstraintAttributes
fn compared_attributes<'v>(constraints: &Node<'_, 'v>) -> HashMap<&'v str, HashSet<&'v str>> {
    let mut attributes: HashMap<&str, HashSet<&str>> = HashMap::new();
    for constraint in constraints.items() {
        let value = constraint.value();
        let attribute = ["matchAttribute", "distinctAttribute"]
            .iter()
            .find_map(|name| value.get(name)?.as_str());
        let Some(attribute) = attribute else {
            continue;
        };
        let requests = value.get("requests").and_then(|requests| requests.as_array());
        let requests = requests.unwrap_or_default();
        if requests.is_empty() {
            attributes.entry("").or_default().insert(attribute);
        }
        for request in requests {
            let name = request.as_str().unwrap_or_default();
            attributes.entry(name).or_default().insert(attribute);
        }
    }
    attributes
}

/// The names of requests, with those of their alternatives.
pub(super) struct RequestNames<'v> {
    names: HashMap<&'v str, HashSet<&'v str>>,
}

impl<'v> RequestNames<'v> {
    // Upstream: pkg/apis/resource/validation/validation.go, gatherRequestNames
    pub(super) fn new(devices: &Node<'_, 'v>) -> Self {
        let requests = devices
            .value()
            .get("requests")
            .and_then(|requests| requests.as_array());
        let name = |of: &'v pratique_json::Value<'v>| {
            of.get("name").and_then(|name| name.as_str()).unwrap_or_default()
        };
        let names = requests.unwrap_or_default().iter().map(|request| {
            let alternatives = request.get("firstAvailable").and_then(|list| list.as_array());
            (
                name(request),
                alternatives.unwrap_or_default().iter().map(name).collect(),
            )
        });
        RequestNames {
            names: names.collect(),
        }
    }

    fn contains(&self, reference: &str) -> bool {
        match reference.split_once('/') {
            None => self.names.contains_key(reference),
            Some((name, alternative)) => self
                .names
                .get(name)
                .is_some_and(|names| names.contains(alternative)),
        }
    }
}

// Upstream: pkg/apis/resource/validation/validation.go, validateDeviceRequest
fn validate_request(of: &Node<'_, '_>, scope: &mut ClaimScope<'_, '_>, errors: &mut Errors) {
    const DETAIL: &str = "exactly one of `exactly` or `firstAvailable` is required";
    let (name, exactly, alternatives) = (of.child("name"), of.child("exactly"), of.child("firstAvailable"));
    let old = find_by_name(scope.old_requests, name.as_text());
    validate_label(&name, errors);
    let (has_exact, has_alternatives) = (exactly.is_set(), !alternatives.is_empty());
    // Upstream: pkg/apis/resource/validation/validation.go, validateDeviceRequest: before 1.35, both are validated where both are given.
    let are_validated = has_exact != has_alternatives || !errors.release().at_least(1, 35);
    if are_validated && has_alternatives {
        validate_set(
            &alternatives,
            ListLimit::Covered(8),
            &NAMES,
            errors,
            |alternative, errors| {
                validate_label(&alternative.child("name"), errors);
                let start = errors.len();
                validate_class_name(&alternative.child("deviceClassName"), errors);
                errors.cover_from(start, "format=k8s-long-name");
                let own_name = alternative.child("name");
                let old_capacity = old
                    .and_then(|old| find_by_name(old.get("firstAvailable"), own_name.as_text()))
                    .and_then(|old| old.get("capacity"));
                let name = format!("{}/{}", name.as_text(), own_name.as_text());
                validate_exact_request(alternative, &name, old_capacity, scope, errors);
            },
        );
    }
    if are_validated && has_exact {
        validate_class_name(&exactly.child("deviceClassName"), errors);
        let old_capacity = old.and_then(|old| old.at(&["exactly", "capacity"]));
        validate_exact_request(&exactly, name.as_text(), old_capacity, scope, errors);
    }
    match (has_exact, has_alternatives) {
        (false, false) => errors.required(of, DETAIL),
        (true, true) => {
            let detail = format!("{DETAIL}, but multiple fields are set");
            // Go quotes the word for nothing.
            errors.invalid(of, BadValue::Prepared("null".into()), &detail);
        }
        _ => {}
    }
}

fn find_by_name<'v>(list: Option<&'v Value<'v>>, name: &str) -> Option<&'v Value<'v>> {
    let mut elements = list?.as_array()?.iter();
    elements.find(|element| element.get("name").and_then(Value::as_str) == Some(name))
}

// Upstream: pkg/apis/resource/validation/validation.go, validateDeviceClass
fn validate_class_name(name: &Node<'_, '_>, errors: &mut Errors) {
    if name.as_text().is_empty() {
        errors.required(name, "");
    } else {
        validate_subdomain(name, errors);
    }
}

/// What a request and an alternative of one have in common.
// Upstream: pkg/apis/resource/validation/validation.go, validateExactDeviceRequest, validateDeviceSubRequest
fn validate_exact_request(
    of: &Node<'_, '_>,
    name: &str,
    old_capacity: Option<&Value<'_>>,
    scope: &mut ClaimScope<'_, '_>,
    errors: &mut Errors,
) {
    validate_selectors(scope.request, &of.child("selectors"), false, errors);
    validate_derived_attributes(&of.child("derivedAttributes"), name, scope, errors);
    validate_allocation_mode(&of.child("allocationMode"), &of.child("count"), errors);
    for toleration in of.child("tolerations").items() {
        validate_toleration(&toleration, errors);
    }
    // Since 1.38; what a stored template asks for may stay.
    let capacity = of.child("capacity");
    let requests = capacity.child("requests");
    let is_stored = old_capacity.is_some_and(|old| {
        let old = old.get("requests").unwrap_or(&Value::Null);
        is_same(requests.value(), old)
    });
    if errors.release().at_least(1, 38) && !is_stored {
        validate_capacity_names(&requests, errors);
    }
}

// Upstream: pkg/apis/resource/validation/validation.go, validateDeviceAllocationMode
fn validate_allocation_mode(mode: &Node<'_, '_>, count: &Node<'_, '_>, errors: &mut Errors) {
    match mode.as_text() {
        "All" if count.int() != 0 => {
            errors.invalid(
                count,
                count.int(),
                "must not be specified when allocationMode is 'All'",
            );
        }
        "ExactCount" if count.int() <= 0 => errors.invalid(count, count.int(), "must be greater than zero"),
        "All" | "ExactCount" => {}
        _ => {
            let start = errors.len();
            errors.not_supported(mode, &["All", "ExactCount"]);
            errors.cover_from(start, "");
        }
    }
}

// Upstream: pkg/apis/resource/validation/validation.go, validateDeviceDerivedAttributes
fn validate_derived_attributes(
    attributes: &Node<'_, '_>,
    request: &str,
    scope: &mut ClaimScope<'_, '_>,
    errors: &mut Errors,
) {
    let key = SetKey {
        is_covered: false,
        ..NAMES
    };
    validate_set(attributes, ListLimit::None, &key, errors, |attribute, errors| {
        // Declarative rules require both.
        let (name, expression) = (attribute.child("name"), attribute.child("expression"));
        if !name.as_text().is_empty() && !is_compared(name.as_text(), request, &scope.attributes) {
            errors.invalid(
                name,
                named(name.as_text()),
                "must be referenced by at least one matchAttribute or distinctAttribute constraint targeting this request",
            );
        }
        if !expression.as_text().is_empty() {
            validate_derived_expression(scope.request, &expression, &mut scope.budget, errors);
        }
    });
}

/// Whether a constraint of all requests, of the request, or of the one whose alternative it is, compares an attribute.
// Upstream: pkg/apis/resource/validation/validation.go, isAttributeUsedByConstraint
fn is_compared(attribute: &str, request: &str, attributes: &HashMap<&str, HashSet<&str>>) -> bool {
    let parent = request.split_once('/').map(|(parent, _)| parent);
    let mut names = ["", request].into_iter().chain(parent);
    names.any(|name| {
        attributes
            .get(name)
            .is_some_and(|attributes| attributes.contains(attribute))
    })
}

// Upstream: pkg/apis/resource/validation/validation.go, validateDeviceConstraint
fn validate_constraint(constraint: &Node<'_, '_>, names: &RequestNames<'_>, errors: &mut Errors) {
    validate_request_names(&constraint.child("requests"), names, errors);
    let attributes = ["matchAttribute", "distinctAttribute"];
    let Some(name) = attributes.iter().find(|name| constraint.child(name).is_set()) else {
        if !errors.gates().consumes_capacity {
            errors.required(constraint.child("matchAttribute"), "");
            return;
        }
        // Upstream's text is that of the opposite.
        errors.required(
            constraint,
            "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but multiple fields are set",
        );
        return;
    };
    let start = errors.len();
    validate_full_name(&constraint.child(name), errors);
    errors.cover_from(start, "format=k8s-resource-fully-qualified-name");
}

/// References to requests of the claim.
pub(super) fn validate_request_names(
    references: &Node<'_, '_>,
    names: &RequestNames<'_>,
    errors: &mut Errors,
) {
    validate_set(
        references,
        ListLimit::Covered(MAX_REQUESTS),
        &TEXTS,
        errors,
        |reference, errors| {
            validate_request_name(reference, names, errors);
        },
    );
}

// Upstream: pkg/apis/resource/validation/validation.go, validateRequestNameRef
pub(super) fn validate_request_name(reference: &Node<'_, '_>, names: &RequestNames<'_>, errors: &mut Errors) {
    const DETAIL: &str = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
    let text = reference.as_text();
    if text.split('/').count() > 2 {
        errors.invalid(reference, text, DETAIL);
        return;
    }
    for part in text.split('/') {
        validate_label_text(reference, part, errors);
    }
    if !names.contains(text) {
        errors.invalid(reference, text, DETAIL);
    }
}
