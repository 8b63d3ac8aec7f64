//! Rules that name resources that are excluded from admission.

use pratique_exclusion::VIRTUAL_RESOURCES;

use crate::lint::Lint;
use crate::report::{Finding, Report};
use crate::subject::{Origin, RuleView};

pub(crate) const LINT: Lint = Lint {
    name: "excluded-resource",
    summary: "A rule names a review of users or permissions, which no policy or webhook gets to see.",
};

pub(crate) fn check(rules: &[RuleView<'_>], origin: &Origin<'_>, report: &mut Report) {
    for rule in rules {
        for (index, pattern) in rule.resources.iter().enumerate() {
            let name = pattern.split('/').next().unwrap_or_default();
            let named = |(group, review): &(&str, &str)| {
                name == *review
                    && rule
                        .groups
                        .iter()
                        .any(|rule_group| rule_group == group || rule_group == "*")
            };
            if VIRTUAL_RESOURCES.iter().any(named) {
                let message =
                    format!("{name} are not shown to policies and webhooks: the rule does not match them");
                report.add(origin, &rule.resource_path(index), Finding::new(&LINT, message));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check, policy_for};

    #[test]
    fn reviews_are_excluded() {
        let named = |group: &str, resources: &str| {
            policy_for(
                group,
                "v1",
                resources,
                "CREATE",
                "validations: [{expression: 'true'}]",
            )
        };
        let reviews = named("authentication.k8s.io", "tokenreviews");
        check(&LINT, &reviews, &[("tokenreviews", "not shown")]);
        check(&LINT, &named("'*'", "'*'"), &[]);
        check(&LINT, &named("''", "serviceaccounts/token"), &[]);
        check(&LINT, &named("example.com", "tokenreviews"), &[]);
    }
}
