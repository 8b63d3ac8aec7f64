//! Bindings that match nothing of what their policy matches.
//!
//! # What
//!
//! A binding matches no request that its policy matches: no rule has an operation and a resource in common with one of
//! the policy's, all of them are excluded, or the two selectors contradict each other.
//!
//! # Why
//!
//! So the binding has no effect.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicy
//! metadata: {name: pods}
//! spec:
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
//!   validations: [{expression: 'false'}]
//! ---
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicyBinding
//! metadata: {name: services}
//! spec:
//!   policyName: pods
//!   validationActions: [Deny]
//!   matchResources:
//!     resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [services], operations: [CREATE]}]
//! ```
//!
//! This is a binding for `services` to a policy for `pods`.

use k8s_openapi::api::admissionregistration::v1::MatchResources;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use crate::lint::{Lint, LintContext};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport};
use crate::selectors::contradiction;
use crate::subject::{PolicyBinding, PolicyView, RuleView, path};

/// The lint `empty-binding`.
pub(crate) struct EmptyBinding;

impl Lint for EmptyBinding {
    const META: &'static LintMeta = &LintMeta {
        name: "empty-binding",
        summary: "A binding narrows its policy to nothing.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        let Some(subject) = context.policy() else {
            return;
        };
        let policy = subject.policy;
        let name = &policy.origin.name.name;
        for binding in &policy.bindings {
            if let Some(why) = no_rule_in_common(policy, binding) {
                let message = format!("the binding has no effect: {why} the policy {name:?}");
                let field = path("spec.matchResources.resourceRules");
                report.add(&binding.origin, &field, LintFinding::new(Self::META, message));
            }
            for (field, label) in contradictions(policy.constraints, binding.resources) {
                let message = format!(
                    "the binding has no effect: nothing meets both its {field} and that of the policy {name:?}, for the \
                     label {label:?}"
                );
                report.add(
                    &binding.origin,
                    &path(&format!("spec.matchResources.{field}")),
                    LintFinding::new(Self::META, message),
                );
            }
        }
    }
}

fn no_rule_in_common(policy: &PolicyView<'_>, binding: &PolicyBinding<'_>) -> Option<&'static str> {
    let equivalent = [policy.constraints, binding.resources]
        .into_iter()
        .flatten()
        .any(|resources| resources.match_policy.as_deref() != Some("Exact"));
    let overlap = |one: &RuleView<'_>| binding.rules.iter().any(|other| overlap(one, other, equivalent));
    if !binding.rules.is_empty() && !policy.rules.iter().any(overlap) {
        return Some("its rules match nothing that is matched by");
    }
    let excluded = |rule: &RuleView<'_>| is_excluded(rule, &binding.excluded);
    let all = !policy.rules.is_empty() && policy.rules.iter().all(excluded);
    all.then_some("its rules exclude all that is matched by")
}

/// Whether two rules can match the same request.
fn overlap(one: &RuleView<'_>, other: &RuleView<'_>, equivalent: bool) -> bool {
    one.operations
        .iter()
        .any(|operation| other.operations.contains(operation))
        && (share(one.groups, other.groups) || (equivalent && of_twins(one) && of_twins(other)))
        && (equivalent || share(one.versions, other.versions))
        && one
            .resources
            .iter()
            .any(|a| other.resources.iter().any(|b| patterns_overlap(a, b)))
        && (one.scope == other.scope || one.scope == "*" || other.scope == "*")
        && (one.names.is_empty() || other.names.is_empty() || share(one.names, other.names))
}

/// Events are served in two groups from one storage.
fn of_twins(rule: &RuleView<'_>) -> bool {
    rule.groups
        .iter()
        .any(|group| group.is_empty() || group == "events.k8s.io")
        && rule.resources.iter().any(|resource| resource == "events")
}

fn share(one: &[String], other: &[String]) -> bool {
    let any = |names: &[String]| names.iter().any(|name| name == "*");
    any(one) || any(other) || one.iter().any(|name| other.contains(name))
}

/// Whether two patterns of resources match the same resource.
fn patterns_overlap(one: &str, other: &str) -> bool {
    let parts = |pattern: &str| -> (String, String) {
        let (resource, part) = pattern.split_once('/').unwrap_or((pattern, ""));
        (resource.to_owned(), part.to_owned())
    };
    let ((a, a_part), (b, b_part)) = (parts(one), parts(other));
    let same = |a: &str, b: &str| a == b || a == "*" || b == "*";
    same(&a, &b) && same(&a_part, &b_part)
}

/// Whether other rules exclude all that a rule matches, of which all must be built in.
pub(super) fn is_excluded(rule: &RuleView<'_>, excluded: &[RuleView<'_>]) -> bool {
    let mut served = rule.served().peekable();
    if !rule.is_builtin_only() || served.peek().is_none() {
        return false;
    }
    served.all(|served| {
        rule.operations.iter().all(|operation| {
            let excludes =
                |other: &RuleView<'_>| other.names.is_empty() && other.operations.contains(operation);
            excluded
                .iter()
                .any(|other| excludes(other) && other.matches(served))
        })
    })
}

/// The selectors of a policy and a binding that contradict each other, and the label. A contradiction within the policy
/// is not reported for the binding.
fn contradictions(
    constraints: Option<&MatchResources>,
    resources: Option<&MatchResources>,
) -> Vec<(&'static str, String)> {
    let (Some(constraints), Some(resources)) = (constraints, resources) else {
        return Vec::new();
    };
    let pairs = [
        (
            "namespaceSelector",
            &constraints.namespace_selector,
            &resources.namespace_selector,
        ),
        (
            "objectSelector",
            &constraints.object_selector,
            &resources.object_selector,
        ),
    ];
    let disagreement =
        |(field, selector, other): (&'static str, &Option<LabelSelector>, &Option<LabelSelector>)| {
            let (selector, other) = (selector.as_ref()?, other.as_ref()?);
            if contradiction(&[selector]).is_some() {
                return None;
            }
            contradiction(&[selector, other]).map(|label| (field, label))
        };
    pairs.into_iter().filter_map(disagreement).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check as find, policy};

    #[track_caller]
    fn check(resources: &str, expected: &[(&str, &str)]) {
        let spec = "validations: [{expression: 'true'}]";
        let manifests =
            policy("CREATE", spec).replace("[Deny]}", &format!("[Deny], matchResources: {{{resources}}}}}"));
        find(EmptyBinding::META, &manifests, expected);
    }

    fn rule(resources: &str, operations: &str) -> String {
        format!(
            "{{apiGroups: [''], apiVersions: [v1], resources: [{resources}], operations: [{operations}]}}"
        )
    }

    #[test]
    fn rules_in_common() {
        check("", &[]);
        check(&format!("resourceRules: [{}]", rule("pods", "'*'")), &[]);
        check(
            &format!("resourceRules: [{}]", rule("services, '*'", "CREATE")),
            &[],
        );
        for (resources, operations) in [
            ("services", "CREATE"),
            ("pods/status", "CREATE"),
            ("pods", "UPDATE, DELETE"),
        ] {
            let rules = format!("[{}]", rule(resources, operations));
            check(
                &format!("resourceRules: {rules}"),
                &[(&rules, "its rules match nothing")],
            );
        }
    }

    #[test]
    fn exclusions() {
        check(
            &format!("excludeResourceRules: [{}]", rule("pods", "UPDATE")),
            &[],
        );
        let all = format!("excludeResourceRules: [{}]", rule("'*'", "'*'"));
        check(&all, &[("matchResources", "exclude all")]);
    }

    #[test]
    fn selectors_in_common() {
        let spec = "validations: [{expression: 'true'}]";
        let both = |selector: &str| {
            policy("CREATE", spec)
                .replace(
                    "    resourceRules:",
                    "    namespaceSelector: {matchLabels: {env: prod}}\n    resourceRules:",
                )
                .replace(
                    "[Deny]}",
                    &format!("[Deny], matchResources: {{namespaceSelector: {selector}}}}}"),
                )
        };
        find(EmptyBinding::META, &both("{matchLabels: {team: a}}"), &[]);
        find(
            EmptyBinding::META,
            &both("{matchLabels: {env: test}}"),
            &[("{matchLabels: {env: test}}", "\"env\"")],
        );
    }
}
