//! The rules of the kinds, as a server applies them to what is sent to it.

use pratique_exclusion::reserved_name_error;
use pratique_gotext::jsonpath;
use pratique_types::ADMISSION_GROUP;
use pratique_validation::rules::{Errors, KindRules, Node, Request, Rule, validate_conditions};

use super::errors::{DeclarativeRules, FieldErrors};
use super::{ObjectChange, validate_change};
use crate::expressions::Expressions;
use crate::kind::Kind;

/// The rules of policies, bindings and webhook configurations, for a
/// [`Validator`](pratique_validation::Validator::with_kinds). Their expressions are compiled as a server of its release does.
///
/// ```
/// use pratique_types::GroupVersionKind;
/// use pratique_validation::{Candidate, Validator};
///
/// let kind = GroupVersionKind::new("admissionregistration.k8s.io", "v1", "MutatingAdmissionPolicyBinding");
/// let object = pratique_json::parse(br#"{"metadata": {"name": "b"}, "spec": {}}"#)?;
/// let validator = Validator::new().with_kinds(pratique_manifest::KIND_RULES);
/// let refused = validator.create(&Candidate::new(&kind, &object)).map_err(|rejection| rejection.to_string());
/// assert_eq!(
///     refused.unwrap_err(),
///     "MutatingAdmissionPolicyBinding.admissionregistration.k8s.io \"b\" is invalid: spec.policyName: Required value",
/// );
/// # Ok::<(), pratique_json::Error>(())
/// ```
pub const KIND_RULES: &[KindRules] = &[
    KindRules {
        subresources: &[("status", validate_status)],
        ..kind_rules(
            "ValidatingAdmissionPolicy",
            |request, errors| validate_create(Kind::ValidatingAdmissionPolicy, request, errors),
            |request, errors| validate_request(Kind::ValidatingAdmissionPolicy, request, errors),
        )
    },
    kind_rules(
        "ValidatingAdmissionPolicyBinding",
        |request, errors| validate_create(Kind::ValidatingAdmissionPolicyBinding, request, errors),
        |request, errors| validate_request(Kind::ValidatingAdmissionPolicyBinding, request, errors),
    ),
    kind_rules(
        "MutatingAdmissionPolicy",
        |request, errors| validate_create(Kind::MutatingAdmissionPolicy, request, errors),
        |request, errors| validate_request(Kind::MutatingAdmissionPolicy, request, errors),
    ),
    kind_rules(
        "MutatingAdmissionPolicyBinding",
        |request, errors| validate_create(Kind::MutatingAdmissionPolicyBinding, request, errors),
        |request, errors| validate_request(Kind::MutatingAdmissionPolicyBinding, request, errors),
    ),
    kind_rules(
        "ValidatingWebhookConfiguration",
        |request, errors| validate_create(Kind::ValidatingWebhookConfiguration, request, errors),
        |request, errors| validate_request(Kind::ValidatingWebhookConfiguration, request, errors),
    ),
    kind_rules(
        "MutatingWebhookConfiguration",
        |request, errors| validate_create(Kind::MutatingWebhookConfiguration, request, errors),
        |request, errors| validate_request(Kind::MutatingWebhookConfiguration, request, errors),
    ),
];

const fn kind_rules(kind: &'static str, create: Rule, update: Rule) -> KindRules {
    KindRules {
        group: ADMISSION_GROUP,
        kind,
        is_namespaced: false,
        create,
        update,
        subresources: &[],
    }
}

fn validate_request(kind: Kind, request: &Request<'_>, errors: &mut Errors) {
    let release = request.settings.release();
    let mut field_errors = FieldErrors::of_release(release, DeclarativeRules::Following);
    let change = ObjectChange {
        object: &request.object,
        old: &request.old,
    };
    validate_change(kind, change, Expressions::shared_of(release), &mut field_errors);
    errors.extend(field_errors.list);
}

/// A new object may not have a name that is reserved for manifests.
// Upstream: pkg/registry/admissionregistration/validatingadmissionpolicy/strategy.go, Validate
fn validate_create(kind: Kind, request: &Request<'_>, errors: &mut Errors) {
    validate_request(kind, request, errors);
    let metadata = request.object.child("metadata");
    let name = metadata.child("name").as_text();
    let error = reserved_name_error(name).filter(|_| request.settings.reserves_names());
    if let Some(error) = error {
        errors.push(error);
    }
}

// Upstream: pkg/apis/admissionregistration/validation/validation.go, validateValidatingAdmissionPolicyStatus
fn validate_status(request: &Request<'_>, errors: &mut Errors) {
    let status = request.object.child("status");
    let checking = status.child("typeChecking");
    for warning in checking.child("expressionWarnings").items() {
        validate_warning(&warning, errors);
    }
    validate_conditions(&status.child("conditions"), errors);
}

// Upstream: pkg/apis/admissionregistration/validation/validation.go, validateExpressionWarning, validateFieldRef
fn validate_warning(warning: &Node<'_, '_>, errors: &mut Errors) {
    let (text, field) = (warning.child("warning"), warning.child("fieldRef"));
    if text.as_text().is_empty() {
        errors.required(text, "");
    }
    let path = field.as_text().trim();
    if path.is_empty() {
        errors.required(field, "");
    } else if let Err(error) = jsonpath::check_template(&format!("{{{path}}}")) {
        errors.invalid(field, path, &format!("invalid JSONPath: {error}"));
    }
}
