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
//!
//! For the last three the rules have to match `UPDATE`: a policy for `CREATE` only does not limit later changes. There is no
//! warning where another policy matches the subresource.
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

use pratique_cel::ast::{Ast, Expr, ExprId, Literal};
use pratique_expression::Use;
use pratique_sample::{CustomDefinition, CustomKinds};
use pratique_types::Operation;
use pratique_types::builtin::ServedResource;

use crate::analysis::{TextRange, ident_path, parse_site, place_of};
use crate::lint::{Lint, LintContext, LintSubject};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport};
use crate::subject::{ExpressionSite, ManifestView, PolicyView};

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
            manifests,
            custom: &context.options.custom_kinds,
        };
        for policy in &manifests.policies {
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
    /// The node of an expression that checks the field.
    find: fn(&Ast) -> Option<ExprId>,
    /// Whether the field is the same in requests for the resource itself once the object is there.
    is_only_by_part: bool,
    /// A program that changes it.
    program: &'static str,
}

const CHANGES: [FieldChange; 4] = [
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
];

fn is_pods(served: &ServedResource) -> bool {
    served.resource.group.is_empty() && served.resource.resource == "pods" && served.subresource.is_empty()
}

/// What a missed subresource is looked for in.
struct LintedResources<'l> {
    /// The policies, of which another one may cover it.
    manifests: &'l ManifestView<'l>,
    /// The definitions of custom resources.
    custom: &'l CustomKinds,
}

fn check_change(
    policy: &PolicyView<'_>,
    change: &FieldChange,
    linted: &LintedResources<'_>,
    report: &mut LintReport,
) {
    // Mutations do not read what they change.
    if policy.is_mutating && !change.is_only_by_part {
        return;
    }
    let checks: Vec<&ExpressionSite<'_>> = policy
        .sites
        .iter()
        .filter(|site| site.usage != Use::MatchCondition && site.text.contains(change.name))
        .collect();
    if checks.is_empty() {
        return;
    }
    let Some(missed) = missed_part(policy, change, linted) else {
        return;
    };
    let find = |site: &&ExpressionSite<'_>| -> Option<TextRange> {
        let ast = parse_site(site)?;
        let node = (change.find)(&ast)?;
        let place = place_of(&ast, node);
        Some(match ast.expr(node) {
            // A name in quotes, rather than behind `.?`.
            Expr::Literal(Literal::String(text)) if place.len() < text.len() => {
                place.start..place.start + text.len() + 2
            }
            _ => place,
        })
    };
    let Some((site, place)) = checks.iter().find_map(|site| Some((site, find(site)?))) else {
        return;
    };
    let resource = format!("{}/{}", missed.resource.resource, missed.subresource);
    let message = format!(
        "requests for {resource}, as of {}, change this, and no rule matches them",
        change.program
    );
    let finding = LintFinding::new(MissedSubresource::META, message).help(format!(
        "add {resource} to the resources of the rule, with the operation UPDATE"
    ));
    report.add_in(&policy.origin, &site.path, place, finding);
}

/// The first subresource that changes a field of what a policy matches, and that no policy matches.
fn missed_part(
    policy: &PolicyView<'_>,
    change: &FieldChange,
    linted: &LintedResources<'_>,
) -> Option<ServedResource> {
    let is_matched = |served: &ServedResource| {
        (change.is_of)(served)
            && policy.rules.iter().any(|rule| {
                let has = |operation| rule.operations.contains(&operation);
                rule.matches(served)
                    && (has(Operation::Update) || change.is_only_by_part && has(Operation::Create))
            })
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
    let mut parts = builtin.chain(custom.map(|(_, part)| part));
    parts.find(|part| {
        !linted
            .manifests
            .policies
            .iter()
            .any(|other| covers(other, policy, part, change))
    })
}

/// Whether a policy checks a subresource: itself, or another one that names it or checks the same field.
fn covers(
    other: &PolicyView<'_>,
    policy: &PolicyView<'_>,
    part: &ServedResource,
    change: &FieldChange,
) -> bool {
    let is_same = other.origin.source.is_same(policy.origin.source);
    let checks_field = || other.sites.iter().any(|site| site.text.contains(change.name));
    other.rules.iter().any(|rule| {
        let names = || {
            let named = rule.resources.iter();
            named
                .map(|pattern| pattern.as_str())
                .any(|pattern| pattern.ends_with(change.part))
        };
        rule.operations.contains(&Operation::Update)
            && rule.matches(part)
            && (is_same || names() || checks_field())
    })
}

fn nodes(ast: &Ast) -> impl Iterator<Item = ExprId> {
    (0..ast.len() as u32).map(ExprId)
}

/// `object.spec.ephemeralContainers`, or its name as a key.
fn find_ephemeral_containers(ast: &Ast) -> Option<ExprId> {
    nodes(ast).find(|id| match ast.expr(*id) {
        Expr::Select { operand, field, .. } => {
            &**field == "ephemeralContainers"
                && ident_path(ast, *operand).is_none_or(|(_, root)| !matches!(root, "oldObject" | "Object"))
        }
        Expr::Literal(Literal::String(text)) => &**text == "ephemeralContainers",
        _ => false,
    })
}

/// A quantity of `resources` that is compared. Requests and limits cannot be removed by a resize, so tests for them are sound.
fn find_quantity(ast: &Ast) -> Option<ExprId> {
    let of_resources = |id: ExprId| {
        let names = field_names(ast, id);
        let mut parts = names.windows(3);
        parts.any(|names| matches!(names, ["resources", "limits" | "requests", _]))
    };
    nodes(ast).find_map(|id| match ast.expr(id) {
        Expr::Call {
            function,
            target,
            args,
        } => {
            let is_comparison = matches!(
                &**function,
                "quantity" | "compareTo" | "isGreaterThan" | "isLessThan" | "_<_" | "_<=_" | "_>_" | "_>=_"
            );
            let mut operands = target.iter().chain(args);
            operands
                .find(|operand| is_comparison && of_resources(**operand))
                .copied()
        }
        _ => None,
    })
}

/// `object.spec.replicas` that is compared.
fn find_replicas(ast: &Ast) -> Option<ExprId> {
    let is_replicas = |id: &&ExprId| {
        ident_path(ast, **id).is_some_and(|(_, root)| root == "object")
            && field_names(ast, **id) == ["spec", "replicas"]
    };
    nodes(ast).find_map(|id| match ast.expr(id) {
        Expr::Call {
            function,
            target: None,
            args,
        } if matches!(
            &**function,
            "_==_" | "_!=_" | "_<_" | "_<=_" | "_>_" | "_>=_" | "@in"
        ) =>
        {
            args.iter().find(is_replicas).copied()
        }
        _ => None,
    })
}

/// `object.status`, in an expression that reads no other part of the object.
fn find_status(ast: &Ast) -> Option<ExprId> {
    let reads_object = |id: &ExprId| match ast.expr(*id) {
        Expr::Select { operand, .. } => {
            matches!(ast.expr(*operand), Expr::Ident(name) if &**name == "object")
        }
        _ => false,
    };
    let reads: Vec<ExprId> = nodes(ast).filter(reads_object).collect();
    let idents = nodes(ast).filter(|id| matches!(ast.expr(*id), Expr::Ident(name) if &**name == "object"));
    let of_status = |id: &ExprId| match ast.expr(*id) {
        Expr::Select { field, test_only, .. } => &**field == "status" && !test_only,
        _ => false,
    };
    let reads_variables =
        nodes(ast).any(|id| matches!(ast.expr(id), Expr::Ident(name) if &**name == "variables"));
    let is_status_only = reads.iter().all(of_status) && idents.count() == reads.len() && !reads_variables;
    reads.first().filter(|_| is_status_only).copied()
}

/// The names of the fields and keys that a node reads, one after the other.
fn field_names(ast: &Ast, id: ExprId) -> Vec<&str> {
    let mut names = Vec::new();
    let mut at = id;
    loop {
        at = match ast.expr(at) {
            Expr::Select { operand, field, .. } => {
                names.push(&**field);
                *operand
            }
            Expr::Call {
                function,
                target: None,
                args,
            } if matches!(&**function, "_[_]" | "_?._" | "_[?_]") => {
                let [operand, key] = args.as_slice() else { break };
                if let Expr::Literal(Literal::String(key)) = ast.expr(*key) {
                    names.push(key);
                }
                *operand
            }
            Expr::Call {
                function,
                target: Some(target),
                ..
            } if matches!(&**function, "orValue" | "value") => *target,
            _ => break,
        };
    }
    names.reverse();
    names
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
    fn another_policy_covers_it() {
        let spec = |expression: &str| format!("validations:\n- expression: \"{expression}\"\n");
        let first = policy_for("''", "v1", "pods", "CREATE, UPDATE", &spec(DEBUG));
        let other = |resources: &str, expression: &str| {
            let other = policy_for("''", "v1", resources, "UPDATE", &spec(expression));
            let other = other
                .replace("p.static", "other.static")
                .replace("b.static", "b2.static");
            format!("{first}---\n{other}")
        };
        find(
            MissedSubresource::META,
            &other("pods/ephemeralcontainers", "false"),
            &[],
        );
        find(MissedSubresource::META, &other("'*/*'", DEBUG), &[]);
        find(
            MissedSubresource::META,
            &other("'*/*'", "has(object.metadata)"),
            &[("ephemeralContainers", "pods/ephemeralcontainers")],
        );
    }
}
