//! Mutating policies that match a kind in another version than requests have.
//!
//! # What
//!
//! The rules of a MutatingAdmissionPolicy name one version of a built-in resource, and its `matchPolicy` is `Equivalent`, the
//! default. So it matches requests in the other versions too, unless a match condition asks for the version of the request:
//! `request.requestKind.version == 'v1'`.
//!
//! # Why
//!
//! The policy gets the object in the version of its rule, and the server cannot convert the result directly into the version of
//! the request. Each such request is denied (or not mutated if `failurePolicy` is `Ignore`), whatever the mutation
//! changes: the policy below refuses every HorizontalPodAutoscaler of `autoscaling/v2` with `unknown conversion`.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: MutatingAdmissionPolicy
//! metadata: {name: team}
//! spec:
//!   reinvocationPolicy: Never
//!   matchConstraints:
//!     resourceRules:
//!     - {apiGroups: [autoscaling], apiVersions: [v1], resources: [horizontalpodautoscalers], operations: [CREATE]}
//!   mutations:
//!   - patchType: ApplyConfiguration
//!     applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'team': 'a'}}}"}
//! ```
//!
//! Name all versions in the rule, so that objects come in the version of the request, or set `matchPolicy: Exact`.

use pratique_match::{Equivalent, Equivalents};
use pratique_types::Operation;
use pratique_types::builtin::ServedResource;

use crate::analysis::RequestFacts;
use crate::lint::{Lint, LintContext, PolicySubject};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport};
use crate::subject::RuleView;

/// The lint `unconvertible-version`.
pub(crate) struct UnconvertibleVersion;

impl Lint for UnconvertibleVersion {
    const META: &'static LintMeta = &LintMeta {
        name: "unconvertible-version",
        summary: "A mutating policy matches requests in other versions than its rules name, and refuses them.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        let Some(subject) = context.policy() else {
            return;
        };
        let policy = subject.policy;
        let match_policy = policy
            .constraints
            .and_then(|constraints| constraints.match_policy.as_deref());
        if policy.is_mutating && match_policy != Some("Exact") {
            let equivalents = Equivalents::of_release(policy.release.resources());
            for rule in &policy.rules {
                check_rule(subject, rule, &equivalents, report);
            }
        }
    }
}

/// Whether match conditions leave out requests for another version of a resource.
fn is_left_out(subject: &PolicySubject<'_>, served: &ServedResource, other: &Equivalent) -> bool {
    let facts = RequestFacts {
        served: Some(served),
        requested: Some(other),
        ..RequestFacts::default()
    };
    subject.parsed().fold(&subject.policy.sites, &facts).is_none()
}

fn check_rule(
    subject: &PolicySubject<'_>,
    rule: &RuleView<'_>,
    equivalents: &Equivalents,
    report: &mut LintReport,
) {
    let policy = subject.policy;
    let mutates = |rule: &RuleView<'_>| {
        rule.operations
            .iter()
            .any(|operation| *operation != Operation::Delete)
    };
    if !mutates(rule) {
        return;
    }
    let mut path = rule.path.clone();
    path.push(pratique_manifest::PathStep::Field("apiVersions".to_owned()));
    let mut known: Vec<&str> = Vec::new();
    for served in rule.served() {
        let is_named = |other: &ServedResource| policy.rules.iter().any(|rule| rule.matches(other));
        let others = equivalents.list(&served.resource, &served.subresource).iter();
        let Some(other) = others.filter(|other| other.kind != served.kind).find(|other| {
            let resource = policy
                .release
                .resources()
                .find(&other.resource, &served.subresource);
            resource.is_some_and(|resource| !is_named(resource)) && !is_left_out(subject, served, other)
        }) else {
            continue;
        };
        // Of the parts of a resource the first one is told.
        if known.contains(&served.resource.resource.as_str()) {
            continue;
        }
        known.push(&served.resource.resource);
        let outcome = policy.outcome_of_errors(pratique_expression::ExpressionPurpose::JsonPatch);
        let (version, wanted, name) = (&served.kind.version, &other.kind.version, &served.kind.kind);
        let is_same_group = served.resource.group == other.resource.group;
        let error = if is_same_group {
            format!("then \"converting ({version}.{name}) to ({wanted}.{name}): unknown conversion\"")
        } else {
            "the server cannot convert the result".to_owned()
        };
        let message = format!(
            "requests for {} in {} match too, as the matchPolicy is Equivalent: {error}, and {outcome}",
            served.resource.resource,
            other.kind.api_version()
        );
        let help = if is_same_group {
            format!("name {wanted:?} in apiVersions as well, or set matchPolicy: Exact")
        } else {
            format!(
                "match {} of the API group {:?} as well, or set matchPolicy: Exact",
                other.resource.resource, other.resource.group
            )
        };
        let finding = LintFinding::new(UnconvertibleVersion::META, message).help(help);
        report.add(&policy.origin, &path, finding);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check, mutation};

    fn policy(group: &str, versions: &str, resource: &str) -> String {
        mutation("JSONPatch", "[]")
            .replace("[apps]", &format!("[{group}]"))
            .replace("[v1]", &format!("[{versions}]"))
            .replace("deployments", resource)
    }

    #[test]
    fn versions_that_are_not_named() {
        check(
            UnconvertibleVersion::META,
            &policy("autoscaling", "v1", "horizontalpodautoscalers"),
            &[(
                "[v1]",
                "converting (v1.HorizontalPodAutoscaler) to (v2.HorizontalPodAutoscaler): unknown conversion",
            )],
        );
        check(
            UnconvertibleVersion::META,
            &policy("autoscaling", "v2", "horizontalpodautoscalers"),
            &[("[v2]", "autoscaling/v1 match too")],
        );
        check(
            UnconvertibleVersion::META,
            &policy("events.k8s.io", "v1", "events"),
            &[("[v1]", "requests for events in v1 match too")],
        );
    }

    #[test]
    fn all_resources_of_a_rule_are_told() {
        let several = policy(
            "autoscaling, events.k8s.io",
            "v1",
            "horizontalpodautoscalers, events",
        );
        check(
            UnconvertibleVersion::META,
            &several,
            &[
                ("[v1]", "requests for horizontalpodautoscalers in autoscaling/v2"),
                ("[v1]", "requests for events in v1"),
            ],
        );
    }

    #[test]
    fn conditions_select_versions() {
        let of = |condition: &str, expected: &[(&str, &str)]| {
            let conditions =
                format!("  matchConditions: [{{name: c, expression: \"{condition}\"}}]\n  mutations:");
            let manifests =
                policy("autoscaling", "v1", "horizontalpodautoscalers").replace("  mutations:", &conditions);
            check(UnconvertibleVersion::META, &manifests, expected);
        };
        of("request.requestKind.version == 'v1'", &[]);
        of(
            "object.metadata.name == 'a' && !(request.requestResource.version in ['v2'])",
            &[],
        );
        of(
            "request.requestKind.version != 'v3'",
            &[("[v1]", "autoscaling/v2 match too")],
        );
        // The object comes in the version of the rule.
        of(
            "object.apiVersion == 'autoscaling/v1'",
            &[("[v1]", "autoscaling/v2 match too")],
        );
    }

    #[test]
    fn versions_that_are() {
        let both = policy("autoscaling", "v1, v2", "horizontalpodautoscalers");
        check(UnconvertibleVersion::META, &both, &[]);
        let any = policy("autoscaling", "'*'", "horizontalpodautoscalers");
        check(UnconvertibleVersion::META, &any, &[]);
        let exact = policy("autoscaling", "v1", "horizontalpodautoscalers")
            .replace("    resourceRules", "    matchPolicy: Exact\n    resourceRules");
        check(UnconvertibleVersion::META, &exact, &[]);
        check(
            UnconvertibleVersion::META,
            &policy("apps", "v1", "deployments"),
            &[],
        );
        check(
            UnconvertibleVersion::META,
            &policy("example.com", "v1", "widgets"),
            &[],
        );
    }
}
