//! The rules of `x-kubernetes-validations`, but for what their expressions say.

use std::cell::LazyCell;

use pratique_types::field::Path;
use pratique_validation::rules::{Errors, Node};

use crate::rules::resolve;
use crate::schema::{ReadFaults, SchemaNode, read};

const REASONS: &[&str] = &[
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
];

/// Validates the rules of a schema.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, ValidateCustomResourceDefinitionOpenAPISchema
pub(super) fn validate_rules(rules: &Node<'_, '_>, schema: &Node<'_, '_>, errors: &mut Errors) {
    // Paths are followed in the schema, which is read once for all rules.
    let followed = LazyCell::new(|| {
        let mut faults = ReadFaults::default();
        let schema = read(schema.value(), &Path::ROOT, &mut faults);
        faults.is_empty().then_some(schema)
    });
    for rule in rules.items() {
        validate_rule(&rule, || followed.as_ref(), errors);
    }
}

fn validate_rule<'s>(
    rule: &Node<'_, '_>,
    schema: impl FnOnce() -> Option<&'s SchemaNode>,
    errors: &mut Errors,
) {
    let (text, message) = (rule.child("rule"), rule.child("message"));
    let (trimmed, trimmed_message) = (text.as_text().trim(), message.as_text().trim());
    if trimmed.is_empty() {
        errors.required(text, "rule is not specified");
    } else if !message.as_text().is_empty() && trimmed_message.is_empty() {
        errors.invalid(message, message.as_text(), "must be non-empty if specified");
    } else if has_lines(trimmed_message) {
        errors.invalid(message, message.as_text(), "must not contain line breaks");
    } else if has_lines(trimmed) && trimmed_message.is_empty() {
        errors.required(message, "message must be specified if rule contains line breaks");
    }
    let expression = rule.child("messageExpression");
    if !expression.as_text().is_empty() && expression.as_text().trim().is_empty() {
        errors.required(expression, "messageExpression must be non-empty if specified");
    }
    let reason = rule.child("reason");
    if reason.is_set() && !REASONS.contains(&reason.as_text()) {
        errors.not_supported(&reason, REASONS);
    }
    let field_path = rule.child("fieldPath");
    let given = field_path.as_text();
    if given.is_empty() {
        return;
    }
    if given.trim().is_empty() {
        errors.invalid(field_path, given, "must be non-empty if specified");
    }
    if has_lines(given) {
        errors.invalid(field_path, given, "must not contain line breaks");
    }
    // Of a schema that cannot be followed, all paths are.
    // Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, pathValid
    if schema().is_some_and(|schema| resolve(given, schema, true).is_err()) {
        errors.invalid(field_path, given, "must be a valid path");
    }
}

fn has_lines(text: &str) -> bool {
    text.contains(['\n', '\r'])
}
