//! Mutations that fail for objects that a policy matches.
//!
//! # What
//!
//! A JSON patch or an apply configuration cannot be applied to an object of a kind that the policy matches: it adds a label
//! where there are no labels, names a field that does not exist, or gives a field a value of another type.
//!
//! The warning is only given for built-in kinds, for those whose definition is among the inputs, and for the metadata of others, and
//! only if the mutation failed for a generated object, after its match conditions and the mutations before it. Atomic fields have [a warning of their own](#atomic-field), errors of expressions
//! that of [their field](#unguarded-field).
//!
//! # Why
//!
//! The request is denied, or the object stays as it was if `failurePolicy` is `Ignore`. A result that is no object of its kind
//! is an internal error whatever the failure policy.
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
//!     resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
//!   mutations:
//!   - patchType: JSONPatch
//!     jsonPatch: {expression: "[JSONPatch{op: 'add', path: '/metadata/labels/team', value: 'a'}]"}
//! ```
//!
//! Add the labels first where there are none, or use an apply configuration, which creates what it sets.

use pratique_cel::ast::{Ast, Expr};
use pratique_sample::{CustomKinds, ExpressionId};

use super::type_check::kinds_text;
use crate::analysis::constant_key;
use crate::lint::{Lint, LintContext, PolicySubject};
use crate::lint_meta::LintMeta;
use crate::mutation_help::help_for;
use crate::report::{LintFinding, LintReport};
use crate::subject::ExpressionSite;
use crate::trials::{FailedExtent, PolicyTrials, TrialFailure};

/// The lint `failing-mutation`.
pub(crate) struct FailingMutation;

impl Lint for FailingMutation {
    const META: &'static LintMeta = &LintMeta {
        name: "failing-mutation",
        summary: "A JSON patch or an apply configuration cannot be applied to an object that the policy matches.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        if let Some(subject) = context.policy() {
            check_policy(subject, subject.trials(), &context.options.custom_kinds, report);
        }
    }
}

fn check_policy(
    subject: &PolicySubject<'_>,
    trials: &PolicyTrials,
    custom: &CustomKinds,
    report: &mut LintReport,
) {
    let policy = subject.policy;
    for (site, ast) in policy.sites.iter().zip(&subject.parsed().asts) {
        let ExpressionId::Mutation(index) = site.id else {
            continue;
        };
        let mut rows: Vec<(&str, &TrialFailure, Vec<_>)> = Vec::new();
        for kind in &trials.kinds {
            for ((mutation, text), failure) in &kind.failures {
                if *mutation != index || !is_own(site, text) {
                    continue;
                }
                let same = |known: &&mut (&str, &TrialFailure, Vec<_>)| {
                    known.0 == text && known.1.extent == failure.extent
                };
                match rows.iter_mut().find(same) {
                    Some(known) => known.2.push(kind.served.kind.clone()),
                    None => rows.push((text, failure, vec![kind.served.kind.clone()])),
                }
            }
        }
        for (text, failure, kinds) in rows {
            let outcome = if text.starts_with("Internal error") {
                "the request is denied"
            } else {
                policy.outcome_of_errors(site.usage)
            };
            let objects = match &failure.extent {
                FailedExtent::Every => "every object".to_owned(),
                FailedExtent::Some => "some objects".to_owned(),
                FailedExtent::Without(name) => {
                    format!(
                        "an object without {}",
                        find_missing_name(text).unwrap_or(name.as_str())
                    )
                }
            };
            let message = format!(
                "{}: the mutation fails for {objects}: {text}; {outcome}",
                kinds_text(&kinds)
            );
            let mut finding =
                LintFinding::new(FailingMutation::META, message).example(failure.example.clone());
            if let Some(parent) = find_emptied_parent(subject, index, text) {
                finding = finding.help(format!(
                    "a mutation before this one leaves {parent} empty, and the server leaves out what is empty before the next one: \
                     make both changes in one mutation"
                ));
            } else if let (Some(ast), Some(kind)) = (ast, kinds.first())
                && let Some(help) = help_for(policy.release, text, ast, (kind, custom.find(kind)))
            {
                finding = finding.help(help);
            }
            report.add(&policy.origin, &site.path, finding);
        }
    }
}

/// The path of what a mutation with an index adds to, where one before it makes that an empty list or map.
fn find_emptied_parent<'t>(subject: &PolicySubject<'_>, index: usize, text: &'t str) -> Option<&'t str> {
    let (_, path) = text.split_once("add operation does not apply: doc is missing path: \"")?;
    let (parent, _) = path.split_once('"')?.0.rsplit_once('/')?;
    let sites = subject.policy.sites.iter().zip(&subject.parsed().asts);
    let mut earlier = sites.filter_map(|(site, ast)| match site.id {
        ExpressionId::Mutation(at) if at < index => ast.as_ref(),
        _ => None,
    });
    earlier.any(|ast| empties(ast, parent)).then_some(parent)
}

/// Whether an operation of a patch sets a path to an empty list or map.
fn empties(ast: &Ast, path: &str) -> bool {
    ast.ids().any(|id| {
        let Expr::Struct { fields, .. } = ast.expr(id) else {
            return false;
        };
        let value = |name: &str| {
            fields
                .iter()
                .find(|field| &*field.name == name)
                .map(|field| field.value)
        };
        let is_at_path = value("path").is_some_and(|of| constant_key(ast, of) == Some(path));
        let is_empty = value("value").is_some_and(|of| match ast.expr(of) {
            Expr::List { elements, .. } => elements.is_empty(),
            Expr::Map(entries) => entries.is_empty(),
            _ => false,
        });
        is_at_path && is_empty
    })
}

/// The last name on the path that an object does not have: that of a list, rather than of its end.
fn find_missing_name(text: &str) -> Option<&str> {
    let (_, path) = text.split_once("doc is missing ")?;
    let (_, path) = path.split_once(": \"")?;
    let (path, _) = path.split_once('"')?;
    let (holder, last) = path.rsplit_once('/')?;
    // An operation adds the last one itself.
    let path = if text.contains("add operation") || last == "-" {
        holder
    } else {
        path
    };
    let mut names = path.rsplit('/');
    names.find(|name| !name.is_empty() && name.parse::<usize>().is_err())
}

/// Whether no other lint tells it, and no generated param is the reason.
fn is_own(site: &ExpressionSite<'_>, text: &str) -> bool {
    let is_atomic = text.contains("may not mutate atomic");
    !is_atomic && (!site.declarations.params || text.starts_with("JSON Patch: "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check as find, check_whole, load, mutation};

    #[track_caller]
    fn check(kind: &str, expression: &str, expected: &[(&str, &str)]) {
        let messages: Vec<&str> = expected.iter().map(|(_, message)| *message).collect();
        check_whole(
            FailingMutation::META,
            &mutation(kind, expression),
            expression,
            &messages,
        );
    }

    fn help(kind: &str, expression: &str) -> String {
        let set = load(&mutation(kind, expression));
        let mut warnings = crate::lint(&[&set]).into_iter();
        let warning = warnings
            .find(|warning| warning.lint == FailingMutation::META)
            .unwrap();
        assert!(warning.example.is_some());
        warning.help.map(|help| help.text).unwrap_or_default()
    }

    #[test]
    fn paths_of_other_languages() {
        let add = |path: &str| {
            help(
                "JSONPatch",
                &format!("[JSONPatch{{op: 'add', path: '{path}', value: 1}}]"),
            )
        };
        let slashes = |path: &str| format!("the names and indices of a path stand between slashes: {path}");
        assert_eq!(add("$.spec.replicas"), slashes("/spec/replicas"));
        assert_eq!(add("/spec.replicas"), slashes("/spec/replicas"));
        assert_eq!(
            add("/spec/template/spec/containers[0]/stdin"),
            slashes("/spec/template/spec/containers/0/stdin")
        );
    }

    #[test]
    fn parents_that_may_be_missing() {
        let path = "/spec/template/spec/containers/0/securityContext/runAsNonRoot";
        assert!(
            help(
                "JSONPatch",
                &format!("[JSONPatch{{op: 'add', path: '{path}', value: true}}]")
            )
            .starts_with(
                "add the parent first: (has(object.spec.template.spec.containers[0].securityContext) ? []"
            )
        );
        check(
            "JSONPatch",
            "[JSONPatch{op: 'add', path: '/spec/template/spec/tolerations/-', value: \
             Object.spec.template.spec.tolerations{operator: 'Exists'}}]",
            &[("", "the mutation fails for an object without tolerations: ")],
        );
        // An object without another field lacks this one as well.
        check(
            "JSONPatch",
            "[JSONPatch{op: 'remove', path: '/spec/template/spec/volumes'}]",
            &[("", "the mutation fails for an object without volumes: ")],
        );
    }

    #[test]
    fn what_is_empty_is_left_out() {
        let first = "[JSONPatch{op: 'add', path: '/spec/template/spec/imagePullSecrets', value: []}]";
        let second = "[JSONPatch{op: 'add', path: '/spec/template/spec/imagePullSecrets/-', value: \
                      Object.spec.template.spec.imagePullSecrets{name: 'a'}}]";
        let help = |first: &str| {
            let both = format!("- patchType: JSONPatch\n    jsonPatch: {{expression: \"{second}\"}}\n---");
            let manifests = mutation("JSONPatch", first).replacen("---", &format!("  {both}"), 1);
            let set = load(&manifests);
            let warnings = crate::lint(&[&set]);
            let mut own = warnings
                .into_iter()
                .filter(|warning| warning.lint == FailingMutation::META);
            own.find_map(|warning| warning.help).unwrap().text
        };
        assert!(
            help(first)
                .starts_with("a mutation before this one leaves /spec/template/spec/imagePullSecrets empty"),
            "{}",
            help(first)
        );
        assert!(
            help("[JSONPatch{op: 'add', path: '/spec/replicas', value: 1}]")
                .starts_with("add the parent first")
        );
    }

    #[test]
    fn null_is_no_value() {
        for null in [
            "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{nodeName: null}}}}",
            "Object{metadata: Object.metadata{labels: {'a': null}}}",
        ] {
            assert!(
                help("ApplyConfiguration", null).starts_with("null removes nothing"),
                "{null}"
            );
        }
    }

    #[test]
    fn patches_that_fail() {
        check(
            "JSONPatch",
            "[JSONPatch{op: 'add', path: '/metadata/labels/team', value: 'a'}]",
            &[(
                "",
                "for an object without labels: JSON Patch: add operation does not apply: doc is missing path",
            )],
        );
        check(
            "JSONPatch",
            "[JSONPatch{op: 'ad', path: '/spec/replicas', value: 1}]",
            &[(
                "",
                "for every object: JSON Patch: Unexpected kind: ad; the request is denied",
            )],
        );
        check(
            "JSONPatch",
            "[JSONPatch{op: 'add', path: '/spec/replica', value: 3}]",
            &[(
                "",
                "for every object: Internal error occurred: strict decoding error: unknown field \"spec.replica\"",
            )],
        );
        check(
            "ApplyConfiguration",
            "Object{spec: Object.spec{replicas: '3'}}",
            &[("", "expected numeric (int or float), got string")],
        );
    }

    /// Behind match conditions the server reads objects in another form, of which lists are no values of a configuration.
    #[test]
    fn lists_behind_conditions() {
        let expression = "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: \
             object.spec.template.spec.containers.filter(c, c.name != 'sidecar')}}}}";
        let policy = mutation("ApplyConfiguration", expression);
        find(FailingMutation::META, &policy, &[]);
        let text = "for some objects: error applying patch: failed to convert patch object to typed object: \
             .spec.template.spec.containers: element 0: associative list with keys may not have non-map elements";
        for condition in ["has(object.spec.template)", "object.metadata.name == 'a'"] {
            let conditions =
                format!("  matchConditions: [{{name: c, expression: \"{condition}\"}}]\n  mutations:");
            let policy = policy.replace("  mutations:", &conditions);
            check_whole(FailingMutation::META, &policy, expression, &[text]);
        }
    }

    #[test]
    fn metadata_of_what_has_no_definition() {
        let find_of_widgets = |expression: &str, expected: &[&str]| {
            let policy = mutation("JSONPatch", expression)
                .replace("apiGroups: [apps]", "apiGroups: [example.com]")
                .replace("resources: [deployments]", "resources: [widgets]");
            check_whole(FailingMutation::META, &policy, expression, expected);
        };
        find_of_widgets(
            "[JSONPatch{op: 'add', path: '/metadata/labels/team', value: 'a'}]",
            &["the mutation fails for an object without labels"],
        );
        find_of_widgets(
            "[JSONPatch{op: 'add', path: '/metadata/labels', value: {'team': 'a'}}]",
            &[],
        );
        // Nothing is known of its other fields.
        find_of_widgets("[JSONPatch{op: 'add', path: '/spec/a/b', value: 'a'}]", &[]);
        find_of_widgets("[JSONPatch{op: 'remove', path: '/spec/a'}]", &[]);
    }

    #[test]
    fn what_to_write() {
        for (kind, expression, expected) in [
            (
                "JSONPatch",
                "[JSONPatch{op: 'add', path: '/metadata/labels/team', value: 'a'}]",
                "/metadata/labels",
            ),
            (
                "JSONPatch",
                "[JSONPatch{op: 'add', path: '/metadata/labels/a.b/c', value: 'a'}]",
                "jsonpatch.escapeKey('a.b/c')",
            ),
            (
                "JSONPatch",
                "[JSONPatch{op: 'ad', path: '/spec/replicas', value: 1}]",
                "add, remove, replace",
            ),
            (
                "JSONPatch",
                "[JSONPatch{op: 'add', path: '/spec/replica', value: 3}]",
                "did you mean \"replicas\"?",
            ),
            (
                "JSONPatch",
                "[JSONPatch{op: 'add', path: 'spec/replicas', value: 3}]",
                "begins with a slash",
            ),
            (
                "JSONPatch",
                "[JSONPatch{op: 'add', path: '/spec/replicas', value: '3'}]",
                "a number",
            ),
            (
                "JSONPatch",
                "[JSONPatch{op: 'remove', path: '/spec/paused'}]",
                "has(object.spec.paused)",
            ),
            (
                "JSONPatch",
                "[JSONPatch{op: 'add', path: '/spec/replicas', value: quantity('1')}]",
                "a quantity is written as a text",
            ),
            (
                "ApplyConfiguration",
                "Object{spec: Object.spec{replicas: '3'}}",
                "a number",
            ),
            (
                "ApplyConfiguration",
                "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers.item{name: 'a'}]}}}}",
                "Object.spec.template.spec.containers{…}",
            ),
            (
                "ApplyConfiguration",
                "Object{spec: Object.spec{replica: 3}}",
                "did you mean \"replicas\"?",
            ),
            (
                "ApplyConfiguration",
                "Object{spec: Object.spec{replicas: null}}",
                "null removes nothing",
            ),
        ] {
            let help = help(kind, expression);
            assert!(help.contains(expected), "{expression}: {help}");
        }
    }

    #[test]
    fn patches_that_work() {
        for expression in [
            "(has(object.metadata.labels) ? [] : [JSONPatch{op: 'add', path: '/metadata/labels', value: {}}]) + \
             [JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a.b/c'), value: 'a'}]",
            "has(object.spec.paused) ? [JSONPatch{op: 'remove', path: '/spec/paused'}] : []",
            "[JSONPatch{op: 'test', path: '/spec/paused', value: true}, JSONPatch{op: 'remove', path: '/spec/paused'}]",
            "[JSONPatch{op: 'replace', path: '/spec/replicas', value: 3}]",
            "[JSONPatch{op: 'add', path: '/spec/template/spec/nodeSelector', value: {'a': 'b'}}]",
        ] {
            check("JSONPatch", expression, &[]);
        }
        for expression in [
            "Object{metadata: Object.metadata{labels: {'a': 'b'}}, spec: Object.spec{replicas: 3}}",
            // Another lint tells that.
            "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{tolerations: []}}}}",
        ] {
            check("ApplyConfiguration", expression, &[]);
        }
    }
}
