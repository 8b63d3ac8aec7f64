//! Fields that change through a subresource that no rule matches.
//!
//! # What
//!
//! An expression checks a field that requests for another resource change, and no rule of the policy matches that one:
//!
//! | field | changes with | as by |
//! |---|---|---|
//! | `spec.ephemeralContainers` of Pods | `pods/ephemeralcontainers` | `kubectl debug` |
//! | quantities in `resources` of containers of Pods | `pods/resize` | `kubectl patch --subresource resize` |
//! | `spec.replicas` of workloads, and of custom resources that scale | `deployments/scale`, … | `kubectl scale`, autoscalers |
//! | `status`, where an expression reads nothing else | `…/status` | controllers, `kubectl patch --subresource status` |
//! | `spec.finalizers` of Namespaces | `namespaces/finalize` | `kubectl replace --raw` |
//!
//! For quantities, replicas and the status the rules have to match `UPDATE`: a policy for `CREATE` only does not limit later changes. What a match
//! condition reads counts where nothing else of the object is read. There is no warning where another policy checks the field
//! of the subresource, or refuses all of its requests, with a binding that is as strict and matches the subresource as well.
//!
//! # Why
//!
//! A rule for `pods` matches no request for `pods/ephemeralcontainers`: with the policy below debug containers may have any
//! image.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicy
//! metadata: {name: registry}
//! spec:
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE, UPDATE]}]
//!   validations: [{expression: "object.spec.?ephemeralContainers.orValue([]).all(c, c.image.startsWith('registry.example.com/'))"}]
//! ```
//!
//! Add the subresource to the resources of the rule, with the operation `UPDATE`. Objects of `…/scale` are of the kind Scale,
//! whose `spec` has `replicas` only.

mod field_reads;
mod policy_reach;

use std::cell::OnceCell;

use pratique_cel::ast::{Ast, Expr, ExprId, Literal};
use pratique_expression::ExpressionPurpose;
use pratique_sample::{CustomDefinition, CustomKinds};
use pratique_types::Operation;
use pratique_types::builtin::ServedResource;

use crate::analysis::{ParsedExpressions, TextRange, chain_place, place_of};
use crate::lint::{Lint, LintContext, LintSubject};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport, listed};
use crate::subject::{ExpressionSite, PolicyView};
use field_reads::{
    DecidingExpressions, find_ephemeral_containers, find_namespace_finalizers, find_quantity, find_replicas,
    find_status,
};
use policy_reach::{covers_as_strictly, covers_itself, is_applied, matches_any};

/// The lint `missed-subresource`.
pub(crate) struct MissedSubresource;

impl Lint for MissedSubresource {
    const META: &'static LintMeta = &LintMeta {
        name: "missed-subresource",
        summary: "An expression checks a field that changes through a subresource which no rule matches.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        let LintSubject::Manifests { manifests, .. } = context.subject else {
            return;
        };
        let resources = LintedResources {
            policies: manifests.policies.iter().map(LintedPolicy::new).collect(),
            custom: &context.options.custom_kinds,
        };
        for policy in &resources.policies {
            for change in &CHANGES {
                check_change(policy, change, &resources, report);
            }
        }
    }
}

/// A field that changes through a subresource.
struct FieldChange {
    /// A name in every expression that checks it.
    name: &'static str,
    part: &'static str,
    /// Whether a resource has the field.
    is_of: fn(&ServedResource) -> bool,
    /// The node of an expression that checks the field; of a match condition, if that is asked.
    find: fn(&Ast, bool) -> Option<ExprId>,
    /// Whether the field is the same in requests for the resource itself once the object is there.
    is_only_by_part: bool,
    /// A program that changes it.
    program: &'static str,
}

const CHANGES: [FieldChange; 5] = [
    FieldChange {
        name: "ephemeralContainers",
        part: "ephemeralcontainers",
        is_of: is_pods,
        find: find_ephemeral_containers,
        is_only_by_part: true,
        program: "kubectl debug",
    },
    FieldChange {
        name: "resources",
        part: "resize",
        is_of: is_pods,
        find: find_quantity,
        is_only_by_part: false,
        program: "kubectl patch --subresource resize",
    },
    FieldChange {
        name: "replicas",
        part: "scale",
        is_of: |served| served.subresource.is_empty(),
        find: find_replicas,
        is_only_by_part: false,
        program: "kubectl scale",
    },
    FieldChange {
        name: "status",
        part: "status",
        is_of: |served| served.subresource.is_empty(),
        find: find_status,
        is_only_by_part: false,
        program: "kubectl patch --subresource status",
    },
    // Upstream: pkg/registry/core/namespace/strategy.go, PrepareForUpdate
    FieldChange {
        name: "finalizers",
        part: "finalize",
        is_of: |served| served.kind.is_core("Namespace") && served.subresource.is_empty(),
        find: find_namespace_finalizers,
        is_only_by_part: true,
        program: "kubectl replace --raw",
    },
];

fn is_pods(served: &ServedResource) -> bool {
    served.resource.group.is_empty() && served.resource.resource == "pods" && served.subresource.is_empty()
}

/// What a missed subresource is looked for in.
struct LintedResources<'l> {
    /// The policies, of which another one may cover it.
    policies: Vec<LintedPolicy<'l>>,
    /// The definitions of custom resources.
    custom: &'l CustomKinds,
}

/// A policy, whose expressions are parsed when something asks for them.
struct LintedPolicy<'l> {
    view: &'l PolicyView<'l>,
    parsed: OnceCell<ParsedExpressions>,
}

impl<'l> LintedPolicy<'l> {
    fn new(view: &'l PolicyView<'l>) -> Self {
        LintedPolicy {
            view,
            parsed: OnceCell::new(),
        }
    }
}

fn check_change(
    linted_policy: &LintedPolicy<'_>,
    change: &FieldChange,
    linted: &LintedResources<'_>,
    report: &mut LintReport,
) {
    let policy = linted_policy.view;
    // Mutations do not read what they change.
    if policy.is_mutating && !change.is_only_by_part {
        return;
    }
    if !policy.sites.iter().any(|site| site.text.contains(change.name)) {
        return;
    }
    let missed = missed_parts(policy, change, linted);
    if missed.is_empty() {
        return;
    }
    let Some((site, place)) = find_check(linted_policy, change) else {
        return;
    };
    let mut names: Vec<String> = Vec::new();
    for part in &missed {
        let name = format!("{}/{}", part.resource.resource, part.subresource);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let is_of_rules = |part: &ServedResource| matches_any(&policy.rules, part, Operation::Update);
    let narrowing = missed.iter().all(is_of_rules);
    let message = format!(
        "requests for {}, as of {}, change this, and no {} matches them",
        listed(&names),
        change.program,
        if narrowing { "binding" } else { "rule" }
    );
    let added = if names.len() > MOST_NAMES {
        format!("*/{}", change.part)
    } else {
        names.join(", ")
    };
    let help = if narrowing {
        format!("add {added} to the resources of the rule in the binding, with the operation UPDATE")
    } else {
        format!("add {added} to the resources of the rule, with the operation UPDATE")
    };
    let finding = LintFinding::new(MissedSubresource::META, message).help(help);
    report.add_in(&policy.origin, &site.path, place, finding);
}

/// The most resources that the help names one by one.
const MOST_NAMES: usize = 4;

/// The subresources that change a field of what a policy matches, and that no policy checks.
fn missed_parts(
    policy: &PolicyView<'_>,
    change: &FieldChange,
    linted: &LintedResources<'_>,
) -> Vec<ServedResource> {
    let is_matched = |served: &ServedResource| {
        let is_applied = |operation| is_applied(policy, served, operation);
        (change.is_of)(served)
            && (is_applied(Operation::Update) || change.is_only_by_part && is_applied(Operation::Create))
    };
    let of_part = |served: &&ServedResource| {
        policy
            .release
            .resources()
            .served()
            .iter()
            .find(|part| part.resource == served.resource && part.subresource == change.part)
    };
    let matched = policy
        .release
        .resources()
        .served()
        .iter()
        .filter(|served| is_matched(served));
    let builtin = matched.filter_map(|served| of_part(&served)).cloned();
    let definitions = linted.custom.definitions().iter();
    let custom = definitions.flat_map(CustomDefinition::subresources);
    let custom = custom.filter(|(served, part)| part.subresource == change.part && is_matched(served));
    let parts = builtin.chain(custom.map(|(_, part)| part));
    parts
        .filter(|part| !is_covered(policy, part, change, &linted.policies))
        .collect()
}

/// Whether a policy checks a subresource: itself, or another one.
fn is_covered(
    policy: &PolicyView<'_>,
    part: &ServedResource,
    change: &FieldChange,
    policies: &[LintedPolicy<'_>],
) -> bool {
    let others = policies
        .iter()
        .filter(|other| !other.view.origin.source.is_same(policy.origin.source));
    covers_itself(policy, part)
        || others
            .filter(|other| covers_as_strictly(other.view, policy, part))
            .any(|other| denies_everything(other.view) || find_check(other, change).is_some())
}

/// Whether a policy refuses whatever it matches.
fn denies_everything(policy: &PolicyView<'_>) -> bool {
    let mut validations = policy.validations.iter();
    validations.any(|validation| validation.expression.trim() == "false")
}

/// An expression whose value decides and that checks the field, and where it does.
fn find_check<'l>(
    linted: &LintedPolicy<'l>,
    change: &FieldChange,
) -> Option<(&'l ExpressionSite<'l>, TextRange)> {
    let policy = linted.view;
    if !policy.sites.iter().any(|site| site.text.contains(change.name)) {
        return None;
    }
    let parsed = linted
        .parsed
        .get_or_init(|| ParsedExpressions::new(&policy.sites));
    let deciding = DecidingExpressions::new(&policy.sites, parsed);
    deciding.sites.iter().find_map(|index| {
        let (site, ast) = policy.sites.get(*index).zip(parsed.asts.get(*index)?.as_ref())?;
        let is_condition = site.usage == ExpressionPurpose::MatchCondition;
        // What a condition selects by this field is checked by what the rest reads, which other requests do not have.
        if is_condition && (change.is_only_by_part || change.part == "status" || deciding.reads_object) {
            return None;
        }
        let node = (change.find)(ast, is_condition)?;
        let place = place_of(ast, node);
        let place = match ast.expr(node) {
            // A name in quotes, rather than behind `.?`.
            Expr::Literal(Literal::String(text)) if place.len() < text.len() => {
                place.start..place.start + text.len() + 2
            }
            Expr::Literal(_) => place,
            _ => chain_place(ast, node).0,
        };
        Some((site, place))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::lints::testing::{check as find, load, policy_for};
    use crate::{LintOptions, lint_with};

    #[track_caller]
    fn check(groups: &str, resources: &str, operations: &str, expression: &str, expected: &[(&str, &str)]) {
        let spec = format!("validations:\n- expression: >-\n    {expression}\n");
        let manifests = policy_for(groups, "v1", resources, operations, &spec);
        find(MissedSubresource::META, &manifests, expected);
    }

    const DEBUG: &str = "object.spec.?ephemeralContainers.orValue([]).all(c, c.image == 'a')";
    const LIMITS: &str =
        "object.spec.containers.all(c, quantity(c.resources.limits.cpu).isLessThan(quantity('2')))";

    #[test]
    fn fields_that_subresources_change() {
        let debug = [("ephemeralContainers", "pods/ephemeralcontainers")];
        check("''", "pods", "CREATE, UPDATE", DEBUG, &debug);
        check("''", "'*'", "CREATE", DEBUG, &debug);
        let finalizers = "object.spec.finalizers.size() > 0";
        check(
            "''",
            "namespaces",
            "UPDATE",
            finalizers,
            &[("object.spec.finalizers", "namespaces/finalize")],
        );
        check("''", "namespaces, namespaces/finalize", "UPDATE", finalizers, &[]);
        check(
            "''",
            "namespaces",
            "UPDATE",
            "has(object.metadata.finalizers)",
            &[],
        );
        check("example.com", "widgets", "UPDATE", finalizers, &[]);
        check(
            "''",
            "pods",
            "CREATE, UPDATE",
            "['containers', 'ephemeralContainers'].all(f, !(f in object.spec))",
            &[("'ephemeralContainers'", "pods/ephemeralcontainers")],
        );
        check(
            "''",
            "pods",
            "CREATE, UPDATE",
            LIMITS,
            &[("c.resources.limits.cpu", "pods/resize")],
        );
        check(
            "apps",
            "deployments, daemonsets",
            "CREATE, UPDATE",
            "object.spec.replicas <= 5",
            &[("object.spec.replicas", "deployments/scale")],
        );
        for (expression, place) in [
            ("object.spec.?replicas.orValue(1) <= 5", "object.spec.?replicas"),
            ("object.spec.replicas % 2 == 1", "object.spec.replicas"),
            ("double(object.spec.replicas) < 5.0", "object.spec.replicas"),
            (
                "object.spec.replicas == oldObject.spec.replicas",
                "object.spec.replicas",
            ),
        ] {
            let expected = [(place, "deployments/scale")];
            check("apps", "deployments", "CREATE, UPDATE", expression, &expected);
        }
        for (expression, place) in [
            (
                "object.spec.containers.all(c, c.resources.?limits['cpu'].orValue('') ==                  c.resources.?requests['cpu'].orValue(''))",
                "c.resources.?limits['cpu']",
            ),
            (
                "object.spec.containers.all(c, c.resources.limits == c.resources.requests)",
                "c.resources.limits",
            ),
            (
                "object.spec.containers.all(c, c.resources.limits.cpu in ['1', '2'])",
                "c.resources.limits.cpu",
            ),
        ] {
            check(
                "''",
                "pods",
                "CREATE, UPDATE",
                expression,
                &[(place, "pods/resize")],
            );
        }
        check(
            "''",
            "services",
            "UPDATE",
            "object.status.?loadBalancer.?ingress.orValue([]).size() < 2",
            &[("object.status", "services/status")],
        );
    }

    #[test]
    fn what_is_matched_or_cannot_change() {
        check(
            "''",
            "pods, pods/ephemeralcontainers",
            "CREATE, UPDATE",
            DEBUG,
            &[],
        );
        check("''", "'*/*'", "CREATE, UPDATE", DEBUG, &[]);
        check("''", "services", "CREATE, UPDATE", DEBUG, &[]);
        check("''", "pods/ephemeralcontainers", "UPDATE", DEBUG, &[]);
        check("''", "pods, pods/resize", "CREATE, UPDATE", LIMITS, &[]);
        check("''", "pods", "CREATE", LIMITS, &[]);
        check(
            "''",
            "pods",
            "CREATE, UPDATE",
            "object.spec.containers.all(c, has(c.resources.limits) && 'cpu' in c.resources.limits)",
            &[],
        );
        for limits in [
            "c.?resources.?limits.?cpu.orValue('') != ''",
            "c.?resources.?limits.?cpu.hasValue()",
            "has(c.resources.limits.cpu) && c.resources.limits.cpu != null",
            "size(c.resources.limits.cpu) > 0",
            "has(c.resources.limits) == has(c.resources.requests)",
        ] {
            let expression = format!("object.spec.containers.all(c, {limits})");
            check("''", "pods", "CREATE, UPDATE", &expression, &[]);
        }
        for replicas in [
            "has(object.spec.replicas)",
            "object.spec.?replicas.hasValue()",
            "object.spec.template.spec.?replicas.orValue(1) < 5",
            "oldObject == null || oldObject.spec.replicas < 5",
        ] {
            check("apps", "deployments", "CREATE, UPDATE", replicas, &[]);
        }
        check(
            "apps",
            "deployments, 'deployments/scale'",
            "UPDATE",
            "object.spec.replicas <= 5",
            &[],
        );
        check("apps", "deployments", "CREATE", "object.spec.replicas <= 5", &[]);
        check(
            "''",
            "pods",
            "UPDATE",
            "object.status.phase != 'Running' || object.metadata.name != 'a'",
            &[],
        );
        check("''", "pods", "DELETE", "oldObject.status.phase != 'Running'", &[]);
    }

    #[test]
    fn custom_resources_have_subresources() {
        let version = |name: &str, is_served: bool, parts: &str| {
            let is_stored = name == "v1";
            format!(
                r#"{{"name": "{name}", "served": {is_served}, "storage": {is_stored}, "subresources": {{{parts}}},
                    "schema": {{"openAPIV3Schema": {{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}}}"#
            )
        };
        let of_versions = |versions: &[String]| {
            let versions = versions.join(",");
            let definition = format!(
                r#"{{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {{"name": "widgets.example.com"}},
                    "spec": {{"group": "example.com", "scope": "Namespaced", "names": {{"kind": "Widget", "plural": "widgets"}},
                    "versions": [{versions}]}}}}"#
            );
            pratique_json::parse(definition.as_bytes()).unwrap().into_owned()
        };
        let definition = |scale: &str| {
            let parts = format!(r#""status": {{}}, "scale": {{"specReplicasPath": "{scale}"}}"#);
            of_versions(&[version("v1", true, &parts)])
        };
        let check = |definition, expression: &str, expected: &[&str]| {
            let spec = format!("validations:\n- expression: >-\n    {expression}\n");
            let manifests = policy_for("example.com", "'*'", "widgets", "CREATE, UPDATE", &spec);
            let kinds = Arc::new(CustomKinds::new(
                pratique_schema::Release::latest(),
                &[definition],
            ));
            let options = LintOptions::default().custom_kinds(kinds);
            let warnings = lint_with(&[&load(&manifests)], &options);
            let mut missed: Vec<&str> = Vec::new();
            for warning in &warnings {
                if warning.lint == MissedSubresource::META {
                    missed.extend(warning.help.as_ref().map(|help| &*help.text));
                }
            }
            assert_eq!(missed, expected, "{expression}");
        };
        let replicas = "object.spec.replicas <= 5";
        let help = "add widgets/scale to the resources of the rule, with the operation UPDATE";
        check(definition(".spec.replicas"), replicas, &[help]);
        check(definition(".spec.size"), replicas, &[]);
        let help = "add widgets/status to the resources of the rule, with the operation UPDATE";
        let status = "object.status.phase == 'a'";
        check(definition(".spec.size"), status, &[help]);
        // A version that nobody can use has none, and a part that is null is not there.
        let part = r#""status": {}"#;
        let served = |is_served| of_versions(&[version("v1", true, ""), version("v2", is_served, part)]);
        check(served(true), status, &[help]);
        check(served(false), status, &[]);
        let null = version("v1", true, r#""status": null"#);
        check(of_versions(&[null]), status, &[]);
    }

    #[test]
    fn all_missed_resources_are_told() {
        check(
            "apps",
            "deployments, statefulsets",
            "CREATE, UPDATE",
            "object.spec.replicas <= 5",
            &[("object.spec.replicas", "deployments/scale and statefulsets/scale")],
        );
        check(
            "apps",
            "deployments, deployments/scale, statefulsets",
            "CREATE, UPDATE",
            "object.spec.replicas <= 5",
            &[("object.spec.replicas", "requests for statefulsets/scale, as")],
        );
    }

    #[test]
    fn what_decides() {
        let of = |spec: &str, expected: &[(&str, &str)]| {
            let manifests = policy_for("apps", "v1", "deployments", "CREATE, UPDATE", spec);
            find(MissedSubresource::META, &manifests, expected);
        };
        let replicas = [("object.spec.replicas", "deployments/scale")];
        of(
            "variables:
- {name: b, expression: object.spec.replicas}
- {name: a, expression: variables.b + 1}
validations: [{expression: variables.a < 5}]
",
            &replicas,
        );
        let condition = |condition: &str, expression: &str| {
            format!(
                "matchConditions: [{{name: c, expression: \"{condition}\"}}]\nvalidations: [{{expression: \"{expression}\"}}]\n"
            )
        };
        let by_admin = "request.userInfo.username == 'admin'";
        of(&condition("object.spec.replicas > 5", by_admin), &replicas);
        // Nothing reads the variable, or only what tells of a denial.
        of(
            "variables: [{name: a, expression: object.spec.replicas}]\nvalidations: [{expression: has(object.spec)}]\n",
            &[],
        );
        of(
            "validations: [{expression: has(object.spec), messageExpression: 'string(object.spec.replicas)'}]\n",
            &[],
        );
        // A Scale has no template; and what scales is not selected.
        of(
            &condition(
                "object.spec.replicas > 5",
                "has(object.spec.template.spec.affinity)",
            ),
            &[],
        );
        of(
            &condition("object.spec.replicas == oldObject.spec.replicas", by_admin),
            &[],
        );
    }

    const DEBUG_MISSED: [(&str, &str); 1] = [(
        "ephemeralContainers",
        "pods/ephemeralcontainers, as of kubectl debug, change this, and no rule matches",
    )];

    /// A policy for Pods, and another one with its binding, of which each text is replaced.
    #[track_caller]
    fn check_other(resources: &str, expression: &str, replaced: &[(&str, &str)], expected: &[(&str, &str)]) {
        let spec = |expression: &str| format!("validations:\n- expression: \"{expression}\"\n");
        let first = policy_for("''", "v1", "pods", "CREATE, UPDATE", &spec(DEBUG));
        let mut other = policy_for("''", "v1", resources, "UPDATE", &spec(expression))
            .replace("p.static", "other.static")
            .replace("b.static", "b2.static");
        for (from, to) in replaced {
            assert!(other.contains(from), "{from}");
            other = other.replace(from, to);
        }
        find(MissedSubresource::META, &format!("{first}---\n{other}"), expected);
    }

    #[test]
    fn another_policy_covers_it() {
        let part = "pods/ephemeralcontainers";
        check_other(part, DEBUG, &[], &[]);
        check_other("'*/*'", DEBUG, &[], &[]);
        check_other(part, "false", &[], &[]);
        let with_audit = [("[Deny]", "[Audit, Deny]")];
        check_other(part, DEBUG, &with_audit, &[]);
    }

    #[test]
    fn another_policy_does_not_cover_it() {
        let part = "pods/ephemeralcontainers";
        check_other(part, "request.userInfo.username != 'x'", &[], &DEBUG_MISSED);
        check_other("'*/*'", "has(object.metadata)", &[], &DEBUG_MISSED);
        let unbound = [("policyName: other.static", "policyName: p.static")];
        check_other(part, DEBUG, &unbound, &DEBUG_MISSED);
        check_other(part, DEBUG, &[("[Deny]", "[Audit]")], &DEBUG_MISSED);
        for rule in ["resourceRules", "excludeResourceRules"] {
            let resources = if rule == "resourceRules" { "pods" } else { part };
            let narrow = format!(
                "[Deny], matchResources: {{{rule}: [{{apiGroups: [''], apiVersions: [v1], resources: [{resources}], operations: ['*']}}]}}"
            );
            check_other(part, DEBUG, &[("[Deny]", &narrow)], &DEBUG_MISSED);
        }
    }

    #[test]
    fn bindings_narrow() {
        let of = |resources: &str, rule: &str, bound: &str, expected: &[(&str, &str)]| {
            let spec = format!("validations:\n- expression: \"{DEBUG}\"\n");
            let manifests = policy_for("''", "v1", resources, "CREATE, UPDATE", &spec).replace(
                "[Deny]",
                &format!(
                    "[Deny], matchResources: {{{rule}: [{{apiGroups: [''], apiVersions: [v1], resources: [{bound}], operations: ['*']}}]}}"
                ),
            );
            find(MissedSubresource::META, &manifests, expected);
        };
        let part = "pods/ephemeralcontainers";
        let both = "pods, pods/ephemeralcontainers";
        let missed = [("ephemeralContainers", "and no binding matches them")];
        of(both, "resourceRules", "pods", &missed);
        of(both, "resourceRules", both, &[]);
        // That is meant.
        of(both, "excludeResourceRules", part, &[]);
        // It is not for Pods.
        of("pods", "resourceRules", "services", &[]);
    }
}
