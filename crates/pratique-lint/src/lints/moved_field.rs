//! Fields that other versions of a kind do not have.
//!
//! # What
//!
//! The rules of a ValidatingAdmissionPolicy name several versions of a built-in resource, and an expression asks for a field
//! that only one of them has, with `has` or `?.`. Nothing in the policy reads a field that only the other version has.
//!
//! # Why
//!
//! Objects come in the version of the request, so that the field is absent in the other version, whatever the object says:
//! the policy below lets every HorizontalPodAutoscaler of `autoscaling/v2` in, where the same number is in `spec.metrics`.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicy
//! metadata: {name: target}
//! spec:
//!   matchConstraints:
//!     resourceRules:
//!     - {apiGroups: [autoscaling], apiVersions: [v1, v2], resources: [horizontalpodautoscalers], operations: [CREATE]}
//!   validations: [{expression: "object.spec.?targetCPUUtilizationPercentage.orValue(50) <= 80"}]
//! ```
//!
//! Name one version in the rule: with the `matchPolicy` `Equivalent`, the default, requests in other versions are converted to
//! it before the policy is evaluated.

use pratique_cel::ast::{Ast, Expr, ExprId};
use pratique_match::Equivalents;
use pratique_types::GroupVersionKind;
use pratique_types::builtin::ServedResource;

use crate::analysis::{FoldedExpression, RequestFacts, TextRange, place_of};
use crate::lint::{Lint, LintContext, PolicySubject};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport};
use crate::typing::{FieldPresence, MatchedKinds, presence};

/// The lint `moved-field`.
pub(crate) struct MovedField;

impl Lint for MovedField {
    const META: &'static LintMeta = &LintMeta {
        name: "moved-field",
        summary: "An expression asks for a field that objects of another matched version have elsewhere.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        // Mutations do not ask for what they set.
        let is_asking =
            |subject: &&PolicySubject<'_>| subject.policy.is_webhook || !subject.policy.is_mutating;
        let Some(subject) = context.evaluated().filter(is_asking) else {
            return;
        };
        let pairs = version_pairs(subject.kinds());
        let tells_versions = |text: &str| text.contains("apiVersion") || text.contains(".version");
        if pairs.is_empty() || subject.policy.sites.iter().any(|site| tells_versions(site.text)) {
            return;
        }
        let reads = object_reads(subject);
        for (one, other) in pairs {
            for (has, lacks) in [(one, other), (other, one)] {
                check_pair(subject, &reads, has, lacks, report);
            }
        }
    }
}

/// The versions of resources that are matched, two by two.
pub(super) fn version_pairs(kinds: &MatchedKinds) -> Vec<(&'static ServedResource, &'static ServedResource)> {
    let equivalents = Equivalents::of_release(kinds.release.resources());
    let is_equivalent = |one: &ServedResource, other: &ServedResource| {
        let mut family = equivalents.list(&one.resource, &one.subresource).iter();
        one.subresource == other.subresource && family.any(|version| version.resource == other.resource)
    };
    let pairs_of = |(index, one): (usize, &&'static ServedResource)| {
        let others = kinds.builtin.iter().skip(index + 1).copied();
        let one = *one;
        others
            .filter(move |other| is_equivalent(one, other))
            .map(move |other| (one, other))
            .collect::<Vec<_>>()
    };
    kinds.builtin.iter().enumerate().flat_map(pairs_of).collect()
}

/// Help for an undefined field of some kinds, where the policy matches another version of these as well, to which the server would
/// convert their objects.
pub(super) fn help_for_moved(
    subject: &PolicySubject<'_>,
    kinds: &[GroupVersionKind],
    issue: &str,
) -> Option<String> {
    let policy = subject.policy;
    let match_policy = policy.constraints.and_then(|of| of.match_policy.as_deref());
    let is_of_mutation = policy.is_mutating && !policy.is_webhook;
    if match_policy == Some("Exact") || is_of_mutation || !issue.starts_with("undefined field") {
        return None;
    }
    let pairs = version_pairs(subject.kinds()).into_iter();
    let mut pairs = pairs.flat_map(|(one, other)| [(one, other), (other, one)]);
    let (_, besides) = pairs.find(|(one, other)| *kinds == [one.kind.clone()] && other.kind != one.kind)?;
    Some(help_to_name(&besides.kind.version))
}

fn help_to_name(version: &str) -> String {
    format!("name {version:?} only in apiVersions: objects of other versions are converted to it")
}

/// A read of a field of the object.
struct ObjectRead {
    site: usize,
    place: TextRange,
    fields: Vec<String>,
    /// Whether it is a test for the field, or tolerates its absence.
    is_guarded: bool,
}

fn object_reads(subject: &PolicySubject<'_>) -> Vec<ObjectRead> {
    let mut reads = Vec::new();
    for (site, ast) in subject.parsed().asts.iter().enumerate() {
        let Some(ast) = ast else { continue };
        let folded = FoldedExpression::new(ast, &RequestFacts::default(), &Default::default());
        for id in ast.ids() {
            if let Some([root, fields @ ..]) = folded.path(id)
                && matches!(root.as_str(), "object" | "oldObject")
            {
                reads.push(ObjectRead {
                    site,
                    place: place_of(ast, id),
                    fields: fields.to_vec(),
                    is_guarded: is_guarded(ast, id),
                });
            }
        }
    }
    reads
}

fn is_guarded(ast: &Ast, id: ExprId) -> bool {
    match ast.expr(id) {
        Expr::Select { test_only, .. } => *test_only,
        Expr::Call { function, .. } => matches!(&**function, "_?._" | "_[?_]"),
        _ => false,
    }
}

fn check_pair(
    subject: &PolicySubject<'_>,
    reads: &[ObjectRead],
    has: &ServedResource,
    lacks: &ServedResource,
    report: &mut LintReport,
) {
    let only_in = |one: &ServedResource, other: &ServedResource, fields: &[String]| {
        presence(subject.policy.release, &one.kind, fields) == FieldPresence::Defined
            && presence(subject.policy.release, &other.kind, fields) == FieldPresence::Undefined
    };
    if reads.iter().any(|read| only_in(lacks, has, &read.fields)) {
        return;
    }
    let moved = |read: &&ObjectRead| read.is_guarded && only_in(has, lacks, &read.fields);
    let Some(read) = reads.iter().find(moved) else {
        return;
    };
    let Some(site) = subject.policy.sites.get(read.site) else {
        return;
    };
    let message = format!(
        "{} {} has no {}, and comes as it is, since a rule matches this version: it is absent whatever the object says",
        lacks.kind.api_version(),
        lacks.kind.kind,
        read.fields.join(".")
    );
    let finding = LintFinding::new(MovedField::META, message).help(help_to_name(&has.kind.version));
    report.add_in(&subject.policy.origin, &site.path, read.place.clone(), finding);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check as find, policy_for, webhook};

    #[track_caller]
    fn check(versions: &str, expression: &str, expected: &[(&str, &str)]) {
        let spec = format!("validations:\n- expression: >-\n    {expression}\n");
        let manifests = policy_for(
            "autoscaling",
            versions,
            "horizontalpodautoscalers",
            "CREATE",
            &spec,
        );
        find(MovedField::META, &manifests, expected);
    }

    const CPU: &str = "object.spec.?targetCPUUtilizationPercentage.orValue(50) <= 80";

    #[test]
    fn fields_of_one_version() {
        let moved = [(
            "object.spec",
            "autoscaling/v2 HorizontalPodAutoscaler has no spec.targetCPUUtilizationPercentage",
        )];
        check("v1, v2", CPU, &moved);
        check("'*'", CPU, &moved);
        check(
            "v1, v2",
            "!has(object.spec.behavior)",
            &[(
                "object.spec.behavior",
                "autoscaling/v1 HorizontalPodAutoscaler has no spec.behavior",
            )],
        );
    }

    #[test]
    fn conditions_of_webhooks() {
        let hook = webhook("Mutating", "horizontalpodautoscalers", "CREATE", CPU);
        let hook = hook.replace("apiGroups: ['']", "apiGroups: [autoscaling]");
        find(MovedField::META, &hook, &[]);
        let both = hook.replace("apiVersions: [v1]", "apiVersions: [v1, v2]");
        let expected = "autoscaling/v2 HorizontalPodAutoscaler has no spec.targetCPUUtilizationPercentage";
        find(MovedField::META, &both, &[("object.spec", expected)]);
    }

    #[test]
    fn fields_of_all() {
        check("v1", CPU, &[]);
        check(
            "v1, v2",
            "object.spec.maxReplicas < 10 && has(object.spec.minReplicas)",
            &[],
        );
        check("v1, v2", &format!("{CPU} && !has(object.spec.metrics)"), &[]);
        check(
            "v1, v2",
            &format!("object.apiVersion == 'autoscaling/v2' || {CPU}"),
            &[],
        );
    }
}
