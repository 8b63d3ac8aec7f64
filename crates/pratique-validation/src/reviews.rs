//! Reviews: objects that ask a question, and are answered and not stored. No strategy validates them, and so nobody validates their
//! metadata.

use pratique_schema::Release;
use pratique_types::field::BadValue;
use pratique_types::{GroupVersionKind, Status, status};

use crate::errors::Errors;
use crate::internal::internal_json;
use crate::node::Node;
use crate::rules::Request;
use crate::selector::{validate_open_requirement, validate_value_count};

type ReviewRule = fn(&Request<'_>) -> Result<(), Box<Status>>;

/// What is validated of a kind, if it is one of reviews.
pub(crate) fn review_rule(kind: &GroupVersionKind) -> Option<ReviewRule> {
    let rule: ReviewRule = match (kind.group.as_str(), kind.kind.as_str()) {
        ("authentication.k8s.io", "SelfSubjectReview") => |_| Ok(()),
        ("authentication.k8s.io", "TokenReview") => validate_token,
        ("authorization.k8s.io", "SelfSubjectRulesReview") => validate_rules,
        ("authorization.k8s.io", "SelfSubjectAccessReview") => |request| validate_access(request, |_, _| {}),
        ("authorization.k8s.io", "SubjectAccessReview") => |request| validate_access(request, |_, _| {}),
        ("authorization.k8s.io", "LocalSubjectAccessReview") => {
            |request| validate_access(request, validate_local)
        }
        _ => return None,
    };
    Some(rule)
}

fn refuse(message: &str) -> Result<(), Box<Status>> {
    Err(Box::new(status::bad_request(message)))
}

// Upstream: pkg/registry/authentication/tokenreview/storage.go, Create
fn validate_token(request: &Request<'_>) -> Result<(), Box<Status>> {
    let spec = request.object.child("spec");
    if spec.child("token").as_text().is_empty() {
        return refuse("token is required for TokenReview in authentication");
    }
    Ok(())
}

// Upstream: pkg/registry/authorization/selfsubjectrulesreview/rest.go, Create
fn validate_rules(request: &Request<'_>) -> Result<(), Box<Status>> {
    let spec = request.object.child("spec");
    if spec.child("namespace").as_text().is_empty() {
        return refuse("no namespace on request");
    }
    Ok(())
}

fn validate_access(
    request: &Request<'_>,
    validate_more: fn(&Request<'_>, &mut Errors),
) -> Result<(), Box<Status>> {
    let mut errors = Errors::of_gates(request.settings.gates);
    validate_spec(request, &mut errors);
    validate_metadata(request, &mut errors);
    validate_more(request, &mut errors);
    // Upstream: pkg/apis/authorization/validation/validation.go, ValidateSubjectAccessReviewCreate: declarative rules since 1.37
    if errors.release().at_least(1, 37) {
        errors.remove_duplicates();
    }
    if errors.is_empty() {
        return Ok(());
    }
    // The server's answer has neither the kind nor the name.
    Err(Box::new(errors.into_list().into_status(
        &request.kind.group,
        "",
        "",
    )))
}

// Upstream: pkg/apis/authorization/validation/validation.go, ValidateSubjectAccessReviewSpec, ValidateSelfSubjectAccessReviewSpec
fn validate_spec(request: &Request<'_>, errors: &mut Errors) {
    let spec = request.object.child("spec");
    let (resource, other) = (
        spec.child("resourceAttributes"),
        spec.child("nonResourceAttributes"),
    );
    const ONE_OF: &str = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    if resource.is_set() == other.is_set() {
        let value = path_attributes_json(&other, errors.release());
        // Upstream: pkg/apis/authorization/validation/validation.go, ValidateSubjectAccessReviewSpec: before 1.37, errors name a field.
        if errors.release().at_least(1, 37) {
            errors.invalid(spec, value, ONE_OF);
        } else if other.is_set() {
            errors.invalid(
                other,
                value,
                "cannot be specified in combination with resourceAttributes",
            );
        } else {
            errors.invalid(resource, value, ONE_OF);
        }
    }
    let user = spec.child("user");
    let asks_for_another = request.kind.kind != "SelfSubjectAccessReview";
    if asks_for_another && user.as_text().is_empty() && spec.child("groups").is_empty() {
        errors.invalid(user, "", "at least one of user or group must be specified");
    }
    let fields = resource.child("fieldSelector");
    validate_selector(&fields, validate_field_requirement, errors);
    let labels = resource.child("labelSelector");
    validate_selector(&labels, validate_open_requirement, errors);
}

// Upstream: pkg/apis/authorization/types.go, NonResourceAttributes
fn path_attributes_json(attributes: &Node<'_, '_>, release: &Release) -> BadValue<'static> {
    if !attributes.is_set() {
        return BadValue::Prepared("null".into());
    }
    // Upstream: apiserver/pkg/apis/authorization/validation/validation.go: since 1.38, the type is that of version 1.
    if release.at_least(1, 38) {
        return BadValue::Prepared(
            pratique_json::escape_html(&attributes.value().to_string())
                .into_owned()
                .into(),
        );
    }
    let text = |name: &str| pratique_json::Value::from(attributes.child(name).as_text()).to_string();
    let json = format!("{{\"Path\":{},\"Verb\":{}}}", text("path"), text("verb"));
    BadValue::Prepared(pratique_json::escape_html(&json).into_owned().into())
}

// Upstream: pkg/apis/authorization/validation/validation.go, validateFieldSelectorAttributes, validateLabelSelectorAttributes
fn validate_selector(
    selector: &Node<'_, '_>,
    validate_requirement: fn(&Node<'_, '_>, &mut Errors),
    errors: &mut Errors,
) {
    if !selector.is_set() {
        return;
    }
    let (raw, requirements) = (selector.child("rawSelector"), selector.child("requirements"));
    match (raw.is_empty(), requirements.is_empty()) {
        (false, false) => errors.invalid_value(&raw, "may not specified at the same time as requirements"),
        (true, true) => {
            let detail = format!(
                "when {} is specified, requirements or rawSelector is required",
                selector.path()
            );
            errors.required(requirements, &detail);
        }
        _ => {}
    }
    for requirement in requirements.items() {
        validate_requirement(&requirement, errors);
    }
}

// Upstream: apimachinery/pkg/apis/meta/v1/validation/validation.go, ValidateFieldSelectorRequirement
fn validate_field_requirement(requirement: &Node<'_, '_>, errors: &mut Errors) {
    let key = requirement.child("key");
    if key.as_text().is_empty() {
        errors.required(key, "must be specified");
    }
    // Operators that are not known are left to the authorizer.
    validate_value_count(requirement, errors);
}

/// Metadata are to be empty; the managed fields, which the server sets itself, do not count.
fn validate_metadata(request: &Request<'_>, errors: &mut Errors) {
    let metadata = request.object.child("metadata");
    let is_local = request.kind.kind == "LocalSubjectAccessReview";
    let is_free = |name: &str| name == "managedFields" || (is_local && name == "namespace");
    let is_given = |(name, member): (&str, Node<'_, '_>)| {
        // A pointer to 0 is no nil.
        let is_pointer = name == "deletionGracePeriodSeconds";
        !is_free(name) && (!member.is_empty() || (is_pointer && member.is_set()))
    };
    if metadata.entries().any(is_given) {
        let except = if is_local { " except for namespace" } else { "" };
        errors.invalid(
            metadata,
            internal_json(errors.release(), "metav1.ObjectMeta", metadata.value()),
            &format!("must be empty{except}"),
        );
    }
}

// Upstream: pkg/apis/authorization/validation/validation.go, ValidateLocalSubjectAccessReview
fn validate_local(request: &Request<'_>, errors: &mut Errors) {
    let (metadata, spec) = (request.object.child("metadata"), request.object.child("spec"));
    let (resource, other) = (
        spec.child("resourceAttributes"),
        spec.child("nonResourceAttributes"),
    );
    let namespace = resource.child("namespace");
    if resource.is_set() && namespace.as_text() != metadata.child("namespace").as_text() {
        errors.invalid(namespace, namespace.as_text(), "must match metadata.namespace");
    }
    if other.is_set() {
        errors.invalid(
            other,
            path_attributes_json(&other, errors.release()),
            "disallowed on this kind of request",
        );
    }
}
