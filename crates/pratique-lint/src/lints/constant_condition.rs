//! Match conditions that are the same for every request.
//!
//! # What
//!
//! A match condition is the same for every request that the rules match.
//!
//! # Why
//!
//! It is true, and without effect, or false, so that the policy or webhook never applies.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicy
//! metadata: {name: kept}
//! spec:
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
//!   matchConditions: [{name: deleted, expression: request.operation == 'DELETE'}]
//!   validations: [{expression: 'false'}]
//! ```
//!
//! The rules match `CREATE` only: add the operation to them, or remove the condition.

use pratique_expression::ExpressionPurpose;
use pratique_types::Operation;

use crate::analysis::{KnownValue, ParsedExpressions, RequestFacts};
use crate::lint::{Lint, LintContext};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport};
use crate::subject::{ExpressionGroup, ExpressionSite, RuleView, matched_operations};

/// The lint `constant-condition`.
pub(crate) struct ConstantCondition;

impl Lint for ConstantCondition {
    const META: &'static LintMeta = &LintMeta {
        name: "constant-condition",
        summary: "A match condition is true, or false, for every request that the rules match.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        let Some(ExpressionGroup {
            origin, sites, rules, ..
        }) = context.expression_group()
        else {
            return;
        };
        for site in sites
            .iter()
            .filter(|site| site.usage == ExpressionPurpose::MatchCondition)
        {
            let alone = std::slice::from_ref(site);
            let parsed = ParsedExpressions::new(alone);
            let message = match fold_condition(&parsed, alone, &RequestFacts::default()) {
                Some(true) => "the condition is always true: it has no effect",
                Some(false) => "the condition is always false: nothing is matched",
                None if is_never_true(&parsed, alone, rules) => {
                    "the condition is false for every operation of the rules: nothing is matched"
                }
                None => continue,
            };
            report.add(origin, &site.path, LintFinding::new(Self::META, message));
        }
    }
}

/// The value of a condition under facts, if it is constant.
fn fold_condition(
    parsed: &ParsedExpressions,
    site: &[ExpressionSite<'_>],
    facts: &RequestFacts<'_>,
) -> Option<bool> {
    let Some(folded_policy) = parsed.fold(site, facts) else {
        return Some(false);
    };
    let ast = parsed.asts.first()?.as_ref()?;
    (*folded_policy.folded.first()?.value(ast.root) == KnownValue::Bool(true)).then_some(true)
}

/// Whether a condition is false for all that rules match.
fn is_never_true(parsed: &ParsedExpressions, site: &[ExpressionSite<'_>], rules: &[RuleView<'_>]) -> bool {
    let operations = matched_operations(rules);
    let is_false = |operation: &Operation| {
        let facts = RequestFacts {
            operation: Some(*operation),
            ..RequestFacts::default()
        };
        fold_condition(parsed, site, &facts) == Some(false)
    };
    !operations.is_empty() && operations.iter().all(is_false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check_whole, policy};

    #[track_caller]
    fn check(expression: &str, expected: &[&str]) {
        let spec = format!(
            "matchConditions: [{{name: c, expression: \"{expression}\"}}]\nvalidations: [{{expression: 'true'}}]"
        );
        check_whole(
            ConstantCondition::META,
            &policy("CREATE, UPDATE", &spec),
            expression,
            expected,
        );
    }

    #[test]
    fn conditions_that_never_change() {
        check("true", &["always true"]);
        check("1 == 2 && object.metadata.name == 'a'", &["always false"]);
        check("request.operation == 'DELETE'", &["false for every operation"]);
        check(
            "request.operation in ['DELETE', 'CONNECT']",
            &["false for every operation"],
        );
    }

    #[test]
    fn conditions_that_do() {
        check("request.operation == 'CREATE'", &[]);
        check("object.metadata.name == 'a'", &[]);
        check("request.userInfo.username != 'a' || false", &[]);
        check("has(object.spec) && true", &[]);
    }
}
