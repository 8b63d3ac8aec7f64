//! ValidatingAdmissionPolicy, and the fields that both kinds of policy have.

use std::collections::HashSet;

use pratique_gotext::validation;
use pratique_types::GroupVersion;
use serde_json::Value as Json;

use super::errors::FieldErrors;
use super::expressions::Expressions;
use super::matching::{FAILURE_POLICIES, match_constraints, one_of, required_one_of};
use super::view::View;
use crate::expression::{Declarations, ExpressionCompiler, ExpressionUse};

const ANNOTATIONS_MAX: usize = 20;
const ANNOTATION_EXPRESSION_MAX: usize = 5 * 1024;
const REASONS: &[&str] = &["Forbidden", "Invalid", "RequestEntityTooLarge"];

// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateValidatingAdmissionPolicySpec
pub(super) fn validate(policy: &View<'_>, compiler: &dyn ExpressionCompiler, errors: &mut FieldErrors) {
    let spec = policy.field("spec");
    let declared = Declarations {
        params: !spec.field("paramKind").is_absent(),
        authorizer: true,
        patch_types: false,
        variables: spec.field("variables").len() > 0,
    };
    let mut expressions = Expressions::new(compiler, declared);
    common(&spec, &mut expressions, errors);
    let validations = spec.field("validations");
    let annotations = spec.field("auditAnnotations");
    if validations.len() == 0 && annotations.len() == 0 {
        let detail = "validations or auditAnnotations must contain at least one item";
        errors.required(&validations, detail);
        errors.required(&annotations, detail);
        return;
    }
    for validation in validations.items() {
        validate_validation(&validation, &mut expressions, errors);
    }
    audit_annotations(
        policy.field("metadata").field("name").text(),
        &annotations,
        &mut expressions,
        errors,
    );
}

/// The fields that both kinds of policy begin with: failure policy, parameters, constraints, conditions, variables.
pub(super) fn common(spec: &View<'_>, expressions: &mut Expressions<'_>, errors: &mut FieldErrors) {
    required_one_of(&spec.field("failurePolicy"), FAILURE_POLICIES, errors);
    let param_kind = spec.field("paramKind");
    if !param_kind.is_absent() {
        validate_param_kind(&param_kind, errors);
    }
    match_constraints(&spec.field("matchConstraints"), errors);
    if expressions.declared.patch_types {
        super::matching::mutating_operations(&spec.field("matchConstraints"), errors);
    }
    expressions.match_conditions(&spec.field("matchConditions"), errors);
    expressions.variables(&spec.field("variables"), errors);
}

// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateParamKind
fn validate_param_kind(param_kind: &View<'_>, errors: &mut FieldErrors) {
    let api_version = param_kind.field("apiVersion");
    let text = api_version.text();
    match GroupVersion::parse(text) {
        _ if text.is_empty() => errors.required(&api_version, ""),
        Err(error) => errors.invalid(&api_version, text, &error.to_string()),
        Ok(GroupVersion { group, version }) => {
            let faults = validation::dns1123_subdomain(&group);
            if !group.is_empty() && !faults.is_empty() {
                errors.invalid(&api_version, &group, &faults.join(","));
            }
            let faults = validation::dns1035_label(&version);
            if version.is_empty() {
                errors.invalid(&api_version, text, "version must be specified");
            } else if !faults.is_empty() {
                errors.invalid(&api_version, &version, &faults.join(","));
            }
        }
    }
    let kind = param_kind.field("kind");
    let faults = validation::dns1035_label(&kind.text().to_lowercase());
    if kind.text().is_empty() {
        errors.required(&kind, "");
    } else if !faults.is_empty() {
        let detail = format!(
            "may have mixed case, but should otherwise match: {}",
            faults.join(",")
        );
        errors.invalid(&kind, kind.text(), &detail);
    }
}

// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateValidation
fn validate_validation(validation: &View<'_>, expressions: &mut Expressions<'_>, errors: &mut FieldErrors) {
    let expression = validation.field("expression");
    if expression.text().trim().is_empty() {
        errors.required(&expression, "expression is not specified");
    } else {
        expressions.compile(&expression, ExpressionUse::Validation, errors);
    }
    let message_expression = validation.field("messageExpression");
    if !message_expression.text().is_empty() {
        if message_expression.text().trim().is_empty() {
            errors.invalid(
                &message_expression,
                message_expression.text(),
                "must be non-empty if specified",
            );
        } else {
            let text = message_expression.text();
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
    let message = validation.field("message");
    let trimmed = message.text().trim();
    if !message.text().is_empty() && trimmed.is_empty() {
        errors.invalid(&message, message.text(), "must be non-empty if specified");
    } else if trimmed.contains(['\n', '\r']) {
        errors.invalid(&message, message.text(), "must not contain line breaks");
    }
    one_of(&validation.field("reason"), REASONS, errors);
}

fn audit_annotations(
    policy: &str,
    annotations: &View<'_>,
    expressions: &mut Expressions<'_>,
    errors: &mut FieldErrors,
) {
    if annotations.len() > ANNOTATIONS_MAX {
        let detail = format!("must not have more than {ANNOTATIONS_MAX} auditAnnotations");
        let shown: Vec<String> = annotations
            .items()
            .map(|annotation| annotation_text(&annotation))
            .collect();
        errors.invalid_text(annotations, &format!("[{}]", shown.join(",")), &detail);
    }
    let mut keys = HashSet::new();
    for annotation in annotations.items() {
        audit_annotation(policy, &annotation, expressions, errors);
        let key = annotation.field("key");
        if !keys.insert(key.text().to_owned()) {
            errors.duplicate(&key);
        }
    }
}

/// An audit annotation as the server shows it: by the names of the fields in Go.
fn annotation_text(annotation: &View<'_>) -> String {
    let shown = |name| Json::from(annotation.field(name).text()).to_string();
    let text = format!(
        "{{\"Key\":{},\"ValueExpression\":{}}}",
        shown("key"),
        shown("valueExpression")
    );
    pratique_json::escape_html(&text).into_owned()
}

// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateAuditAnnotation
fn audit_annotation(
    policy: &str,
    annotation: &View<'_>,
    expressions: &mut Expressions<'_>,
    errors: &mut FieldErrors,
) {
    let key = annotation.field("key");
    if policy.is_empty() {
        errors.invalid(&key, key.text(), "requires metadata.name be non-empty");
    } else {
        let full = format!("{policy}/{}", key.text());
        for detail in validation::qualified_name(&full) {
            errors.invalid(&key, &full, &detail);
        }
    }
    let value = annotation.field("valueExpression");
    let text = value.text().trim();
    if text.is_empty() {
        errors.required(&value, "valueExpression is not specified");
    } else if text.len() > ANNOTATION_EXPRESSION_MAX {
        errors.required(
            &value,
            &format!("must not exceed {ANNOTATION_EXPRESSION_MAX} bytes in length"),
        );
    } else {
        // The expression compiles without surrounding blanks, and is shown with them.
        let usage = ExpressionUse::AuditAnnotation;
        expressions.compile_text(&value, text, value.text(), usage, expressions.declared, errors);
    }
}
