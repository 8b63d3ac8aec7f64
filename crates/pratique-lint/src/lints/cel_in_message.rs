//! Messages that look like expressions, which is what `messageExpression` is for.
//!
//! # What
//!
//! A `message` holds an expression, or a template with `{object…}`.
//!
//! # Why
//!
//! It is not evaluated: users get the text unchanged.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicy
//! metadata: {name: replicas}
//! spec:
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE]}]
//!   validations:
//!   - expression: object.spec.replicas <= 5
//!     message: "'too many replicas: ' + string(object.spec.replicas)"
//! ```
//!
//! Write it as `messageExpression`.

use pratique_cel::ast::{Ast, Expr};
use pratique_expression::{CURRENT_MINOR, Declarations, environment};

use crate::lint::{Lint, LintContext};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport};
use crate::subject::{item, path};

/// The lint `cel-in-message`.
pub(crate) struct CelInMessage;

impl Lint for CelInMessage {
    const META: &'static LintMeta = &LintMeta {
        name: "cel-in-message",
        summary: "A message holds an expression or a template: it is shown as it is written.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        let Some(subject) = context.policy() else {
            return;
        };
        let policy = subject.policy;
        let list = path("spec.validations");
        for (index, validation) in policy.validations.iter().enumerate() {
            let message = validation.message.as_deref().unwrap_or_default();
            let help = if is_expression(message) || is_broken_expression(message) {
                "write it as messageExpression"
            } else if has_template(message) {
                "write it as messageExpression: '…' + object.metadata.name + '…'"
            } else {
                continue;
            };
            let finding = LintFinding::new(
                Self::META,
                "the message is shown as it is written: nothing in it is evaluated",
            );
            report.add(&policy.origin, &item(&list, index, "message"), finding.help(help));
        }
    }
}

const VARIABLES: [&str; 7] = [
    "object",
    "oldObject",
    "request",
    "params",
    "variables",
    "namespaceObject",
    "authorizer",
];

/// Whether a text is an expression that reads variables, or joins texts.
fn is_expression(text: &str) -> bool {
    let environment = environment(Declarations::default(), CURRENT_MINOR);
    let Ok(ast) = environment.parse(text) else {
        return false;
    };
    match ast.expr(ast.root) {
        Expr::Call { function, .. } if &**function == "_+_" => true,
        Expr::Ident(_) | Expr::Literal(_) => false,
        _ => reads_variable(&ast),
    }
}

fn reads_variable(ast: &Ast) -> bool {
    let is_variable = |expr: &Expr| matches!(expr, Expr::Ident(name) if VARIABLES.contains(&&**name));
    ast.ids().any(|id| is_variable(ast.expr(id)))
}

/// Whether a text joins quoted texts and variables, though it is no valid expression.
fn is_broken_expression(text: &str) -> bool {
    let joined = text.split(['"', '\'']);
    let mut pieces = joined.map(str::trim).skip(1);
    pieces.any(|piece| {
        let after = piece.strip_prefix('+').or_else(|| piece.strip_suffix('+'));
        after.is_some_and(|rest| starts_with_variable(rest.trim()))
    })
}

/// Whether a text has a variable in braces: `{object.x}`, `${object.x}`, `{{ object.x }}`, `$(object.x)`.
fn has_template(text: &str) -> bool {
    let openings = text.match_indices('{').chain(text.match_indices("$("));
    openings.into_iter().any(|(at, opening)| {
        let inner = text.get(at + opening.len()..).unwrap_or_default();
        let inner = inner.trim_start_matches('{').trim_start().trim_start_matches('.');
        starts_with_variable(inner)
    })
}

fn starts_with_variable(text: &str) -> bool {
    let text = ["string(", "("]
        .iter()
        .find_map(|call| text.strip_prefix(call))
        .unwrap_or(text);
    VARIABLES.iter().any(|name| {
        text.strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(['.', '[']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check as find, policy};

    #[track_caller]
    fn check(message: &str, fires: bool) {
        let spec = format!("validations:\n- expression: 'true'\n  message: |-\n    {message}\n");
        let expected = [(message, "shown as it is written")];
        find(
            CelInMessage::META,
            &policy("CREATE", &spec),
            if fires { &expected } else { &[] },
        );
    }

    #[test]
    fn expressions_and_templates() {
        for message in [
            "'the replicas of ' + object.metadata.name + ' are too many'",
            "\"too many: \" + string(object.spec.replicas)",
            "object.metadata.name",
            "object.spec.replicas > 5 ? 'a' : 'b'",
            "string(variables.replicas)",
            "replicas of ' + object.metadata.name + ' are too many",
            "Pod {object.metadata.name} is not allowed",
            "Pod ${object.metadata.name} is not allowed",
            "Pod {{ .object.metadata.name }} is not allowed",
            "{{ request.userInfo.username }} may not do this",
        ] {
            check(message, true);
        }
    }

    #[test]
    fn plain_messages() {
        for message in [
            "object.spec.replicas must be no greater than 5",
            "privileged containers are not allowed",
            "forbidden",
            "use {a, b} or 'c'",
            "1 + 1 containers at most, as in {\"a\": 1}",
            "set spec.securityContext.runAsNonRoot == true",
            "the request's operation isn't allowed",
            "'quoted'",
        ] {
            check(message, false);
        }
    }
}
