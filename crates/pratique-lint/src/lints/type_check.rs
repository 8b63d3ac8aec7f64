//! Expressions that do not match the types of the kinds that they are evaluated for.
//!
//! # What
//!
//! An expression does not fit the schema of a built-in kind that the policy matches: a field that the kind does not
//! have, or a comparison of different types. All built-in kinds are checked, also those matched by wildcards, and
//! subresources, variables, conditions and mutations. Fields have the types that they have in requests: times,
//! quantities and bytes are strings.
//!
//! The expressions are evaluated over generated objects of the kind, so that a guard is recognised however it is
//! written: `object.kind == 'Pod' ? …`, `['Deployment', 'Job'].all(k, object.kind != k) || …`, a variable, a match
//! condition. Code that no such object reaches gives no warning. The message says what the evaluations showed:
//!
//! | message ends with | meaning |
//! |---|---|
//! | it fails for every object | every evaluation for the kind ended with this error |
//! | it fails where it is evaluated | all evaluations that reached it did |
//! | no object has it | `has(…)` of it is always false, `.?` always empty: `has(c.securityContext.Privileged)` |
//! | they are never equal | `==` of different types: a label and `true` |
//!
//! If a message begins with "the API server's status.typeChecking would warn, though it evaluates", only the API's own
//! type checker rejects the expression, such as a list compared with `null`, or `c ? object.spec.x : {}`: it compares
//! declared types, and checks validations for up to ten kinds that rules name. Requests are evaluated as intended.
//!
//! # Why
//!
//! The server takes the policy. An expression that fails denies every request, or allows it if `failurePolicy` is
//! `Ignore`; a test of a field that no object has tests nothing.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicy
//! metadata: {name: host}
//! spec:
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
//!   validations: [{expression: object.spec.hostNetwrk == false}]
//! ```
//!
//! Pods have no field `hostNetwrk`.

use std::collections::{BTreeMap, BTreeSet};

use pratique_cel::ast::{Ast, Expr, ExprId};
use pratique_cel::{Issue, Position};
use pratique_expression::{ExpressionPurpose, token_at};
use pratique_manifest::help_for_issue;
use pratique_types::GroupVersionKind;
use pratique_types::builtin::ServedResource;

use super::moved_field::help_for_moved;
use super::quantity_as_text::help_for_quantity;
use crate::analysis::{FoldedExpression, ParsedExpressions, RequestFacts, live_nodes};
use crate::lint::{Lint, LintContext, PolicySubject};
use crate::lint_meta::LintMeta;
use crate::observations::{FailureExtent, KindObservations, NO_KEY, PolicyObservations};
use crate::report::{LintFinding, LintReport, SuggestedChange, listed};
use crate::subject::PolicyView;
use crate::typing::{MatchedKinds, TypedSite, type_of, type_sites_as_api, type_stored_sites};

/// The lint `type-check`.
pub(crate) struct TypeCheck;

impl Lint for TypeCheck {
    const META: &'static LintMeta = &LintMeta {
        name: "type-check",
        summary: "An expression does not fit the schema of a built-in kind that the policy matches.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        if let Some(subject) = context.evaluated() {
            check_policy(subject, report);
        }
    }
}

/// A type error, and the kinds for which it occurs.
struct TypeError {
    issue: Issue,
    kinds: Vec<GroupVersionKind>,
}

/// The effect of a type error when the expression is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ErrorEffect {
    /// The expression fails.
    Fails(FailureExtent),
    /// It tests for a field that never exists.
    NeverThere,
    /// It compares values that are never equal.
    NeverEqual,
    /// None: only the API server's type checker reports it.
    Unnoticed,
}

fn check_policy(subject: &PolicySubject<'_>, report: &mut LintReport) {
    let policy = subject.policy;
    let (parsed, kinds, observations) = (subject.parsed(), subject.kinds(), subject.observations());
    let mut errors: BTreeMap<(usize, String, ErrorEffect), TypeError> = BTreeMap::new();
    for served in &kinds.builtin {
        for (index, issue, effect) in issues(policy, parsed, kinds, served, observations) {
            // A repeated error is reported once, at its first position.
            let key = (index, issue.message.clone(), effect);
            let first = errors.entry(key).or_insert_with(|| TypeError {
                issue: issue.clone(),
                kinds: Vec::new(),
            });
            if issue.position < first.issue.position {
                first.issue = issue;
            }
            if !first.kinds.contains(&served.kind) {
                first.kinds.push(served.kind.clone());
            }
        }
    }
    for ((index, _, effect), error) in errors {
        let Some(site) = policy.sites.get(index) else {
            continue;
        };
        let place = token_at(site.text, error.issue.position.byte_offset(site.text));
        let mut finding = LintFinding::new(TypeCheck::META, message(&error, effect));
        // What evaluates needs no other form; the name may still be a wrong one.
        let is_helped = effect != ErrorEffect::Unnoticed || error.issue.meant.is_some();
        let help = help_for_issue(&error.issue, site.text, site.declarations, site.usage);
        let of_quantity = help_for_quantity(&parsed.asts, index, &error.issue);
        if let Some(help) = help_for_moved(subject, &error.kinds, &error.issue.message) {
            finding = finding.help(help);
        } else if let Some(help) = of_quantity {
            finding = finding.help(help);
        } else if let Some(help) = help.filter(|_| is_helped) {
            finding = finding.help(help.text);
            if let Some((range, word)) = help.replacement {
                finding = finding.replacement(SuggestedChange::Within(range, word));
            }
        }
        report.add_in(&policy.origin, &site.path, place, finding);
    }
}

fn message(error: &TypeError, effect: ErrorEffect) -> String {
    let (kinds, issue) = (kinds_text(&error.kinds), &error.issue.message);
    match effect {
        ErrorEffect::Fails(FailureExtent::Every) => format!("{kinds}: {issue}: it fails for every object"),
        ErrorEffect::Fails(FailureExtent::Some) => {
            format!("{kinds}: {issue}: it fails where it is evaluated")
        }
        ErrorEffect::NeverThere => format!("{kinds}: {issue}: no object has it"),
        ErrorEffect::NeverEqual => format!("{kinds}: {issue}: they are never equal"),
        ErrorEffect::Unnoticed => {
            format!("{kinds}: the API server's status.typeChecking would warn, though it evaluates: {issue}")
        }
    }
}

/// One kind in full, several in brief.
pub(super) fn kinds_text(kinds: &[GroupVersionKind]) -> String {
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

/// The type errors for a kind, with the expressions that they are in, and their effects.
fn issues(
    policy: &PolicyView<'_>,
    parsed: &ParsedExpressions,
    kinds: &MatchedKinds,
    served: &ServedResource,
    observations: &PolicyObservations,
) -> Vec<(usize, Issue, ErrorEffect)> {
    let (Some(object), Some(observations)) = (
        type_of(policy.release, &served.kind),
        observations.of_kind(served),
    ) else {
        return Vec::new();
    };
    let presence = |path: &[String]| match path {
        [root, fields @ ..] if is_object(root) => kinds.distinguishes(&served.kind, fields),
        _ => None,
    };
    let facts = RequestFacts {
        served: Some(served),
        presence: Some(&presence),
        ..RequestFacts::default()
    };
    let Some(folded_policy) = parsed.fold(&policy.sites, &facts) else {
        return Vec::new();
    };
    let mut type_errors = Vec::new();
    let mut as_api: Option<Vec<TypedSite>> = None;
    for (index, typed) in type_stored_sites(policy.release, &policy.sites, parsed, &object)
        .into_iter()
        .enumerate()
    {
        let (Err(issues), Some(Some(ast)), Some(folded), Some(true)) = (
            typed.checked,
            parsed.asts.get(index),
            folded_policy.folded.get(index),
            folded_policy.active.get(index),
        ) else {
            continue;
        };
        let silent = silent_places(ast, folded, kinds, &served.kind);
        let counts = |issue: &Issue| {
            !silent.contains(&issue.position)
                && !issue.message.is_empty()
                && !fits_at_run_time(&issue.message)
        };
        for issue in issues.into_iter().filter(counts) {
            let effect = effect(ast, index, &issue, observations);
            let is_reported = match effect {
                Some(ErrorEffect::Unnoticed) => {
                    is_checked_by_api(policy, index, served) && {
                        let typed = as_api.get_or_insert_with(|| {
                            type_sites_as_api(policy.release, &policy.sites, parsed, &object)
                        });
                        has_fault_at(typed, index, &issue)
                    }
                }
                Some(_) => true,
                None => false,
            };
            if let Some(effect) = effect.filter(|_| is_reported) {
                type_errors.push((index, issue, effect));
            }
        }
    }
    type_errors
}

/// The effect of a type error for objects of a kind; `None` if the node is not evaluated, or cannot affect the result.
fn effect(ast: &Ast, index: usize, issue: &Issue, observations: &KindObservations) -> Option<ErrorEffect> {
    let undefined = issue
        .message
        .strip_prefix("undefined field '")
        .and_then(|rest| rest.strip_suffix('\''));
    let is_cause = |text: &str| match undefined {
        Some(field) => text.strip_prefix(NO_KEY) == Some(field),
        // A missing field or key is another fault.
        None => !text.starts_with(NO_KEY),
    };
    let mut has_value = false;
    for node in ast
        .ids()
        .filter(|id| ast.source.position(ast.node(*id).offset) == issue.position)
    {
        let (node, outcomes) = observations.outcomes(ast, index, node);
        if outcomes.errors.keys().any(|text| is_cause(text))
            && let Some(extent) = observations.fails(index, node)
        {
            return Some(ErrorEffect::Fails(extent));
        }
        has_value |= outcomes.values > 0;
    }
    match undefined {
        _ if !has_value => None,
        Some(_) => Some(ErrorEffect::NeverThere),
        None if is_comparison_of_scalars(&issue.message) => Some(ErrorEffect::NeverEqual),
        None => Some(ErrorEffect::Unnoticed),
    }
}

/// Whether a fault is that scalars of different types are compared.
fn is_comparison_of_scalars(message: &str) -> bool {
    const SCALARS: [&str; 6] = ["bool", "int", "uint", "double", "string", "bytes"];
    let operands = ["_==_", "_!=_"].iter().find_map(|operator| {
        let rest = message.strip_prefix("found no matching overload for '")?;
        rest.strip_prefix(operator)?
            .strip_prefix("' applied to '(")?
            .strip_suffix(")'")
    });
    operands.is_some_and(|operands| operands.split(", ").all(|name| SCALARS.contains(&name)))
}

/// Whether an expression has a fault at the place of another one.
fn has_fault_at(typed: &[TypedSite], index: usize, other: &Issue) -> bool {
    let issues = typed.get(index).and_then(|typed| typed.checked.as_ref().err());
    issues.is_some_and(|issues| issues.iter().any(|issue| issue.position == other.position))
}

/// Whether the API's type checker looks at an expression for a kind: at validations and their messages, for resources
/// that rules name.
fn is_checked_by_api(policy: &PolicyView<'_>, index: usize, served: &ServedResource) -> bool {
    let usage = policy.sites.get(index).map(|site| site.usage);
    let is_looked_at = matches!(
        usage,
        Some(ExpressionPurpose::Validation | ExpressionPurpose::Message)
    );
    let names = |list: &[String], name: &str| list.iter().any(|item| item == name);
    let named = policy.rules.iter().any(|rule| {
        names(rule.groups, &served.resource.group)
            && names(rule.versions, &served.resource.version)
            && names(rule.resources, &served.resource.resource)
    });
    is_looked_at && named && served.subresource.is_empty()
}

fn is_object(name: &str) -> bool {
    matches!(name, "object" | "oldObject")
}

/// The places whose errors are ignored: nodes that are not evaluated for the kind, and presence tests of fields that
/// other kinds have.
fn silent_places(
    ast: &Ast,
    folded: &FoldedExpression,
    kinds: &MatchedKinds,
    kind: &GroupVersionKind,
) -> BTreeSet<Position> {
    let position = |id: ExprId| ast.source.position(ast.node(id).offset);
    let live = live_nodes(ast, folded);
    let tests_presence = |id: &&ExprId| match (ast.expr(**id), folded.path(**id)) {
        (Expr::Select { test_only: true, .. }, Some([root, fields @ ..])) if is_object(root) => {
            kinds.distinguishes(kind, fields) == Some(false)
        }
        (Expr::Call { function, .. }, Some([root, fields @ ..])) if is_object(root) => {
            &**function == "_?._" && kinds.distinguishes(kind, fields) == Some(false)
        }
        _ => false,
    };
    let presence_tests: Vec<Position> = live
        .iter()
        .filter(tests_presence)
        .map(|id| position(*id))
        .collect();
    let live: BTreeSet<Position> = live.into_iter().map(position).collect();
    let all = ast.ids().map(position);
    all.filter(|position| !live.contains(position))
        .chain(presence_tests)
        .collect()
}

/// Whether a mismatch of declared types is valid at run time, where all structured values are maps.
fn fits_at_run_time(message: &str) -> bool {
    let is_struct = |name: &str| name.contains('/');
    if let Some(types) = message.strip_prefix("expected type '") {
        let Some((wanted, actual)) = types.split_once("' but found '") else {
            return false;
        };
        let dynamic = |name: &str| name.trim_end_matches('\'') == "dyn";
        return dynamic(wanted) || dynamic(actual) || (is_struct(wanted) && is_struct(actual));
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
        "_+_" | "_==_" | "_!=_" | "_?_:_" => {
            operands.split(", ").filter(|operand| is_struct(operand)).count() >= 2
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check as find, first_help, mutation, policy, policy_for, webhook};

    #[track_caller]
    fn check(expression: &str, expected: &[(&str, &str)]) {
        let spec = format!("validations:\n- expression: >-\n    {expression}\n");
        find(TypeCheck::META, &policy("CREATE", &spec), expected);
    }

    #[track_caller]
    fn check_for(groups: &str, resources: &str, expression: &str, expected: &[(&str, &str)]) {
        let spec = format!("validations:\n- expression: >-\n    {expression}\n");
        find(
            TypeCheck::META,
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
            "object.spec.?hostNetwrk.orValue(false) == true",
            &[(".?hostNetwrk", "undefined field 'hostNetwrk'")],
        );
    }

    #[test]
    fn conditions_of_webhooks() {
        let of = |condition: &str, expected: &[(&str, &str)]| {
            find(
                TypeCheck::META,
                &webhook("Validating", "pods", "CREATE", condition),
                expected,
            );
        };
        of(
            "object.spec.nodname == 'x'",
            &[(".nodname", "undefined field 'nodname'")],
        );
        of("object.metadata.name > 3", &[(">", "found no matching overload")]);
        of("object.metadata.name == 'x'", &[]);
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

    /// The server takes another message without a word, once a validation fails.
    #[test]
    fn messages_of_quantities() {
        let spec = "variables: [{name: q, expression: \"quantity(object.spec.containers[0].?resources.?requests[?'memory'].orValue('1Mi'))\"}]
validations: [{expression: \"variables.q.isLessThan(quantity('1Gi'))\", messageExpression: \"'asked ' + string(variables.q)\"}]
";
        let text = "found no matching overload for 'string' applied to '(kubernetes.Quantity)': it fails for every object";
        find(
            TypeCheck::META,
            &policy("CREATE", spec),
            &[("(variables.q)", text)],
        );
        let spec = spec.replace("string(variables.q)", "string(variables.q.asApproximateFloat())");
        find(TypeCheck::META, &policy("CREATE", &spec), &[]);
    }

    #[track_caller]
    fn check_help(expression: &str, expected: &str) {
        let help = first_help(TypeCheck::META, expression);
        assert!(
            help.starts_with(expected) && help.is_empty() == expected.is_empty(),
            "{help}"
        );
    }

    #[test]
    fn faults_have_help() {
        check_help("object.spec.hostNetwrk == true", "did you mean \"hostNetwork\"?");
        check_help("'a' + object.spec.priority == 'a1'", "only texts are added");
        check_help("int(object.spec.containers) > 1", "the number of its elements");
        let time = "object.metadata.creationTimestamp < timestamp('2025-01-01T00:00:00Z')";
        check_help(time, "make the other side one as well: timestamp");
        // It evaluates: only the server's own check finds fault with it.
        check_help(
            "!has(object.spec.initContainers) || object.spec.initContainers != null",
            "",
        );
    }

    #[test]
    fn what_faults_come_to() {
        check(
            "object.spec.containers.all(c, !has(c.securityContext) || !has(c.securityContext.Privileged))",
            &[(
                "(c.securityContext.Privileged)",
                "undefined field 'Privileged': no object has it",
            )],
        );
        check(
            "!has(object.metadata.labels) || !has(object.metadata.labels.safe) || object.metadata.labels.safe == true",
            &[("==", "applied to '(string, bool)': they are never equal")],
        );
        check(
            "!has(object.spec.initContainers) || object.spec.initContainers.all(c, c.imag != '')",
            &[(".imag", "undefined field 'imag': it fails where it is evaluated")],
        );
        check(
            "object.metadata.name > 3",
            &[(">", "'(string, int)': it fails for every object")],
        );
        check_for(
            "batch",
            "cronjobs",
            "object.spec.jobTemplate.spec.template.spec.containers.orValue([]).all(c, c.name != '')",
            &[(
                "([])",
                "orValue' applied to 'list(core/v1.Container).(list(dyn))': it fails for every object",
            )],
        );
        // What decides is another operand.
        check("object.spec.hostNetwrk == true || true", &[]);
    }

    #[test]
    fn what_only_the_api_finds_fault_with() {
        let api = "/v1, Kind=Pod: the API server's status.typeChecking would warn, though it evaluates: found no matching";
        check(
            "!has(object.spec.initContainers) || object.spec.initContainers != null",
            &[("!=", api)],
        );
        check(
            "(has(object.spec.securityContext) ? object.spec.securityContext : {}) != {'a': 1}",
            &[("?", api)],
        );
        check(
            "object.spec.?securityContext.orValue({}).?runAsNonRoot.orValue(false) == true",
            &[("({})", "typeChecking")],
        );
        check(
            "object.spec.?initContainers.orValue([]).all(c, c.name != '')",
            &[],
        );
        // It looks at validations, for resources that rules name.
        let condition = "matchConditions: [{name: c, expression: object.spec.containers != null}]
variables: [{name: v, expression: object.spec.containers != null}]
validations: [{expression: variables.v}]";
        find(TypeCheck::META, &policy("CREATE", condition), &[]);
        // It takes variables for `dyn` where they are structs.
        let variable = "variables: [{name: v, expression: \"object.spec.?securityContext\"}]
validations: [{expression: \"variables.v.orValue({}) != {'a': 1}\"}]";
        find(TypeCheck::META, &policy("CREATE", variable), &[]);
        check_for(
            "''",
            "'*'",
            "!has(object.spec) || !has(object.spec.containers) || object.spec.containers != null",
            &[],
        );
    }

    #[test]
    fn guards_over_kinds() {
        let pod = "object.spec.containers.all(c, c.name != '')";
        let others = "object.spec.template.spec.containers.all(c, c.name != '')";
        for (guard, of) in [
            ("['Deployment', 'DaemonSet'].all(k, object.kind != k) ||", others),
            (
                "!(['Deployment', 'DaemonSet'].exists(k, object.kind == k)) ||",
                others,
            ),
            ("!(object.kind in ['Deployment', 'DaemonSet']) ||", others),
            ("object.kind != 'Pod' ||", pod),
            ("request.kind.kind != 'Pod' ||", pod),
            ("size(['Pod'].filter(k, k == object.kind)) == 0 ||", pod),
            ("object.apiVersion.startsWith('apps/') ||", pod),
        ] {
            check_for(
                "'', apps",
                "pods, deployments, daemonsets",
                &format!("{guard} {of}"),
                &[],
            );
            let turned = format!("!({}) ||", guard.trim_end_matches(" ||"));
            let spec = format!("validations:\n- expression: >-\n    {turned} {of}\n");
            let manifests = policy_for("'', apps", "v1", "pods, deployments, daemonsets", "CREATE", &spec);
            let set = crate::lints::testing::load(&manifests);
            let found = crate::lint(&[&set]);
            assert!(
                found.iter().any(|warning| warning.lint == TypeCheck::META),
                "{turned} {of}"
            );
        }
        let spec = format!(
            "variables:
- {{name: kinds, expression: \"['Deployment', 'DaemonSet']\"}}
- {{name: isWorkload, expression: \"variables.kinds.exists(k, k == object.kind)\"}}
- {{name: spec, expression: \"variables.isWorkload ? object.spec.template.spec : object.spec\"}}
validations:
- {{expression: \"variables.spec.containers.all(c, c.name != '')\"}}
- {{expression: \"!variables.isWorkload || {others}\"}}
"
        );
        let policy = policy_for("'', apps", "v1", "pods, deployments, daemonsets", "CREATE", &spec);
        find(TypeCheck::META, &policy, &[]);
    }

    #[test]
    fn repeated_errors_are_reported_once() {
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
    fn kinds_are_distinguished() {
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
            "object.kind == 'Pod' ? object.spec.template.spec.hostIPC == true : true",
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
            TypeCheck::META,
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
            TypeCheck::META,
            &patch,
            &[(".replica", "apps/v1, Kind=Deployment: undefined")],
        );
        let patch = mutation(
            "JSONPatch",
            "[JSONPatch{op: 'add', path: '/a', value: object.spec.replicas}]",
        );
        find(TypeCheck::META, &patch, &[]);
    }
}
