//! Rules that name resources that are excluded from admission.
//!
//! # What
//!
//! A rule names `tokenreviews`, `subjectaccessreviews` or another review of users and permissions. With the feature
//! gate `ExcludeAdmissionWebhookVirtualResources` off webhooks are called, and the warning is given for policies only
//! ([more](webhooks.md#a-webhook-for-subjectaccessreviews-or-tokenreviews-is-silent)).
//!
//! # Why
//!
//! Policies are never evaluated for these six resources, and webhooks are not called for them since 1.37, so that none
//! of them can lock all users out.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicy
//! metadata: {name: reviews}
//! spec:
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [authentication.k8s.io], apiVersions: [v1], resources: [tokenreviews], operations: [CREATE]}]
//!   validations: [{expression: 'false'}]
//! ```
//!
//! Remove them from the rule.

use pratique_exclusion::VIRTUAL_RESOURCES;

use crate::lint::{Lint, LintContext};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport};
use crate::subject::RuleView;

/// The lint `excluded-resource`.
pub(crate) struct ExcludedResource;

impl Lint for ExcludedResource {
    const META: &'static LintMeta = &LintMeta {
        name: "excluded-resource",
        summary: "A rule names a review of users or permissions, which no policy or webhook gets to see.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        // For policies they are excluded whatever the gate.
        let is_off = !context.options.feature_gates.excludes_virtual_resources();
        let Some(group) = context
            .expression_group()
            .filter(|_| context.webhook().is_none() || !is_off)
        else {
            return;
        };
        for rule in group.rules {
            for (index, pattern) in rule.resources.iter().enumerate() {
                let name = pattern.split('/').next().unwrap_or_default();
                if names_virtual(rule, name) {
                    let message = format!(
                        "{name} are not shown to policies and webhooks: the rule does not match them"
                    );
                    report.add(
                        group.origin,
                        &rule.resource_path(index),
                        LintFinding::new(Self::META, message),
                    );
                }
            }
        }
    }
}

fn names_virtual(rule: &RuleView<'_>, name: &str) -> bool {
    let is_named = |(group, review): &(&str, &str)| {
        name == *review
            && rule
                .groups
                .iter()
                .any(|rule_group| rule_group == group || rule_group == "*")
    };
    VIRTUAL_RESOURCES.iter().any(is_named)
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
        check(ExcludedResource::META, &reviews, &[("tokenreviews", "not shown")]);
        check(ExcludedResource::META, &named("'*'", "'*'"), &[]);
        check(ExcludedResource::META, &named("''", "serviceaccounts/token"), &[]);
        check(ExcludedResource::META, &named("example.com", "tokenreviews"), &[]);
    }
}
