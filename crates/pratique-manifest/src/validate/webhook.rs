//! Webhook configurations of both kinds.

use std::collections::HashSet;

use pratique_gotext::validation;
use pratique_validation::rules::{
    Errors, Node, validate_selector, validate_webhook_service, validate_webhook_url,
};

use super::ObjectChange;
use super::errors::FieldErrors;
use super::expressions::{StoredTexts, ValidatedExpressions};
use super::matching::{
    FAILURE_POLICIES, MATCH_POLICIES, REINVOCATION_POLICIES, one_of, rule_with_operations,
};
use crate::expression::{Declarations, ExpressionCompiler};
use crate::kind::Kind;

const NO_SIDE_EFFECTS: &[&str] = &["None", "NoneOnDryRun"];
const SIDE_EFFECTS: &[&str] = &["None", "NoneOnDryRun", "Some", "Unknown"];
const REVIEW_VERSIONS: &[&str] = &["v1", "v1beta1"];

/// What is tolerated because a webhook of the stored configuration has it.
// Upstream: pkg/apis/admissionregistration/validation/validation.go, validationOptions
#[derive(Default)]
struct HookTolerance {
    conditions: bool,
    side_effects: bool,
    review_versions: bool,
    repeated_names: bool,
    label_values: bool,
}

impl HookTolerance {
    // Upstream: pkg/apis/admissionregistration/validation/validation.go, ValidateMutatingWebhookConfigurationUpdate
    fn from_stored(webhooks: &Node<'_, '_>, old: &Node<'_, '_>) -> Self {
        let has_side_effects =
            |hook: Node<'_, '_>| !NO_SIDE_EFFECTS.contains(&hook.child("sideEffects").as_text());
        let has_other_versions = |hook: Node<'_, '_>| {
            let versions = hook.child("admissionReviewVersions");
            let mut items = versions.items();
            !versions.is_empty() && !items.any(|version| REVIEW_VERSIONS.contains(&version.as_text()))
        };
        let mut names = HashSet::new();
        let conditions = |hook: Node<'_, '_>, old: Node<'_, '_>| {
            hook.child("matchConditions").value() == old.child("matchConditions").value()
        };
        let mut pairs = webhooks.items().zip(old.items());
        HookTolerance {
            conditions: webhooks.len() == old.len() && pairs.all(|(hook, old)| conditions(hook, old)),
            side_effects: old.items().any(has_side_effects),
            review_versions: old.items().any(has_other_versions),
            repeated_names: !old.items().all(|hook| names.insert(hook.child("name").as_text())),
            label_values: old.items().any(|hook| has_invalid_selector(&hook)),
        }
    }
}

fn has_invalid_selector(hook: &Node<'_, '_>) -> bool {
    let mut errors = Errors::default();
    validate_selector(&hook.child("namespaceSelector"), false, &mut errors);
    validate_selector(&hook.child("objectSelector"), false, &mut errors);
    !errors.is_empty()
}

pub(super) fn validate(
    kind: Kind,
    change: ObjectChange<'_, '_>,
    compiler: &dyn ExpressionCompiler,
    errors: &mut FieldErrors,
) {
    let (webhooks, old) = (change.object.child("webhooks"), change.old.child("webhooks"));
    let tolerance = if change.old.is_set() {
        HookTolerance::from_stored(&webhooks, &old)
    } else {
        HookTolerance::default()
    };
    let stored = StoredTexts::of_webhooks(&old);
    let declared = Declarations {
        authorizer: true,
        ..Declarations::default()
    };
    let mut names = HashSet::new();
    for hook in webhooks.items() {
        validate_hook(kind, &hook, &tolerance, errors);
        if !tolerance.conditions {
            let mut expressions = ValidatedExpressions::new(compiler, &stored, declared);
            expressions.match_conditions(&hook.child("matchConditions"), errors);
        }
        let versions = hook.child("admissionReviewVersions");
        validate_review_versions(&versions, tolerance.review_versions, errors);
        let name = hook.child("name");
        if !name.as_text().is_empty() && !names.insert(name.as_text()) && !tolerance.repeated_names {
            errors.list.duplicate(name, name.as_text());
        }
    }
}

// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateMutatingWebhook
fn validate_hook(kind: Kind, hook: &Node<'_, '_>, tolerance: &HookTolerance, errors: &mut FieldErrors) {
    validate_qualified_name(&hook.child("name"), errors);
    for rule in hook.child("rules").items() {
        rule_with_operations(&rule, errors);
    }
    one_of(&hook.child("failurePolicy"), FAILURE_POLICIES, errors);
    one_of(&hook.child("matchPolicy"), MATCH_POLICIES, errors);
    let side_effects = hook.child("sideEffects");
    let supported = if tolerance.side_effects {
        SIDE_EFFECTS
    } else {
        NO_SIDE_EFFECTS
    };
    if !side_effects.is_set() {
        let detail = format!("must specify one of {}", supported.join(", "));
        errors.list.required(side_effects, &detail);
    }
    one_of(&side_effects, supported, errors);
    let timeout = hook.child("timeoutSeconds");
    if timeout.is_set() && !(1..=30).contains(&timeout.int()) {
        errors
            .list
            .invalid_value(&timeout, "the timeout value must be between 1 and 30 seconds");
    }
    for name in ["namespaceSelector", "objectSelector"] {
        validate_selector(&hook.child(name), tolerance.label_values, &mut errors.list);
    }
    if kind == Kind::MutatingWebhookConfiguration {
        one_of(&hook.child("reinvocationPolicy"), REINVOCATION_POLICIES, errors);
    }
    validate_client_config(&hook.child("clientConfig"), errors);
}

/// A domain of at least three segments.
fn validate_qualified_name(name: &Node<'_, '_>, errors: &mut FieldErrors) {
    let text = name.as_text();
    let faults = validation::dns1123_subdomain(text);
    if text.is_empty() {
        errors.list.required(name, "");
    } else if !faults.is_empty() {
        errors.list.invalid(name, text, &faults.join(","));
    } else if text.split('.').count() < 3 {
        errors.list.invalid(
            name,
            text,
            "should be a domain with at least three segments separated by dots",
        );
    }
}

// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateAdmissionReviewVersions
fn validate_review_versions(versions: &Node<'_, '_>, are_others_allowed: bool, errors: &mut FieldErrors) {
    let supported = REVIEW_VERSIONS.join(", ");
    if versions.is_empty() {
        errors
            .list
            .required(versions, &format!("must specify one of {supported}"));
        return;
    }
    let mut used = HashSet::new();
    for version in versions.items() {
        if !used.insert(version.as_text()) {
            errors
                .list
                .invalid(version, version.as_text(), "duplicate version");
            continue;
        }
        for detail in validation::dns1035_label(version.as_text()) {
            errors.list.invalid(version, version.as_text(), &detail);
        }
    }
    if !are_others_allowed && !REVIEW_VERSIONS.iter().any(|version| used.contains(version)) {
        errors
            .list
            .invalid_value(versions, &format!("must include at least one of {supported}"));
    }
}

fn validate_client_config(config: &Node<'_, '_>, errors: &mut FieldErrors) {
    let url = config.child("url");
    let service = config.child("service");
    match (url.is_set(), service.is_set()) {
        (true, false) => validate_webhook_url(&url, &mut errors.list),
        (false, true) => validate_webhook_service(&service, &mut errors.list),
        _ => errors
            .list
            .required(config, "exactly one of url or service is required"),
    }
}
