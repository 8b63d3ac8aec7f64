//! Validation as the API does it: every rule of every kind, in the server's order and with its messages.
//!
//! The rules are those of [`pratique_validation::rules`]: a load validates with them what a manifest says, and a
//! [`Validator`](pratique_validation::Validator) that has [`KIND_RULES`] what is sent to a server.

mod binding;
pub(crate) mod created_metadata;
mod errors;
mod expressions;
mod guidance;
#[cfg(feature = "expressions")]
mod kind_rules;
mod matching;
mod mutation;
mod policy;
pub(crate) mod problems;
pub(crate) mod static_rules;
mod webhook;
pub(crate) mod wrong_fields;

pub(crate) use errors::{DeclarativeRules, FieldError};
#[cfg(feature = "expressions")]
pub use kind_rules::KIND_RULES;

use pratique_json::Value;
use pratique_types::field::Error;
use pratique_validation::rules::{Node, subdomain_name, validate_object_meta};
use serde_json::Value as Json;

use crate::expression::ExpressionCompiler;
use crate::kind::Kind;
use errors::FieldErrors;

/// An object, and the stored one that it is to replace; absent where the object is new.
#[derive(Clone, Copy)]
struct ObjectChange<'n, 'v> {
    object: &'n Node<'static, 'v>,
    old: &'n Node<'static, 'v>,
}

/// Validates a defaulted object that is loaded.
pub(crate) fn validate(
    kind: Kind,
    object: &Json,
    compiler: &dyn ExpressionCompiler,
    declarative: DeclarativeRules,
) -> Vec<FieldError> {
    let mut errors = FieldErrors::of_release(compiler.release(), declarative);
    match Value::try_from(object) {
        Ok(object) => {
            let absent = Value::Null;
            let change = ObjectChange {
                object: &Node::root(&object),
                old: &Node::root(&absent),
            };
            validate_change(kind, change, compiler, &mut errors);
        }
        Err(error) => errors.list.push(Error::internal("metadata", &error.to_string())),
    }
    errors.into_vec()
}

fn validate_change(
    kind: Kind,
    change: ObjectChange<'_, '_>,
    compiler: &dyn ExpressionCompiler,
    errors: &mut FieldErrors,
) {
    let metadata = change.object.child("metadata");
    validate_object_meta(&metadata, false, subdomain_name, &mut errors.list);
    let spec = change.object.child("spec");
    match kind {
        Kind::ValidatingAdmissionPolicy => policy::validate(change, compiler, errors),
        Kind::MutatingAdmissionPolicy => mutation::validate(change, compiler, errors),
        Kind::ValidatingAdmissionPolicyBinding => binding::validate_validating(&spec, errors),
        Kind::MutatingAdmissionPolicyBinding => binding::validate_mutating(&spec, errors),
        Kind::ValidatingWebhookConfiguration | Kind::MutatingWebhookConfiguration => {
            webhook::validate(kind, change, compiler, errors);
        }
    }
}
