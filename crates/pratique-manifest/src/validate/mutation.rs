//! MutatingAdmissionPolicy.

use super::errors::FieldErrors;
use super::expressions::Expressions;
use super::matching::{REINVOCATION_POLICIES, one_of};
use super::policy;
use super::view::View;
use crate::expression::{Declarations, ExpressionCompiler, ExpressionUse};

pub(super) const PATCH_TYPES: &[&str] = &["ApplyConfiguration", "JSONPatch"];

// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateMutatingAdmissionPolicySpec
pub(super) fn validate(spec: &View<'_>, compiler: &dyn ExpressionCompiler, errors: &mut FieldErrors) {
    let declared = Declarations {
        params: !spec.field("paramKind").is_absent(),
        authorizer: true,
        patch_types: true,
        variables: true,
    };
    let mut expressions = Expressions::new(compiler, declared);
    policy::common(spec, &mut expressions, errors);
    let mutations = spec.field("mutations");
    if mutations.len() == 0 {
        errors.required(&mutations, "mutations must contain at least one item");
    }
    for mutation in mutations.items() {
        validate_mutation(&mutation, &mut expressions, errors);
    }
    let reinvocation = spec.field("reinvocationPolicy");
    if reinvocation.text().is_empty() {
        errors.required(&reinvocation, "");
    } else {
        one_of(&reinvocation, REINVOCATION_POLICIES, errors);
    }
}

// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateMutation
fn validate_mutation(mutation: &View<'_>, expressions: &mut Expressions<'_>, errors: &mut FieldErrors) {
    let patch_type = mutation.field("patchType");
    let (wanted, other, usage) = match patch_type.text() {
        "JSONPatch" => ("jsonPatch", "applyConfiguration", ExpressionUse::JsonPatch),
        "ApplyConfiguration" => (
            "applyConfiguration",
            "jsonPatch",
            ExpressionUse::ApplyConfiguration,
        ),
        "" => return errors.required(&patch_type, ""),
        text => return errors.not_supported(&patch_type, text, PATCH_TYPES),
    };
    let patch = mutation.field(wanted);
    if patch.is_absent() {
        errors.required(
            &patch,
            &format!("must be specified when patchType is {}", patch_type.text()),
        );
    } else {
        let expression = patch.field("expression");
        if expression.text().trim().is_empty() {
            errors.required(&expression, "");
        } else {
            expressions.compile_trimmed(&expression, usage, errors);
        }
    }
    let other_patch = mutation.field(other);
    if !other_patch.is_absent() {
        let detail = format!("must not be specified when patchType is {}", patch_type.text());
        errors.invalid(&other_patch, &format!("{{{other}}}"), &detail);
    }
}
