//! Match conditions that are the same for every request.

use pratique_expression::Use;
use pratique_types::Operation;

use crate::analysis::{Facts, KnownValue, Parsed};
use crate::lint::Lint;
use crate::report::{Finding, Report};
use crate::subject::{Origin, Policy, RuleView, Site, Webhook, matched_operations};

pub(crate) const LINT: Lint = Lint {
    name: "constant-condition",
    summary: "A match condition is true, or false, for every request that the rules match.",
};

pub(crate) fn policy(policy: &Policy<'_>, report: &mut Report) {
    check(&policy.sites, &policy.rules, &policy.origin, report);
}

pub(crate) fn webhook(webhook: &Webhook<'_>, report: &mut Report) {
    check(&webhook.conditions, &webhook.rules, &webhook.origin, report);
}

fn check(sites: &[Site<'_>], rules: &[RuleView<'_>], origin: &Origin<'_>, report: &mut Report) {
    for site in sites.iter().filter(|site| site.usage == Use::MatchCondition) {
        let alone = std::slice::from_ref(site);
        let parsed = Parsed::new(alone);
        let message = match always(&parsed, alone, &Facts::default()) {
            Some(true) => "the condition is always true: it has no effect",
            Some(false) => "the condition is always false: nothing is matched",
            None if never(&parsed, alone, rules) => {
                "the condition is false for every operation of the rules: nothing is matched"
            }
            None => continue,
        };
        report.add(origin, &site.path, Finding::new(&LINT, message));
    }
}

/// The value of a condition under facts, if it is constant.
fn always(parsed: &Parsed, site: &[Site<'_>], facts: &Facts<'_>) -> Option<bool> {
    let Some(folded_policy) = parsed.fold(site, facts) else {
        return Some(false);
    };
    let ast = parsed.asts.first()?.as_ref()?;
    (*folded_policy.folded.first()?.value(ast.root) == KnownValue::Bool(true)).then_some(true)
}

/// Whether a condition is false for all that rules match.
fn never(parsed: &Parsed, site: &[Site<'_>], rules: &[RuleView<'_>]) -> bool {
    let operations = matched_operations(rules);
    let is_false = |operation: &Operation| {
        let facts = Facts {
            operation: Some(*operation),
            ..Facts::default()
        };
        always(parsed, site, &facts) == Some(false)
    };
    !operations.is_empty() && operations.iter().all(is_false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check as find, policy};

    #[track_caller]
    fn check(expression: &str, expected: &[&str]) {
        let spec = format!(
            "matchConditions: [{{name: c, expression: \"{expression}\"}}]\nvalidations: [{{expression: 'true'}}]"
        );
        let quoted = format!("\"{expression}\"");
        let expected: Vec<_> = expected.iter().map(|part| (quoted.as_str(), *part)).collect();
        find(&LINT, &policy("CREATE, UPDATE", &spec), &expected);
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
