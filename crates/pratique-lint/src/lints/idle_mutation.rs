//! Mutations that change nothing of any object.
//!
//! # What
//!
//! An apply configuration sets no field, or only fields to the value that the object has in them; the operations of a JSON
//! patch only test; or all that a policy sets is set back by the server, such as the status of an object that is created, or the
//! label with the name of a namespace.
//!
//! # Why
//!
//! The policy runs for every request that it matches and costs what it costs, and its author believes that it has an effect.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: MutatingAdmissionPolicy
//! metadata: {name: few}
//! spec:
//!   reinvocationPolicy: Never
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE]}]
//!   mutations:
//!   - patchType: ApplyConfiguration
//!     applyConfiguration: {expression: "Object{spec: Object.spec{replicas: object.spec.replicas}}"}
//! ```
//!
//! Set a field to another value, match the subresource `status` for fields of the status, or remove the policy.

use pratique_cel::ast::{Ast, Expr, ExprId};
use pratique_expression::ExpressionPurpose;
use pratique_sample::ServerFinding;

use crate::analysis::constant_key;
use crate::lint::{Lint, LintContext, PolicySubject};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport};

/// The lint `idle-mutation`.
pub(crate) struct IdleMutation;

impl Lint for IdleMutation {
    const META: &'static LintMeta = &LintMeta {
        name: "idle-mutation",
        summary: "A mutation changes nothing of any object: it sets no field, or only what the object has already.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        let Some(subject) = context.policy() else { return };
        let policy = subject.policy;
        for (site, ast) in policy.sites.iter().zip(&subject.parsed().asts) {
            let Some(ast) = ast else { continue };
            let reason = match site.usage {
                ExpressionPurpose::ApplyConfiguration if sets_nothing(ast, ast.root, &[]) => {
                    "the configuration sets no field to another value"
                }
                ExpressionPurpose::JsonPatch if patches_nothing(ast, ast.root) => {
                    "no operation sets or removes anything"
                }
                _ => continue,
            };
            let message = format!("the mutation changes nothing of any object: {reason}");
            let finding = LintFinding::new(Self::META, message)
                .help("set a field to another value than the object has, or remove the policy");
            report.add(&policy.origin, &site.path, finding);
        }
        report_dropped(subject, report);
    }
}

/// Reports policies of whose changes the server stores nothing.
fn report_dropped(subject: &PolicySubject<'_>, report: &mut LintReport) {
    let policy = subject.policy;
    let Some(site) = policy.first_mutation() else {
        return;
    };
    // A policy has an effect on a kind if a server stores what it does to one object, in one operation.
    for kind in subject.trials().kinds.iter().filter(|kind| !kind.is_stored) {
        let dropped = kind.reviewed.iter().find_map(|(finding, result)| match finding {
            ServerFinding::Dropped { field } => Some((field, &result.example)),
            _ => None,
        });
        let Some((field, example)) = dropped else { continue };
        let message = format!(
            "{}: the server sets {field} back before it stores the object: the policy has no effect",
            kind.served.kind
        );
        let finding = LintFinding::new(IdleMutation::META, message)
            .help("match the subresource in whose requests the field is set, such as status, or change another field")
            .example(example.clone());
        report.add(&policy.origin, &site.path, finding);
    }
}

/// Whether a value of an apply configuration sets nothing at a path of fields, whatever the object is. What should remove
/// something and does not is told by `idle-removal`.
fn sets_nothing(ast: &Ast, value: ExprId, path: &[&str]) -> bool {
    match ast.expr(value) {
        // An empty object is set where there is none, and every object has these.
        Expr::Struct { fields, .. } if fields.is_empty() => matches!(path, [] | ["spec" | "metadata"]),
        Expr::Struct { fields, .. } => fields.iter().all(|field| {
            let mut within = path.to_vec();
            within.push(&field.name);
            !field.optional && sets_nothing(ast, field.value, &within)
        }),
        Expr::Call { function, args, .. } => match (&**function, args.as_slice()) {
            ("_?_:_", [_, yes, no]) => [*yes, *no]
                .into_iter()
                .all(|branch| sets_nothing(ast, branch, path)),
            _ => false,
        },
        Expr::Select { .. } => !path.is_empty() && read_path(ast, value).is_some_and(|read| read == path),
        _ => false,
    }
}

/// Whether a list of operations leaves every object as it is.
fn patches_nothing(ast: &Ast, value: ExprId) -> bool {
    match ast.expr(value) {
        Expr::List { elements, .. } => elements.iter().all(|element| patches_nothing(ast, *element)),
        Expr::Call { function, args, .. } => match (&**function, args.as_slice()) {
            ("_?_:_", [_, yes, no]) => patches_nothing(ast, *yes) && patches_nothing(ast, *no),
            ("_+_", [one, other]) => patches_nothing(ast, *one) && patches_nothing(ast, *other),
            _ => false,
        },
        Expr::Struct { fields, .. } => {
            let field = |name: &str| {
                fields
                    .iter()
                    .find(|field| &*field.name == name)
                    .map(|field| field.value)
            };
            let text = |name: &str| field(name).and_then(|value| constant_key(ast, value));
            match text("op") {
                Some("test") => true,
                Some("add" | "replace") => {
                    let same = text("path").zip(field("value").and_then(|value| read_path(ast, value)));
                    same.is_some_and(|(pointer, read)| {
                        pointer
                            .strip_prefix('/')
                            .is_some_and(|path| path.split('/').eq(read))
                    })
                }
                _ => false,
            }
        }
        _ => false,
    }
}

/// The fields of `object` that a chain of fields reads.
fn read_path(ast: &Ast, value: ExprId) -> Option<Vec<&str>> {
    let mut fields = Vec::new();
    let mut at = value;
    loop {
        match ast.expr(at) {
            Expr::Select {
                operand,
                field,
                test_only: false,
                ..
            } => {
                fields.push(&**field);
                at = *operand;
            }
            Expr::Ident(name) if &**name == "object" && !fields.is_empty() => {
                fields.reverse();
                return Some(fields);
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::lints::testing::{check as find, check_whole, load, mutation};
    use crate::{CustomKinds, LintOptions, lint_with};

    #[track_caller]
    fn check(kind: &str, expression: &str, expected: &[&str]) {
        check_whole(
            IdleMutation::META,
            &mutation(kind, expression),
            expression,
            expected,
        );
    }

    #[test]
    fn what_changes_nothing() {
        for expression in [
            "Object{}",
            "Object{spec: Object.spec{}}",
            "Object{spec: Object.spec{replicas: object.spec.replicas}}",
            "object.spec.replicas > 3 ? Object{} : Object{spec: Object.spec{paused: object.spec.paused}}",
        ] {
            check(
                "ApplyConfiguration",
                expression,
                &["changes nothing of any object"],
            );
        }
        for expression in [
            "[JSONPatch{op: 'test', path: '/spec/replicas', value: 3}]",
            "[JSONPatch{op: 'replace', path: '/spec/replicas', value: object.spec.replicas}]",
        ] {
            check(
                "JSONPatch",
                expression,
                &["no operation sets or removes anything"],
            );
        }
    }

    #[test]
    fn what_a_server_sets_back() {
        check(
            "JSONPatch",
            "[JSONPatch{op: 'add', path: '/status/observedGeneration', value: 3}]",
            &["the server sets status.observedGeneration back before it stores the object"],
        );
    }

    #[test]
    fn what_defaults_set_back() {
        let find_of_namespaces = |labels: &str, expected: &[&str]| {
            let expression = format!("Object{{metadata: Object.metadata{{labels: {labels}}}}}");
            let policy = mutation("ApplyConfiguration", &expression)
                .replace("apiGroups: [apps]", "apiGroups: ['']")
                .replace("resources: [deployments]", "resources: [namespaces]");
            check_whole(IdleMutation::META, &policy, &expression, expected);
        };
        let name = "the server sets metadata.labels.kubernetes.io/metadata.name back";
        find_of_namespaces("{'kubernetes.io/metadata.name': 'a'}", &[name]);
        find_of_namespaces("{'kubernetes.io/metadata.name': 'a', 'team': 'b'}", &[]);
    }

    #[test]
    fn what_a_server_sets_back_of_a_custom_resource() {
        let definition = |subresources: &str| {
            let text = format!(
                r#"{{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                    "metadata": {{"name": "widgets.example.com"}},
                    "spec": {{"group": "example.com", "scope": "Namespaced", "names": {{"kind": "Widget", "plural": "widgets",
                        "singular": "widget", "listKind": "WidgetList"}},
                        "versions": [{{"name": "v1", "served": true, "storage": true, "subresources": {subresources},
                            "schema": {{"openAPIV3Schema": {{"type": "object", "properties": {{
                                "status": {{"type": "object", "properties": {{"ready": {{"type": "boolean"}}}}}}}}}}}}}}]}}}}"#
            );
            pratique_json::parse(text.as_bytes()).unwrap().into_owned()
        };
        let policy = mutation(
            "ApplyConfiguration",
            "Object{status: Object.status{ready: false}}",
        )
        .replace("apiGroups: [apps]", "apiGroups: [example.com]")
        .replace("resources: [deployments]", "resources: [widgets]");
        let set = load(&policy);
        for (subresources, expected) in [("{\"status\": {}}", 1), ("{}", 0)] {
            let kinds = CustomKinds::new(pratique_schema::Release::latest(), &[definition(subresources)]);
            let options = LintOptions::default().custom_kinds(Arc::new(kinds));
            let warnings = lint_with(&[&set], &options);
            let idle: Vec<_> = warnings
                .iter()
                .filter(|warning| warning.lint == IdleMutation::META)
                .collect();
            assert_eq!(idle.len(), expected, "{subresources}: {warnings:#?}");
            assert!(
                idle.iter()
                    .all(|warning| warning.message.contains("the server sets status back")),
                "{idle:#?}"
            );
        }
    }

    #[test]
    fn what_a_server_stores_of_one_operation() {
        // An update keeps the finalizers of a namespace, its creation takes them.
        let policy = mutation(
            "JSONPatch",
            "[JSONPatch{op: 'add', path: '/spec/finalizers/-', value: 'example.com/a'}]",
        );
        let policy = policy
            .replace("apiGroups: [apps]", "apiGroups: ['']")
            .replace("resources: [deployments]", "resources: [namespaces]")
            .replace("operations: [CREATE]", "operations: [CREATE, UPDATE]");
        find(IdleMutation::META, &policy, &[]);
    }

    #[test]
    fn what_changes_something() {
        for expression in [
            "Object{spec: Object.spec{replicas: 3}}",
            "Object{spec: Object.spec{replicas: object.spec.minReadySeconds}}",
            "object.spec.replicas > 3 ? Object{spec: Object.spec{replicas: 3}} : Object{}",
            "Object{metadata: Object.metadata{labels: object.metadata.annotations}}",
            "Object{spec: Object.spec{?paused: optional.none()}}",
        ] {
            check("ApplyConfiguration", expression, &[]);
        }
        for expression in [
            "[JSONPatch{op: 'test', path: '/spec/paused', value: true}, JSONPatch{op: 'remove', path: '/spec/paused'}]",
            "[JSONPatch{op: 'add', path: '/spec/replicas', value: object.spec.minReadySeconds}]",
            "has(object.spec.paused) ? [JSONPatch{op: 'remove', path: '/spec/paused'}] : []",
        ] {
            check("JSONPatch", expression, &[]);
        }
    }
}
