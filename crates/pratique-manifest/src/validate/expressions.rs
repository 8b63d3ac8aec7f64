//! CEL expressions of policies and webhooks.

use std::collections::HashSet;

use pratique_gotext::validation;
use pratique_validation::rules::Node;

use super::errors::FieldErrors;
use crate::expression::{
    Declarations, ExpressionCompiler, ExpressionError, ExpressionIssue, ExpressionUse, PolicyExpressions,
};

const CONDITIONS_MAX: i64 = 64;

/// The expressions of one policy or webhook while they are validated.
pub(super) struct ValidatedExpressions<'a> {
    compiler: Box<dyn PolicyExpressions + 'a>,
    stored: &'a StoredTexts<'a>,
    /// The declarations for all expressions; `variables` are not declared for match conditions.
    pub(super) declared: Declarations,
}

/// The texts of the stored object's expressions: they may go on to use what a server of the version before does not have.
// Upstream: pkg/apis/admissionregistration/validation/validation.go, preexistingExpressions
#[derive(Debug, Default)]
pub(super) struct StoredTexts<'v> {
    conditions: HashSet<&'v str>,
    validations: HashSet<&'v str>,
    messages: HashSet<&'v str>,
    annotations: HashSet<&'v str>,
    configurations: HashSet<&'v str>,
}

impl<'v> StoredTexts<'v> {
    /// Those of a policy, or of no policy.
    // Upstream: pkg/apis/admissionregistration/validation/validation.go, find…PolicyPreexistingExpressions
    pub(super) fn of_policy(spec: &Node<'_, 'v>) -> Self {
        let texts = |list: &str, name: &str| -> HashSet<&'v str> {
            let list = spec.child(list);
            list.items().map(|item| item.child(name).as_text()).collect()
        };
        let mutations = spec.child("mutations");
        let configurations = mutations.items().filter_map(|mutation| {
            let configuration = mutation.child("applyConfiguration");
            configuration
                .is_set()
                .then(|| configuration.child("expression").as_text())
        });
        StoredTexts {
            conditions: texts("matchConditions", "expression"),
            validations: texts("validations", "expression"),
            messages: texts("validations", "messageExpression"),
            annotations: texts("auditAnnotations", "valueExpression"),
            configurations: configurations.collect(),
        }
    }

    /// Those of a webhook configuration, or of none.
    pub(super) fn of_webhooks(webhooks: &Node<'_, 'v>) -> Self {
        let mut texts = StoredTexts::default();
        for webhook in webhooks.items() {
            let conditions = webhook.child("matchConditions");
            texts.conditions.extend(
                conditions
                    .items()
                    .map(|condition| condition.child("expression").as_text()),
            );
        }
        texts
    }

    /// Whether there is an expression. As in the server, variables are looked for among the validations, and patches among the
    /// apply configurations.
    fn contains(&self, usage: ExpressionUse<'_>, text: &str) -> bool {
        let texts = match usage {
            ExpressionUse::MatchCondition => &self.conditions,
            ExpressionUse::Variable { .. } | ExpressionUse::Validation => &self.validations,
            ExpressionUse::Message => &self.messages,
            ExpressionUse::AuditAnnotation => &self.annotations,
            ExpressionUse::ApplyConfiguration | ExpressionUse::JsonPatch => &self.configurations,
        };
        texts.contains(text)
    }
}

impl<'a> ValidatedExpressions<'a> {
    pub(super) fn new(
        compiler: &'a dyn ExpressionCompiler,
        stored: &'a StoredTexts<'a>,
        declared: Declarations,
    ) -> Self {
        Self {
            compiler: compiler.begin(),
            stored,
            declared,
        }
    }

    /// Compiles a field's expression as it is written.
    pub(super) fn compile(
        &mut self,
        field: &Node<'_, '_>,
        usage: ExpressionUse<'_>,
        errors: &mut FieldErrors,
    ) {
        self.compile_text(
            field,
            field.as_text(),
            field.as_text(),
            usage,
            self.declared,
            errors,
        );
    }

    /// Compiles a field's expression without the blanks around it.
    pub(super) fn compile_trimmed(
        &mut self,
        field: &Node<'_, '_>,
        usage: ExpressionUse<'_>,
        errors: &mut FieldErrors,
    ) {
        let text = field.as_text().trim();
        self.compile_text(field, text, text, usage, self.declared, errors);
    }

    pub(super) fn compile_text(
        &mut self,
        field: &Node<'_, '_>,
        text: &str,
        reported_text: &str,
        usage: ExpressionUse<'_>,
        declared: Declarations,
        errors: &mut FieldErrors,
    ) {
        // Conditions are looked for without the blanks around them, the others with them.
        let key = if usage == ExpressionUse::MatchCondition {
            text
        } else {
            field.as_text()
        };
        let declared = Declarations {
            stored: self.stored.contains(usage, key),
            ..declared
        };
        let Err(error) = self.compiler.compile(text, usage, declared) else {
            return;
        };
        let lead = field.as_text().len() - field.as_text().trim_start().len();
        let trimmed = if text.len() < field.as_text().len() {
            lead
        } else {
            0
        };
        let shift = |mut issue: ExpressionIssue| {
            issue.offset += trimmed;
            let replacement = issue.help.as_mut().and_then(|help| help.replacement.as_mut());
            if let Some((range, _)) = replacement {
                *range = range.start + trimmed..range.end + trimmed;
            }
            issue
        };
        let issues = error.issues.into_iter().map(shift).collect();
        errors.expression(field, reported_text, ExpressionError { issues, ..error });
    }

    /// The match conditions of a policy or a webhook.
    // Upstream: pkg/apis/admissionregistration/validation/validation.go, validateMatchConditions
    pub(super) fn match_conditions(&mut self, conditions: &Node<'_, '_>, errors: &mut FieldErrors) {
        if conditions.len() as i64 > CONDITIONS_MAX {
            errors.list.too_many(conditions, CONDITIONS_MAX);
        }
        let mut names = HashSet::new();
        for condition in conditions.items() {
            self.match_condition(&condition, errors);
            let name = condition.child("name");
            if !name.as_text().is_empty() && !names.insert(name.as_text()) {
                errors.list.duplicate(name, name.as_text());
            }
        }
    }

    fn match_condition(&mut self, condition: &Node<'_, '_>, errors: &mut FieldErrors) {
        let expression = condition.child("expression");
        let text = expression.as_text().trim();
        if text.is_empty() {
            errors.list.required(expression, "");
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
        let name = condition.child("name");
        if name.as_text().is_empty() {
            errors.list.required(name, "");
        } else {
            errors
                .list
                .invalid_each(&name, &validation::qualified_name(name.as_text()));
        }
    }

    /// The variables of a policy. A variable with an error is declared as well.
    // Upstream: pkg/apis/admissionregistration/validation/validation.go, validateVariable
    pub(super) fn variables(&mut self, variables: &Node<'_, '_>, errors: &mut FieldErrors) {
        for variable in variables.items() {
            let name = variable.child("name");
            if name.as_text().trim().is_empty() {
                errors.list.required(name, "name is not specified");
            } else if !is_identifier(name.as_text()) {
                errors.list.invalid_value(&name, "must be a valid CEL identifier");
            }
            let expression = variable.child("expression");
            if expression.as_text().trim().is_empty() {
                errors.list.required(expression, "expression is not specified");
            } else {
                let declared = Declarations {
                    patch_types: false,
                    ..self.declared
                };
                let usage = ExpressionUse::Variable { name: name.as_text() };
                let text = expression.as_text();
                self.compile_text(&expression, text, text, usage, declared, errors);
            }
        }
    }
}

// Upstream: pkg/apis/admissionregistration/validation/validation.go, isCELIdentifier
fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c == '_' || c.is_ascii_alphabetic())
        && chars.all(|c| c == '_' || c.is_ascii_alphanumeric())
        && !validation::CEL_RESERVED.contains(&name)
}
