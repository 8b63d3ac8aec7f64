//! Expressions that do not fit the types of the kinds that they are for.
//!
//! The API tells of these in a policy's `status.typeChecking`, for up to ten types. Here all built-in kinds count,
//! also those behind wildcards and of parts of resources, and variables, conditions and mutations are looked at, too.
//! What a kind does not come to, because the expression asks for it first, is not held against it.

use std::collections::{BTreeMap, BTreeSet};

use pratique_cel::ast::{Ast, Expr, ExprId};
use pratique_cel::{Issue, Position};
use pratique_expression::word_at;
use pratique_types::GroupVersionKind;
use pratique_types::builtin::ServedResource;

use crate::analysis::{Facts, Folded, Parsed, byte_at, live_nodes};
use crate::lint::Lint;
use crate::report::{Finding, Report, listed};
use crate::subject::Policy;
use crate::typing::{Kinds, type_of, type_sites};

pub(crate) const LINT: Lint = Lint {
    name: "type-check",
    summary: "An expression does not fit the schema of a built-in kind that the policy matches.",
};

/// What is wrong, and for which kinds.
struct Found {
    issue: Issue,
    kinds: Vec<GroupVersionKind>,
}

pub(crate) fn check(policy: &Policy<'_>, report: &mut Report) {
    let kinds = Kinds::new(&policy.rules);
    let parsed = Parsed::new(&policy.sites);
    let mut found: BTreeMap<(usize, String), Found> = BTreeMap::new();
    for served in &kinds.builtin {
        for (index, issue) in issues(policy, &parsed, &kinds, served) {
            // A fault that an expression has again and again is told once, where it is first.
            let own = found
                .entry((index, issue.message.clone()))
                .or_insert_with(|| Found {
                    issue: issue.clone(),
                    kinds: Vec::new(),
                });
            if issue.position < own.issue.position {
                own.issue = issue;
            }
            if !own.kinds.contains(&served.kind) {
                own.kinds.push(served.kind.clone());
            }
        }
    }
    for ((index, ..), found) in found {
        let Some(site) = policy.sites.get(index) else {
            continue;
        };
        let place = word_at(site.text, byte_at(site.text, found.issue.position));
        let message = format!("{}: {}", kinds_text(&found.kinds), found.issue.message);
        let finding = Finding {
            lint: &LINT,
            message,
            help: found.issue.meant.map(|name| format!("did you mean {name:?}?")),
        };
        report.add_in(&policy.origin, &site.path, place, finding);
    }
}

/// One kind in full, several in brief.
fn kinds_text(kinds: &[GroupVersionKind]) -> String {
    match kinds {
        [only] => only.to_string(),
        several => {
            let short = several
                .iter()
                .map(|kind| format!("{} {}", kind.api_version(), kind.kind));
            listed(&short.collect::<Vec<_>>())
        }
    }
}

/// What is wrong for a kind, with the expressions it is wrong in.
fn issues(
    policy: &Policy<'_>,
    parsed: &Parsed,
    kinds: &Kinds,
    served: &ServedResource,
) -> Vec<(usize, Issue)> {
    let Some(object) = type_of(&served.kind) else {
        return Vec::new();
    };
    let presence = |path: &[String]| match path {
        [root, fields @ ..] if is_object(root) => kinds.tells_apart(&served.kind, fields),
        _ => None,
    };
    let facts = Facts {
        served: Some(served),
        presence: Some(&presence),
        ..Facts::default()
    };
    let Some(view) = parsed.view(&policy.sites, &facts) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (index, typed) in type_sites(&policy.sites, parsed, &object).into_iter().enumerate() {
        let (Err(issues), Some(Some(ast)), Some(folded), Some(true)) = (
            typed.checked,
            parsed.asts.get(index),
            view.folded.get(index),
            view.active.get(index),
        ) else {
            continue;
        };
        let silent = silent_places(ast, folded, kinds, &served.kind);
        let counts = |issue: &Issue| {
            !silent.contains(&issue.position)
                && !issue.message.is_empty()
                && !fits_at_run_time(&issue.message)
        };
        found.extend(issues.into_iter().filter(counts).map(|issue| (index, issue)));
    }
    found
}

fn is_object(name: &str) -> bool {
    matches!(name, "object" | "oldObject")
}

/// The places at which faults do not count: of what is not evaluated for the kind, and of questions whether a field
/// is there that other kinds have.
fn silent_places(ast: &Ast, folded: &Folded, kinds: &Kinds, kind: &GroupVersionKind) -> BTreeSet<Position> {
    let position = |id: ExprId| ast.source.position(ast.node(id).offset);
    let live = live_nodes(ast, folded);
    let asks = |id: &&ExprId| match (ast.expr(**id), folded.path(**id)) {
        (Expr::Select { test_only: true, .. }, Some([root, fields @ ..])) if is_object(root) => {
            kinds.tells_apart(kind, fields) == Some(false)
        }
        (Expr::Call { function, .. }, Some([root, fields @ ..]))
            if &**function == "_?._" && is_object(root) =>
        {
            kinds.tells_apart(kind, fields) == Some(false)
        }
        _ => false,
    };
    let asked: Vec<Position> = live.iter().filter(asks).map(|id| position(*id)).collect();
    let live: BTreeSet<Position> = live.into_iter().map(position).collect();
    let all = (0..ast.len() as u32).map(|id| position(ExprId(id)));
    all.filter(|position| !live.contains(position))
        .chain(asked)
        .collect()
}

/// Whether a mismatch of declared types is none at run time, where all structured values are maps alike.
fn fits_at_run_time(message: &str) -> bool {
    let is_struct = |name: &str| name.contains('/');
    if let Some(types) = message.strip_prefix("expected type '") {
        let Some((wanted, found)) = types.split_once("' but found '") else {
            return false;
        };
        let dynamic = |name: &str| name.trim_end_matches('\'') == "dyn";
        return dynamic(wanted) || dynamic(found) || (is_struct(wanted) && is_struct(found));
    }
    let Some(rest) = message.strip_prefix("found no matching overload for '") else {
        return false;
    };
    let Some((function, operands)) = rest.split_once("' applied to '") else {
        return false;
    };
    let operands = operands.trim_start_matches('(').trim_end_matches(['\'', ')']);
    match function {
        // Fields may be read as keys, and structs looked through as maps.
        "_[_]" | "@in" | "size" | "_[?_]" => is_struct(operands),
        "_+_" | "_==_" | "_!=_" | "_?_:_" => operands.split(", ").filter(|own| is_struct(own)).count() >= 2,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check as find, mutation, policy, policy_for};

    #[track_caller]
    fn check(expression: &str, expected: &[(&str, &str)]) {
        let spec = format!("validations:\n- expression: >-\n    {expression}\n");
        find(&LINT, &policy("CREATE", &spec), expected);
    }

    #[track_caller]
    fn check_for(groups: &str, resources: &str, expression: &str, expected: &[(&str, &str)]) {
        let spec = format!("validations:\n- expression: >-\n    {expression}\n");
        find(
            &LINT,
            &policy_for(groups, "v1", resources, "CREATE", &spec),
            expected,
        );
    }

    #[test]
    fn fields_that_do_not_exist() {
        check(
            "object.spec.hostNetwrk == true",
            &[(".hostNetwrk", "/v1, Kind=Pod: undefined field 'hostNetwrk'")],
        );
        check(
            "object.spec.containers.all(c, c.imag != '')",
            &[(".imag", "undefined field 'imag'")],
        );
        check(
            "has(object.spec.hostNetwrk)",
            &[("(object.spec.hostNetwrk)", "undefined field 'hostNetwrk'")],
        );
        check(
            "object.spec.?hostNetwrk.orValue(false)",
            &[(".?hostNetwrk", "undefined field 'hostNetwrk'")],
        );
    }

    #[test]
    fn types_that_do_not_fit() {
        check(
            "object.spec.hostNetwork == 'yes'",
            &[("==", "found no matching overload for '_==_'")],
        );
        check(
            "object.metadata.name > 3",
            &[(">", "found no matching overload for '_>_'")],
        );
        check(
            "object.metadata.creationTimestamp.getFullYear() > 2020",
            &[("()", "getFullYear")],
        );
    }

    #[test]
    fn repeated_faults_are_told_once() {
        let many = vec!["object.spec.nonsense == 'a'"; 150].join(" || ");
        check(&many, &[(".nonsense", "undefined field")]);
    }

    #[test]
    fn what_fits() {
        for expression in [
            "object.spec.hostNetwork == true && object.metadata.labels['a'] == 'b'",
            "object.spec.containers.all(c, !c.?securityContext.privileged.orValue(false))",
            "object.spec.containers + object.spec.initContainers + object.spec.ephemeralContainers != []",
            "object.spec == oldObject.spec && object != null && oldObject == null",
            "timestamp(object.metadata.creationTimestamp) < timestamp('2020-01-01T00:00:00Z')",
            "quantity(object.spec.containers[0].resources.limits.cpu).isLessThan(quantity('1'))",
            "object.spec.containers[0].ports[0].hostPort == 1 || object['spec'] != {}",
            "[object.metadata.name, 'a'].exists(n, n == request.name)",
            "object.spec.containers[0].livenessProbe.httpGet.port == 80",
        ] {
            check(expression, &[]);
        }
    }

    #[test]
    fn every_kind_counts() {
        check_for(
            "apps",
            "'*'",
            "object.spec.replicas < 5",
            &[
                (".spec", "Kind=ControllerRevision: undefined"),
                (".replicas", "Kind=DaemonSet: undefined"),
            ],
        );
        check_for(
            "apps",
            "deployments, statefulsets, replicasets",
            "object.spec.replicas < 5",
            &[],
        );
        check_for(
            "apps",
            "deployments/scale",
            "object.spec.replicas < 5 && object.spec.template != null",
            &[(".template", "autoscaling/v1, Kind=Scale: undefined")],
        );
        check_for("example.com", "gadgets", "object.spec.nonsense == 1", &[]);
    }

    #[test]
    fn kinds_are_told_apart() {
        for expression in [
            "object.kind == 'Pod' ? object.spec.hostNetwork : object.spec.template.spec.hostNetwork",
            "request.resource.resource == 'pods' || object.spec.template.spec.hostNetwork",
            "has(object.spec.template) ? object.spec.template.spec.hostNetwork : object.spec.hostNetwork",
            "object.spec.?template.?spec.?hostNetwork.orValue(true)",
            "object.kind in ['Deployment'] && has(object.spec.template.spec.hostNetwork)",
        ] {
            check_for("'', apps", "pods, deployments", expression, &[]);
        }
        check_for(
            "'', apps",
            "pods, deployments",
            "object.kind == 'Pod' ? object.spec.template.spec.hostIPC : true",
            &[(".template", "/v1, Kind=Pod: undefined")],
        );
    }

    #[test]
    fn variables_have_types() {
        let spec = "variables:
- {name: spec, expression: object.spec}
- {name: unused, expression: object.nonsense}
validations:
- {expression: variables.spec.hostNetwrk == true}
";
        find(
            &LINT,
            &policy("CREATE", spec),
            &[(".hostNetwrk", "undefined field")],
        );
    }

    #[test]
    fn mutations_are_checked() {
        let patch = mutation(
            "JSONPatch",
            "[JSONPatch{op: 'add', path: '/a', value: object.spec.replica}]",
        );
        find(
            &LINT,
            &patch,
            &[(".replica", "apps/v1, Kind=Deployment: undefined")],
        );
        let patch = mutation(
            "JSONPatch",
            "[JSONPatch{op: 'add', path: '/a', value: object.spec.replicas}]",
        );
        find(&LINT, &patch, &[]);
    }
}
