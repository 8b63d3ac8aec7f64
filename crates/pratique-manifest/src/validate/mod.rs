//! Validation as the API does it on creation: every rule of every kind, in the server's order and with its messages.

mod binding;
pub(crate) mod created_metadata;
mod errors;
mod expressions;
mod matching;
mod metadata;
mod mutation;
mod policy;
pub(crate) mod problems;
mod selector;
pub(crate) mod static_rules;
mod view;
mod webhook;
pub(crate) mod wrong_fields;

pub(crate) use errors::{FieldError, path_text};

use serde_json::Value as Json;

use crate::expression::ExpressionCompiler;
use crate::kind::Kind;
use errors::FieldErrors;
use view::View;

/// Validates a defaulted object.
pub(crate) fn validate(kind: Kind, object: &Json, compiler: &dyn ExpressionCompiler) -> Vec<FieldError> {
    let object = View::root(object);
    let mut errors = FieldErrors::default();
    metadata::validate(&object.field("metadata"), &mut errors);
    match kind {
        Kind::ValidatingAdmissionPolicy => policy::validate(&object, compiler, &mut errors),
        Kind::MutatingAdmissionPolicy => mutation::validate(&object.field("spec"), compiler, &mut errors),
        Kind::ValidatingAdmissionPolicyBinding => {
            binding::validate_validating(&object.field("spec"), &mut errors)
        }
        Kind::MutatingAdmissionPolicyBinding => {
            binding::validate_mutating(&object.field("spec"), &mut errors)
        }
        Kind::ValidatingWebhookConfiguration | Kind::MutatingWebhookConfiguration => {
            webhook::validate(kind, &object.field("webhooks"), compiler, &mut errors);
        }
    }
    errors.into_vec()
}
