//! CEL expressions of policies and webhooks.

use std::collections::HashSet;

use pratique_gotext::validation;

use super::errors::FieldErrors;
use super::view::View;
use crate::expression::{
    Declarations, ExpressionCompiler, ExpressionError, ExpressionIssue, ExpressionUse, PolicyExpressions,
};

const CONDITIONS_MAX: usize = 64;

/// The expressions of one policy or webhook while they are validated.
pub(super) struct Expressions<'a> {
    compiler: Box<dyn PolicyExpressions + 'a>,
    /// The declarations for all expressions; `variables` are not declared for match conditions.
    pub(super) declared: Declarations,
}

impl<'a> Expressions<'a> {
    pub(super) fn new(compiler: &'a dyn ExpressionCompiler, declared: Declarations) -> Self {
        Self {
            compiler: compiler.begin(),
            declared,
        }
    }

    /// Compiles a field's expression as it is written.
    pub(super) fn compile(&mut self, field: &View<'_>, usage: ExpressionUse<'_>, errors: &mut FieldErrors) {
        self.compile_text(field, field.text(), field.text(), usage, self.declared, errors);
    }

    /// Compiles a field's expression without the blanks around it.
    pub(super) fn compile_trimmed(
        &mut self,
        field: &View<'_>,
        usage: ExpressionUse<'_>,
        errors: &mut FieldErrors,
    ) {
        let text = field.text().trim();
        self.compile_text(field, text, text, usage, self.declared, errors);
    }

    pub(super) fn compile_text(
        &mut self,
        field: &View<'_>,
        text: &str,
        shown: &str,
        usage: ExpressionUse<'_>,
        declared: Declarations,
        errors: &mut FieldErrors,
    ) {
        let Err(error) = self.compiler.compile(text, usage, declared) else {
            return;
        };
        let lead = field.text().len() - field.text().trim_start().len();
        let trimmed = if text.len() < field.text().len() { lead } else { 0 };
        let shift = |mut issue: ExpressionIssue| {
            issue.offset += trimmed;
            let replacement = issue.help.as_mut().and_then(|help| help.replacement.as_mut());
            if let Some((range, _)) = replacement {
                *range = range.start + trimmed..range.end + trimmed;
            }
            issue
        };
        let issues = error.issues.into_iter().map(shift).collect();
        errors.expression(field, shown, ExpressionError { issues, ..error });
    }

    /// The match conditions of a policy or a webhook.
    pub(super) fn match_conditions(&mut self, conditions: &View<'_>, errors: &mut FieldErrors) {
        if conditions.len() > CONDITIONS_MAX {
            errors.too_many(conditions, CONDITIONS_MAX);
        }
        let mut names = HashSet::new();
        for condition in conditions.items() {
            self.match_condition(&condition, errors);
            let name = condition.field("name");
            if !name.text().is_empty() && !names.insert(name.text().to_owned()) {
                errors.duplicate(&name);
            }
        }
    }

    fn match_condition(&mut self, condition: &View<'_>, errors: &mut FieldErrors) {
        let expression = condition.field("expression");
        let text = expression.text().trim();
        if text.is_empty() {
            errors.required(&expression, "");
        } else {
            let declared = Declarations {
                params: self.declared.params,
                authorizer: true,
                ..Declarations::default()
            };
            self.compile_text(
                &expression,
                text,
                text,
                ExpressionUse::MatchCondition,
                declared,
                errors,
            );
        }
        let name = condition.field("name");
        if name.text().is_empty() {
            errors.required(&name, "");
        } else {
            for detail in validation::qualified_name(name.text()) {
                errors.invalid(&name, name.text(), &detail);
            }
        }
    }

    /// The variables of a policy. A variable with an error is declared as well.
    pub(super) fn variables(&mut self, variables: &View<'_>, errors: &mut FieldErrors) {
        for variable in variables.items() {
            let name = variable.field("name");
            if name.text().trim().is_empty() {
                errors.required(&name, "name is not specified");
            } else if !is_identifier(name.text()) {
                errors.invalid(&name, name.text(), "must be a valid CEL identifier");
            }
            let expression = variable.field("expression");
            if expression.text().trim().is_empty() {
                errors.required(&expression, "expression is not specified");
            } else {
                let declared = Declarations {
                    patch_types: false,
                    ..self.declared
                };
                let usage = ExpressionUse::Variable { name: name.text() };
                self.compile_text(
                    &expression,
                    expression.text(),
                    expression.text(),
                    usage,
                    declared,
                    errors,
                );
            }
        }
    }
}

// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, isCELIdentifier
fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c == '_' || c.is_ascii_alphabetic())
        && chars.all(|c| c == '_' || c.is_ascii_alphanumeric())
        && !validation::CEL_RESERVED.contains(&name)
}
