//! ValidatingAdmissionPolicy, and the fields that both kinds of policy have.

use std::collections::HashSet;

use pratique_gotext::validation;
use pratique_types::GroupVersion;
use pratique_validation::rules::{Node, internal_json};

use super::ObjectChange;
use super::errors::FieldErrors;
use super::expressions::{StoredTexts, ValidatedExpressions};
use super::matching::{FAILURE_POLICIES, match_constraints, one_of, required_one_of};
use crate::expression::{Declarations, ExpressionCompiler, ExpressionUse};

const ANNOTATIONS_MAX: usize = 20;
const ANNOTATION_EXPRESSION_MAX: usize = 5 * 1024;
const REASONS: &[&str] = &["Forbidden", "Invalid", "RequestEntityTooLarge"];

// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateValidatingAdmissionPolicySpec
pub(super) fn validate(
    change: ObjectChange<'_, '_>,
    compiler: &dyn ExpressionCompiler,
    errors: &mut FieldErrors,
) {
    let (spec, old) = (change.object.child("spec"), change.old.child("spec"));
    let declared = Declarations {
        params: spec.child("paramKind").is_set(),
        authorizer: true,
        patch_types: false,
        variables: !spec.child("variables").is_empty(),
        stored: false,
    };
    let stored = StoredTexts::of_policy(&old);
    let mut expressions = ValidatedExpressions::new(compiler, &stored, declared);
    validate_common(change, &mut expressions, errors);
    let validations = spec.child("validations");
    let annotations = spec.child("auditAnnotations");
    if validations.is_empty() && annotations.is_empty() {
        let detail = "validations or auditAnnotations must contain at least one item";
        errors.list.required(validations, detail);
        errors.list.required(annotations, detail);
        return;
    }
    for validation in validations.items() {
        validate_validation(&validation, &mut expressions, errors);
    }
    let metadata = change.object.child("metadata");
    audit_annotations(
        metadata.child("name").as_text(),
        &annotations,
        &mut expressions,
        errors,
    );
}

/// The fields that both kinds of policy begin with: failure policy, parameters, constraints, conditions, variables.
pub(super) fn validate_common(
    change: ObjectChange<'_, '_>,
    expressions: &mut ValidatedExpressions<'_>,
    errors: &mut FieldErrors,
) {
    let (spec, old) = (change.object.child("spec"), change.old.child("spec"));
    required_one_of(&spec.child("failurePolicy"), FAILURE_POLICIES, errors);
    let param_kind = spec.child("paramKind");
    if param_kind.is_set() {
        validate_param_kind(&param_kind, errors);
    }
    match_constraints(&spec.child("matchConstraints"), errors);
    if expressions.declared.patch_types {
        super::matching::mutating_operations(&spec.child("matchConstraints"), errors);
    }
    // What they may refer to did not change either.
    let is_unchanged = |name: &str| spec.child(name).is_same(&old.child(name));
    if !(old.is_set() && is_unchanged("paramKind") && is_unchanged("matchConditions")) {
        expressions.match_conditions(&spec.child("matchConditions"), errors);
    }
    expressions.variables(&spec.child("variables"), errors);
}

// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateParamKind
fn validate_param_kind(param_kind: &Node<'_, '_>, errors: &mut FieldErrors) {
    let api_version = param_kind.child("apiVersion");
    let text = api_version.as_text();
    match GroupVersion::parse(text) {
        _ if text.is_empty() => errors.list.required(api_version, ""),
        Err(error) => errors.list.invalid(api_version, text, &error.to_string()),
        Ok(GroupVersion { group, version }) => {
            let faults = validation::dns1123_subdomain(&group);
            if !group.is_empty() && !faults.is_empty() {
                errors.list.invalid(api_version, &group, &faults.join(","));
            }
            let faults = validation::dns1035_label(&version);
            if version.is_empty() {
                errors
                    .list
                    .invalid(api_version, text, "version must be specified");
            } else if !faults.is_empty() {
                errors.list.invalid(api_version, &version, &faults.join(","));
            }
        }
    }
    let kind = param_kind.child("kind");
    let faults = validation::dns1035_label(&kind.as_text().to_lowercase());
    if kind.as_text().is_empty() {
        errors.list.required(kind, "");
    } else if !faults.is_empty() {
        let detail = format!(
            "may have mixed case, but should otherwise match: {}",
            faults.join(",")
        );
        errors.list.invalid(kind, kind.as_text(), &detail);
    }
}

// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateValidation
fn validate_validation(
    validation: &Node<'_, '_>,
    expressions: &mut ValidatedExpressions<'_>,
    errors: &mut FieldErrors,
) {
    let expression = validation.child("expression");
    if expression.as_text().trim().is_empty() {
        errors.list.required(expression, "expression is not specified");
    } else {
        expressions.compile(&expression, ExpressionUse::Validation, errors);
    }
    let message_expression = validation.child("messageExpression");
    if !message_expression.as_text().is_empty() {
        if message_expression.as_text().trim().is_empty() {
            errors.list.invalid(
                message_expression,
                message_expression.as_text(),
                "must be non-empty if specified",
            );
        } else {
            let text = message_expression.as_text();
            let declared = Declarations {
                authorizer: false,
                ..expressions.declared
            };
            expressions.compile_text(
                &message_expression,
                text,
                text,
                ExpressionUse::Message,
                declared,
                errors,
            );
        }
    }
    let message = validation.child("message");
    let trimmed = message.as_text().trim();
    if !message.as_text().is_empty() && trimmed.is_empty() {
        errors
            .list
            .invalid(message, message.as_text(), "must be non-empty if specified");
    } else if trimmed.contains(['\n', '\r']) {
        errors
            .list
            .invalid(message, message.as_text(), "must not contain line breaks");
    }
    one_of(&validation.child("reason"), REASONS, errors);
}

fn audit_annotations(
    policy: &str,
    annotations: &Node<'_, '_>,
    expressions: &mut ValidatedExpressions<'_>,
    errors: &mut FieldErrors,
) {
    if annotations.len() > ANNOTATIONS_MAX {
        let detail = format!("must not have more than {ANNOTATIONS_MAX} auditAnnotations");
        let annotations_json = internal_json(
            errors.list.release(),
            "[]admissionregistration.AuditAnnotation",
            annotations.value(),
        );
        errors.list.invalid(annotations, annotations_json, &detail);
    }
    let mut keys = HashSet::new();
    for annotation in annotations.items() {
        audit_annotation(policy, &annotation, expressions, errors);
        let key = annotation.child("key");
        if !keys.insert(key.as_text()) {
            errors.list.duplicate(key, key.as_text());
        }
    }
}

// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateAuditAnnotation
fn audit_annotation(
    policy: &str,
    annotation: &Node<'_, '_>,
    expressions: &mut ValidatedExpressions<'_>,
    errors: &mut FieldErrors,
) {
    let key = annotation.child("key");
    if policy.is_empty() {
        errors
            .list
            .invalid(key, key.as_text(), "requires metadata.name be non-empty");
    } else {
        let full = format!("{policy}/{}", key.as_text());
        for detail in validation::qualified_name(&full) {
            errors.list.invalid(key, &full, &detail);
        }
    }
    let value = annotation.child("valueExpression");
    let text = value.as_text().trim();
    if text.is_empty() {
        errors.list.required(value, "valueExpression is not specified");
    } else if text.len() > ANNOTATION_EXPRESSION_MAX {
        errors.list.required(
            value,
            &format!("must not exceed {ANNOTATION_EXPRESSION_MAX} bytes in length"),
        );
    } else {
        // The expression compiles without surrounding blanks, and is shown with them.
        let usage = ExpressionUse::AuditAnnotation;
        expressions.compile_text(&value, text, value.as_text(), usage, expressions.declared, errors);
    }
}
