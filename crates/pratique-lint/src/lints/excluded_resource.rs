//! Rules that name resources that are excluded from admission.
//!
//! # What
//!
//! A rule names `tokenreviews`, `subjectaccessreviews` or another review of users and permissions. With the feature
//! gate `ExcludeAdmissionWebhookVirtualResources` off, as before 1.37, webhooks are called, and the warning is given for
//! policies only ([more](webhooks.md#a-webhook-for-subjectaccessreviews-or-tokenreviews-is-silent)).
//!
//! Or a rule of a policy, binding or webhook of the API names the configuration of admission itself: policies of the API are
//! asked about webhook configurations, but not about policies and bindings; webhooks of the API about none of these.
//!
//! # Why
//!
//! Policies are never evaluated for the six reviews, and webhooks are not called for them since 1.37, so that none
//! of them can lock all users out. What came through the API can always be repaired through the API. So a policy that is to
//! protect policies, as the one below, protects nothing.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicy
//! metadata: {name: protect}
//! spec:
//!   matchConstraints:
//!     resourceRules:
//!     - apiGroups: [admissionregistration.k8s.io]
//!       apiVersions: [v1]
//!       resources: [validatingadmissionpolicies, validatingadmissionpolicybindings]
//!       operations: [UPDATE, DELETE]
//!   validations: [{expression: "oldObject.metadata.name != 'keep'"}]
//! ```
//!
//! Remove reviews from the rule. Protect the configuration of admission by a static manifest, whose name ends in
//! `.static.k8s.io`: such policies and webhooks are asked about all of it.

use pratique_exclusion::{Interceptor, Origin, intercepts, is_reserved, is_virtual};
use pratique_types::builtin::ServedResource;

use crate::lint::{Lint, LintContext};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport};
use crate::subject::{ObjectOrigin, RuleView};

/// The lint `excluded-resource`.
pub(crate) struct ExcludedResource;

impl Lint for ExcludedResource {
    const META: &'static LintMeta = &LintMeta {
        name: "excluded-resource",
        summary: "A rule names a resource that no policy or webhook gets to see, or none of the API.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        let interceptor = if context.webhook().is_some() {
            let excludes_virtual = context.options.feature_gates.excludes_virtual_resources();
            Interceptor::Webhook { excludes_virtual }
        } else {
            Interceptor::Policy
        };
        if let Some(group) = context.expression_group() {
            check_rules(group.origin, group.rules, interceptor, report);
        }
        for binding in context
            .policy()
            .iter()
            .flat_map(|subject| &subject.policy.bindings)
        {
            check_rules(&binding.origin, &binding.rules, interceptor, report);
        }
    }
}

/// Reports the names in rules of which nothing is intercepted.
fn check_rules(
    origin: &ObjectOrigin<'_>,
    rules: &[RuleView<'_>],
    interceptor: Interceptor,
    report: &mut LintReport,
) {
    let from = if is_reserved(&origin.name.name) {
        Origin::Static
    } else {
        Origin::Api
    };
    let is_excluded =
        |served: &&ServedResource| !intercepts(interceptor, from, &served.resource, &served.kind);
    for rule in rules {
        for (index, pattern) in rule.resources.iter().enumerate() {
            let named: Vec<&ServedResource> = rule
                .release
                .resources()
                .served()
                .iter()
                .filter(|served| rule.names_in_any_version(pattern, served))
                .collect();
            let Some(first) = named.first().filter(|_| named.iter().all(is_excluded)) else {
                continue;
            };
            report.add(
                origin,
                &rule.resource_path(index),
                finding(first, pattern, interceptor),
            );
        }
    }
}

fn finding(served: &ServedResource, pattern: &str, interceptor: Interceptor) -> LintFinding {
    let name = pattern.split('/').next().unwrap_or_default();
    let name = if name == "*" {
        format!("the resources of {}", served.resource.group)
    } else {
        name.to_owned()
    };
    if is_virtual(&served.resource.group, &served.resource.resource) {
        let message = format!("{name} are not shown to policies and webhooks: the rule does not match them");
        let help =
            "remove them from the rule: they are asked for, not stored, and nothing of admission sees them";
        return LintFinding::new(ExcludedResource::META, message).help(help);
    }
    let (who, what) = match interceptor {
        Interceptor::Policy => ("policies", "policy"),
        Interceptor::Webhook { .. } => ("webhooks", "webhook"),
    };
    let message = format!("{name} are not shown to {who} of the API: the rule does not match them");
    LintFinding::new(ExcludedResource::META, message).help(format!(
        "use a static manifest, with a {what} whose name ends in .static.k8s.io"
    ))
}

#[cfg(test)]
mod tests {
    use pratique_manifest::{LoadOptions, Loader, ManifestFile, UncheckedExpressions};
    use pratique_schema::FeatureGates;

    use super::*;
    use crate::LintOptions;
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
        // Static policies see policies.
        let policies = named("admissionregistration.k8s.io", "validatingadmissionpolicies");
        check(ExcludedResource::META, &policies, &[]);
    }

    /// Compares the names in an API object for which there are warnings.
    #[track_caller]
    fn check_api(manifests: &str, options: &LintOptions, expected: &[&str]) {
        let file = ManifestFile {
            path: "a.yaml".into(),
            content: manifests.as_bytes().to_vec(),
        };
        let set = Loader::for_api(&LoadOptions::new(&UncheckedExpressions))
            .load_files(&[file])
            .unwrap();
        let warnings = crate::lint_with(&[&set], options);
        let excluded = warnings
            .iter()
            .filter(|warning| warning.lint == ExcludedResource::META);
        let names: Vec<&str> = excluded
            .filter_map(|warning| manifests.get(warning.location.start.offset..warning.location.end.offset))
            .collect();
        assert_eq!(names, expected, "{manifests}");
    }

    const CONFIGURATION: &str = "validatingadmissionpolicies/status, mutatingadmissionpolicybindings, \
                                 mutatingwebhookconfigurations";

    #[test]
    fn policies_and_bindings_of_the_api() {
        let rule = |resources: &str| {
            format!(
                "[{{apiGroups: [admissionregistration.k8s.io], apiVersions: ['*'], resources: [{resources}], operations: ['*']}}]"
            )
        };
        let manifests = format!(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingAdmissionPolicy\nmetadata: {{name: p}}\nspec:\n  \
             reinvocationPolicy: Never\n  matchConstraints: {{resourceRules: {}}}\n  mutations:\n  - patchType: \
             JSONPatch\n    jsonPatch: {{expression: '[]'}}\n---\napiVersion: \
             admissionregistration.k8s.io/v1\nkind: MutatingAdmissionPolicyBinding\nmetadata: {{name: b}}\nspec: \
             {{policyName: p, matchResources: {{resourceRules: {}}}}}\n",
            rule(CONFIGURATION),
            rule("validatingadmissionpolicies")
        );
        check_api(
            &manifests,
            &LintOptions::default(),
            &[
                "validatingadmissionpolicies/status",
                "mutatingadmissionpolicybindings",
                "validatingadmissionpolicies",
            ],
        );
    }

    #[test]
    fn webhooks_of_the_api() {
        let manifests = format!(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {{name: \
             w}}\nwebhooks:\n- name: a.example.com\n  clientConfig: {{url: 'https://example.com'}}\n  \
             admissionReviewVersions: [v1]\n  sideEffects: None\n  rules:\n  - apiGroups: [admissionregistration.k8s.io]\n    \
             apiVersions: [v1]\n    operations: [CREATE]\n    resources: [{CONFIGURATION}]\n  - apiGroups: \
             [admissionregistration.k8s.io]\n    apiVersions: [v1]\n    operations: [CREATE]\n    resources: ['*/*']\n  - \
             apiGroups: [authorization.k8s.io]\n    apiVersions: [v1]\n    operations: [CREATE]\n    resources: [subjectaccessreviews]\n"
        );
        let configuration = [
            "validatingadmissionpolicies/status",
            "mutatingadmissionpolicybindings",
            "mutatingwebhookconfigurations",
            "'*/*'",
        ];
        let with_reviews = [&configuration[..], &["subjectaccessreviews"]].concat();
        check_api(&manifests, &LintOptions::default(), &with_reviews);
        // Before 1.37 webhooks are called for reviews.
        let gates = FeatureGates::default().with("ExcludeAdmissionWebhookVirtualResources", false);
        let options = LintOptions::default().feature_gates(gates);
        check_api(&manifests, &options, &configuration);
    }
}
