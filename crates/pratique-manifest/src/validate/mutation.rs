//! MutatingAdmissionPolicy.

use pratique_validation::rules::Node;

use super::ObjectChange;
use super::errors::FieldErrors;
use super::expressions::{StoredTexts, ValidatedExpressions};
use super::matching::{REINVOCATION_POLICIES, one_of};
use super::policy;
use crate::expression::{Declarations, ExpressionCompiler, ExpressionUse};

pub(super) const PATCH_TYPES: &[&str] = &["ApplyConfiguration", "JSONPatch"];

// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateMutatingAdmissionPolicySpec
pub(super) fn validate(
    change: ObjectChange<'_, '_>,
    compiler: &dyn ExpressionCompiler,
    errors: &mut FieldErrors,
) {
    let (spec, old) = (change.object.child("spec"), change.old.child("spec"));
    let declared = Declarations {
        params: spec.child("paramKind").is_set(),
        authorizer: true,
        patch_types: true,
        variables: true,
        stored: false,
    };
    let stored = StoredTexts::of_policy(&old);
    let mut expressions = ValidatedExpressions::new(compiler, &stored, declared);
    policy::validate_common(change, &mut expressions, errors);
    let mutations = spec.child("mutations");
    if mutations.is_empty() {
        errors
            .list
            .required(mutations, "mutations must contain at least one item");
    }
    for mutation in mutations.items() {
        validate_mutation(&mutation, &mut expressions, errors);
    }
    let reinvocation = spec.child("reinvocationPolicy");
    if reinvocation.as_text().is_empty() {
        errors.list.required(reinvocation, "");
    } else {
        one_of(&reinvocation, REINVOCATION_POLICIES, errors);
    }
}

// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateMutation
fn validate_mutation(
    mutation: &Node<'_, '_>,
    expressions: &mut ValidatedExpressions<'_>,
    errors: &mut FieldErrors,
) {
    let patch_type = mutation.child("patchType");
    let (wanted, other, usage) = match patch_type.as_text() {
        "JSONPatch" => ("jsonPatch", "applyConfiguration", ExpressionUse::JsonPatch),
        "ApplyConfiguration" => (
            "applyConfiguration",
            "jsonPatch",
            ExpressionUse::ApplyConfiguration,
        ),
        "" => return errors.list.required(patch_type, ""),
        _ => return errors.not_supported(&patch_type, PATCH_TYPES),
    };
    let patch = mutation.child(wanted);
    if !patch.is_set() {
        errors.list.required(
            patch,
            &format!("must be specified when patchType is {}", patch_type.as_text()),
        );
    } else {
        let expression = patch.child("expression");
        if expression.as_text().trim().is_empty() {
            errors.list.required(expression, "");
        } else {
            expressions.compile_trimmed(&expression, usage, errors);
        }
    }
    let other_patch = mutation.child(other);
    if other_patch.is_set() {
        let detail = format!("must not be specified when patchType is {}", patch_type.as_text());
        errors.list.invalid(other_patch, format!("{{{other}}}"), &detail);
    }
}
