//! The expressions of a policy, compiled.

use std::sync::Arc;

use k8s_openapi::api::admissionregistration::v1 as api;
use pratique_expression::{Composition, Declarations, Expression, ExpressionError, Use};

/// A compiled expression, or why it is none: a stored policy is used as far as it goes.
pub(crate) type Compiled = Result<Arc<Expression>, ExpressionError>;

/// What a validating policy evaluates once it applies.
#[derive(Debug)]
pub(crate) struct Expressions {
    pub(crate) validations: Vec<Validation>,
    pub(crate) annotations: Vec<Annotation>,
}

/// A validation.
#[derive(Debug)]
pub(crate) struct Validation {
    pub(crate) expression: Compiled,
    pub(crate) message_expression: Option<Compiled>,
    /// What to say without a message expression, or where it fails.
    pub(crate) message: String,
    pub(crate) reason: Option<String>,
}

/// An audit annotation.
#[derive(Debug)]
pub(crate) struct Annotation {
    pub(crate) key: String,
    pub(crate) value: Compiled,
    pub(crate) text: String,
}

impl Expressions {
    pub(crate) fn compile(
        spec: &api::ValidatingAdmissionPolicySpec,
        composition: &Composition<'_>,
        full: Declarations,
    ) -> Self {
        let annotations = spec.audit_annotations.iter().flatten();
        let validations = spec.validations.iter().flatten();
        Expressions {
            validations: validations
                .map(|validation| Validation::compile(validation, composition, full))
                .collect(),
            annotations: annotations
                .map(|annotation| Annotation {
                    key: annotation.key.clone(),
                    value: composition.compile(&annotation.value_expression, Use::AuditAnnotation, full),
                    text: annotation.value_expression.clone(),
                })
                .collect(),
        }
    }
}

impl Validation {
    fn compile(validation: &api::Validation, composition: &Composition<'_>, full: Declarations) -> Self {
        let without_authorizer = Declarations {
            authorizer: false,
            ..full
        };
        let message_expression = validation.message_expression.as_deref();
        let message_expression = message_expression.filter(|text| !text.is_empty());
        let given = validation.message.as_deref().unwrap_or_default().trim();
        let message = match given {
            "" => format!("failed expression: {}", validation.expression.trim()),
            given => given.to_owned(),
        };
        Validation {
            expression: composition.compile(&validation.expression, Use::Validation, full),
            message_expression: message_expression
                .map(|text| composition.compile(text, Use::Message, without_authorizer)),
            message,
            reason: validation.reason.clone(),
        }
    }
}
