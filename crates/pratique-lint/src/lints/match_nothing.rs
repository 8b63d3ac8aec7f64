//! Rules that no request can match.
//!
//! # What
//!
//! No request can match the rule or the selector: no API server serves the resource in that version (alpha and beta
//! versions count if the rule names version and resource), or it has the other scope, a rule for a resource that is
//! only connected to (`pods/exec`) lacks the operation `CONNECT`, `excludeResourceRules` exclude everything, or the
//! selector requires two values of one label.
//!
//! # Why
//!
//! So the rule has no effect; with such a selector, the whole policy has none.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicy
//! metadata: {name: executed}
//! spec:
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods/exec], operations: [CREATE]}]
//!   validations: [{expression: 'false'}]
//! ```
//!
//! `pods/exec` is only connected to: use `CONNECT`.

use pratique_exclusion::is_virtual;
use pratique_types::Operation;
use pratique_types::builtin::ServedResource;

use super::empty_binding::is_excluded;
use super::unknown_resource::GroupResources;
use crate::lint::{Lint, LintContext};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport, listed};
use crate::selectors::contradiction;
use crate::subject::{ObjectOrigin, PolicyView, RuleView, path};

/// The lint `match-nothing`.
pub(crate) struct MatchNothing;

impl Lint for MatchNothing {
    const META: &'static LintMeta = &LintMeta {
        name: "match-nothing",
        summary: "A rule or a selector matches no request that there can be.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        if let Some(subject) = context.policy() {
            let policy = subject.policy;
            check_rules(&policy.rules, &policy.excluded, &policy.origin, report);
            check_selectors(policy, report);
        }
        if let Some(webhook) = context.webhook() {
            check_rules(&webhook.rules, &[], &webhook.origin, report);
        }
    }
}

fn check_selectors(policy: &PolicyView<'_>, report: &mut LintReport) {
    let Some(constraints) = policy.constraints else {
        return;
    };
    for (field, selector) in [
        ("namespaceSelector", &constraints.namespace_selector),
        ("objectSelector", &constraints.object_selector),
    ] {
        if let Some(label) = selector.as_ref().and_then(|selector| contradiction(&[selector])) {
            let message =
                format!("the selector matches nothing: no value of the label {label:?} meets all of it");
            let field = path(&format!("spec.matchConstraints.{field}"));
            report.add(
                &policy.origin,
                &field,
                LintFinding::new(MatchNothing::META, message),
            );
        }
    }
}

fn check_rules(
    rules: &[RuleView<'_>],
    excluded: &[RuleView<'_>],
    origin: &ObjectOrigin<'_>,
    report: &mut LintReport,
) {
    for rule in rules {
        let why = why_nothing(rule).or_else(|| {
            is_excluded(rule, excluded).then(|| "excludeResourceRules exclude all that it matches".to_owned())
        });
        if let Some(why) = why {
            report.add(
                origin,
                &rule.path,
                LintFinding::new(MatchNothing::META, format!("the rule matches nothing: {why}")),
            );
        }
    }
}

/// Why a rule over built-in resources matches nothing, except for reasons that other lints report.
fn why_nothing(rule: &RuleView<'_>) -> Option<String> {
    if !rule.is_builtin_only() {
        return None;
    }
    let known = GroupResources::new(rule);
    if rule.resources.iter().any(|pattern| known.lacks(pattern)) {
        return None;
    }
    let served: Vec<&ServedResource> = rule.served().collect();
    if served.is_empty() {
        return Some(why_none_served(rule));
    }
    let is_review = |served: &&&ServedResource| is_virtual(&served.resource.group, &served.resource.resource);
    let served: Vec<_> = served.iter().filter(|served| !is_review(served)).collect();
    if !served.is_empty() && !served.iter().any(|served| has_operation(rule, served)) {
        let operations: Vec<&str> = rule
            .operations
            .iter()
            .map(|operation| operation.as_str())
            .collect();
        return Some(match operations.as_slice() {
            ["CONNECT"] => "only parts as pods/exec and pods/portforward are connected to".to_owned(),
            _ => format!(
                "{} is no operation on what is only connected to: use CONNECT",
                listed(&operations)
            ),
        });
    }
    None
}

/// Why there is no resource for a rule whose resources all have names that exist.
fn why_none_served(rule: &RuleView<'_>) -> String {
    let other_scope = rule
        .release
        .resources()
        .served()
        .iter()
        .any(|served| rule.matches_in_any_scope(served));
    match (other_scope, rule.scope) {
        (true, "Namespaced") => "none of its resources live in namespaces".to_owned(),
        (true, "Cluster") => "all of its resources live in namespaces".to_owned(),
        _ => {
            let versions: Vec<String> = rule
                .versions
                .iter()
                .map(|version| format!("{version:?}"))
                .collect();
            format!("its resources are not served in version {}", listed(&versions))
        }
    }
}

/// Parts of resources that are connected to, and never created, changed or deleted.
const CONNECTED: [(&str, &str); 6] = [
    ("pods", "attach"),
    ("pods", "exec"),
    ("pods", "portforward"),
    ("pods", "proxy"),
    ("services", "proxy"),
    ("nodes", "proxy"),
];

fn has_operation(rule: &RuleView<'_>, served: &ServedResource) -> bool {
    let part = (served.resource.resource.as_str(), served.subresource.as_str());
    let is_connected = served.resource.group.is_empty() && CONNECTED.contains(&part);
    let fits = |operation: &Operation| (*operation == Operation::Connect) == is_connected;
    rule.operations.iter().any(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check as find, policy_for};

    fn of(groups: &str, versions: &str, resources: &str, operations: &str) -> String {
        policy_for(
            groups,
            versions,
            resources,
            operations,
            "validations: [{expression: 'true'}]",
        )
    }

    #[track_caller]
    fn check(manifests: &str, why: &str) {
        let start = manifests.find("{apiGroups").unwrap();
        let rule = manifests.get(start..).unwrap().lines().next().unwrap();
        find(MatchNothing::META, manifests, &[(rule, why)]);
    }

    #[test]
    fn rules_without_requests() {
        check(
            &of("apps", "v1beta1", "deployments", "CREATE"),
            "not served in version \"v1beta1\"",
        );
        check(
            &of("''", "v1", "pods/exec", "CREATE, UPDATE"),
            "CREATE and UPDATE is no operation",
        );
        check(&of("''", "v1", "pods", "CONNECT"), "only parts");
        let cluster = of("''", "v1", "pods", "CREATE").replace("operations", "scope: Cluster, operations");
        check(&cluster, "live in namespaces");
        let exclude = "excludeResourceRules: [{apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], operations: ['*']}]";
        let excluded = of("''", "v1", "pods", "CREATE")
            .replace("    resourceRules", &format!("    {exclude}\n    resourceRules"));
        let start = excluded.find("- {apiGroups").unwrap() + 2;
        let rule = excluded.get(start..).unwrap().lines().next().unwrap();
        find(MatchNothing::META, &excluded, &[(rule, "exclude all")]);
    }

    #[test]
    fn rules_with_requests() {
        for manifests in [
            of("''", "v1", "pods", "CREATE"),
            of("''", "v1", "pods/exec", "'*'"),
            of("'*'", "'*'", "'*'", "CONNECT"),
            of("apps", "v1, v1beta1", "deployments", "CREATE"),
            of("example.com", "v1beta1", "gadgets", "CONNECT"),
            of("''", "v1", "namespaces", "CREATE").replace("operations", "scope: Cluster, operations"),
        ] {
            find(MatchNothing::META, &manifests, &[]);
        }
    }

    #[test]
    fn selectors() {
        let with = |selector: &str| {
            let line = format!("    objectSelector: {selector}\n    resourceRules");
            of("''", "v1", "pods", "CREATE").replace("    resourceRules", &line)
        };
        let impossible = "{matchLabels: {a: x}, matchExpressions: [{key: a, operator: DoesNotExist}]}";
        find(MatchNothing::META, &with(impossible), &[(impossible, "\"a\"")]);
        find(MatchNothing::META, &with("{matchLabels: {a: x, b: z}}"), &[]);
    }
}
