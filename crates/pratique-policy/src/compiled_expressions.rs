//! The expressions of a policy, compiled.

use std::sync::Arc;

use k8s_openapi::api::admissionregistration::v1 as api;
use pratique_expression::{
    BoundExpression, Composition, Declarations, Definition, Expression, ExpressionError, ExpressionPurpose,
};

use crate::variable_names::unescaped;

/// A compiled expression, or its error: a stored policy is used as far as possible.
#[derive(Debug)]
pub(crate) struct CompiledExpression {
    pub(crate) expression: Result<Arc<Expression>, Box<ExpressionError>>,
    /// The expression with its variables; policies that have the same share its results.
    pub(crate) bound: Option<Arc<BoundExpression>>,
}

/// How long a chain of variables that need each other may be: each takes its part of the stack.
pub(crate) const MAX_NESTING: usize = 100;

/// A variable with its name.
pub(crate) type NamedVariable = (Box<str>, CompiledExpression);

/// The expressions of a validating policy besides match conditions and variables.
#[derive(Debug)]
pub(crate) struct ValidatingExpressions {
    pub(crate) validations: Box<[CompiledValidation]>,
    pub(crate) annotations: Box<[CompiledAnnotation]>,
    /// Whether any validation has a message expression.
    pub(crate) has_messages: bool,
}

/// A validation.
#[derive(Debug)]
pub(crate) struct CompiledValidation {
    pub(crate) expression: CompiledExpression,
    pub(crate) message_expression: Option<CompiledExpression>,
    /// The message without a message expression, or where that fails.
    pub(crate) message: Box<str>,
    pub(crate) reason: Option<Box<str>>,
}

/// An audit annotation.
#[derive(Debug)]
pub(crate) struct CompiledAnnotation {
    pub(crate) key: Box<str>,
    pub(crate) value: CompiledExpression,
    pub(crate) text: Box<str>,
}

impl CompiledExpression {
    /// Whether its result may be used again, in this policy or another, or may be that of a batch.
    pub(crate) fn is_shared(&self) -> bool {
        let bound = self.bound.as_ref();
        bound.is_some_and(|bound| Arc::strong_count(bound) > 1)
    }

    /// Whether it reads `authorizer`.
    pub(crate) fn asks_authorizer(&self) -> bool {
        let expression = self.expression.as_deref();
        expression.is_ok_and(Expression::asks_authorizer)
    }

    /// Whether it reads more of `namespaceObject` than the name.
    pub(crate) fn reads_whole_namespace(&self) -> bool {
        let expression = self.expression.as_deref();
        expression.is_ok_and(Expression::reads_whole_namespace)
    }
}

/// Compiles the expressions of a policy whose variables are compiled already.
pub(crate) struct PolicyCompiler<'c> {
    composition: Composition<'c>,
    /// By name, with their bound form.
    variables: Vec<(Box<str>, Option<Arc<BoundExpression>>)>,
}

impl<'c> PolicyCompiler<'c> {
    /// Compiles the variables. They are bound once all are compiled, as a name refers to the last variable of that
    /// name.
    pub(crate) fn new(
        mut composition: Composition<'c>,
        variables: &[api::Variable],
        declarations: Declarations,
    ) -> (Self, Box<[NamedVariable]>) {
        let compiled: Vec<_> = variables
            .iter()
            .map(|variable| composition.variable(&variable.name, &variable.expression, declarations))
            .collect();
        let names = variables
            .iter()
            .map(|variable| (variable.name.as_str().into(), None));
        let mut compiler = PolicyCompiler {
            composition,
            variables: names.collect(),
        };
        let bound = compiled.into_iter().enumerate().map(|(at, expression)| {
            let compiled = compiler.bind(expression, at);
            if let Some((_, place)) = compiler.variables.get_mut(at) {
                place.clone_from(&compiled.bound);
            }
            compiled
        });
        let compiled: Vec<CompiledExpression> = bound.collect();
        let names = variables.iter().map(|variable| variable.name.as_str().into());
        (compiler, names.zip(compiled).collect())
    }

    pub(crate) fn compile(
        &self,
        text: &str,
        usage: ExpressionPurpose,
        declarations: Declarations,
    ) -> CompiledExpression {
        let expression = self.composition.compile(text, usage, declarations);
        self.bind(expression, self.variables.len())
    }

    /// Binds an expression to the variables before a place.
    fn bind(&self, expression: Result<Arc<Expression>, ExpressionError>, place: usize) -> CompiledExpression {
        let bound = expression.as_ref().ok().and_then(|expression| {
            let cache = self.composition.cache();
            cache.bind(expression, |field| self.definition(field, place))
        });
        CompiledExpression {
            expression: expression.map_err(Box::new),
            bound,
        }
    }

    fn definition(&self, field: &str, place: usize) -> Definition {
        let Some(name) = unescaped(field) else {
            return Definition::Undeclared;
        };
        let Some(at) = self
            .variables
            .iter()
            .rposition(|(variable, _)| **variable == *name)
        else {
            return Definition::Undeclared;
        };
        match self.variables.get(at) {
            // Past this many, the order in which they are read decides which fails.
            Some((_, Some(bound))) if at < place && self.variables.len() <= MAX_NESTING => {
                Definition::Bound(bound.clone())
            }
            _ => Definition::Unbound,
        }
    }
}

impl ValidatingExpressions {
    pub(crate) fn compile(
        spec: &api::ValidatingAdmissionPolicySpec,
        compiler: &PolicyCompiler<'_>,
        full: Declarations,
    ) -> Self {
        let annotations = spec.audit_annotations.as_deref().unwrap_or_default().iter();
        let validations = spec.validations.as_deref().unwrap_or_default().iter();
        let validations: Box<[CompiledValidation]> = validations
            .map(|validation| CompiledValidation::compile(validation, compiler, full))
            .collect();
        ValidatingExpressions {
            has_messages: validations
                .iter()
                .any(|validation| validation.message_expression.is_some()),
            validations,
            annotations: annotations
                .map(|annotation| CompiledAnnotation {
                    key: annotation.key.as_str().into(),
                    value: compiler.compile(
                        &annotation.value_expression,
                        ExpressionPurpose::AuditAnnotation,
                        full,
                    ),
                    text: annotation.value_expression.as_str().into(),
                })
                .collect(),
        }
    }

    /// Whether one of them reads `authorizer`; only validations can.
    pub(crate) fn ask_authorizer(&self) -> bool {
        let mut validations = self.validations.iter();
        validations.any(|validation| validation.expression.asks_authorizer())
    }
}

impl CompiledValidation {
    fn compile(validation: &api::Validation, compiler: &PolicyCompiler<'_>, full: Declarations) -> Self {
        let without_authorizer = Declarations {
            authorizer: false,
            ..full
        };
        let message_expression = validation.message_expression.as_deref();
        let message_expression = message_expression.filter(|text| !text.is_empty());
        let message = match validation.message.as_deref().unwrap_or_default().trim() {
            "" => format!("failed expression: {}", validation.expression.trim()).into(),
            message => message.into(),
        };
        CompiledValidation {
            expression: compiler.compile(&validation.expression, ExpressionPurpose::Validation, full),
            message_expression: message_expression
                .map(|text| compiler.compile(text, ExpressionPurpose::Message, without_authorizer)),
            message,
            reason: validation.reason.as_deref().map(Into::into),
        }
    }
}
