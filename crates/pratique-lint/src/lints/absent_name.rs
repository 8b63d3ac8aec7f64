//! Names and namespaces that some requests do not have.
//!
//! # What
//!
//! An expression reads the name or the namespace of a request or an object that has none: `request.name` where a
//! collection is deleted, `object.metadata.name` in the mutating phase where the name is yet to be generated,
//! `request.namespace` or `namespaceObject` for resources that are in no namespace, `request.subResource` for the resource
//! itself. The warning is only given if an evaluation over such a request failed.
//!
//! # Why
//!
//! Empty fields are left out of a request, and reading them fails. A namespace that is deleted deletes its objects as
//! collections: with the policy below it hangs as soon as it has a ConfigMap. And all Pods of controllers are created with
//! `generateName`.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicy
//! metadata: {name: keep}
//! spec:
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [DELETE]}]
//!   validations: [{expression: "request.name != 'keep'"}]
//! ```
//!
//! Read the name of the object that is deleted, `oldObject.metadata.name`. In validating policies
//! `object.metadata.name` has the generated name already. Elsewhere test first, as in `has(request.namespace) && …`.

use std::collections::BTreeMap;

use pratique_cel::ast::{Ast, Expr, ExprId};
use pratique_expression::ExpressionPurpose;
use pratique_types::GroupVersionKind;

use super::type_check::kinds_text;
use crate::analysis::{TextRange, place_of};
use crate::lint::{Lint, LintContext, PolicySubject};
use crate::lint_meta::LintMeta;
use crate::observations::{KindObservations, NO_KEY, NodeFailure};
use crate::report::{LintFinding, LintReport};
use crate::subject::PolicyView;

/// The lint `absent-name`.
pub(crate) struct AbsentName;

impl Lint for AbsentName {
    const META: &'static LintMeta = &LintMeta {
        name: "absent-name",
        summary: "An expression reads a name or a namespace that some requests do not have, and fails for them.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        if let Some(subject) = context.evaluated()
            && subject.policy.sites.iter().any(|site| may_read_name(site.text))
        {
            check_policy(subject, report);
        }
    }
}

/// Whether an expression may read one: of most policies no objects are needed for this lint.
fn may_read_name(text: &str) -> bool {
    ["name", "namespaceObject", "ubResource"]
        .iter()
        .any(|name| text.contains(name))
}

/// What is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum AbsentField {
    /// `request.name`
    RequestName,
    /// `object.metadata.name`, in the mutating phase.
    ObjectName,
    /// `request.namespace`
    RequestNamespace,
    /// `namespaceObject`
    NamespaceObject,
    /// `request.subResource` or `request.requestSubResource`
    Subresource,
}

/// A read of an absent field.
struct AbsentRead {
    place: TextRange,
    operations: Vec<&'static str>,
    kinds: Vec<GroupVersionKind>,
}

fn check_policy(subject: &PolicySubject<'_>, report: &mut LintReport) {
    let (policy, parsed) = (subject.policy, subject.parsed());
    let mut reads: BTreeMap<(usize, AbsentField), AbsentRead> = BTreeMap::new();
    let observations = subject.observations();
    for observations in observations.kinds.iter().chain(&observations.unknown) {
        for failure in observations.failures() {
            let (Some(Some(ast)), Some(site)) =
                (parsed.asts.get(failure.site), policy.sites.get(failure.site))
            else {
                continue;
            };
            let Some((absent, node)) = absent_field(ast, &failure, site.usage, observations) else {
                continue;
            };
            let place = place_of(ast, node);
            let read = reads.entry((failure.site, absent)).or_insert_with(|| AbsentRead {
                place: place.clone(),
                operations: Vec::new(),
                kinds: Vec::new(),
            });
            if place.start < read.place.start {
                read.place = place;
            }
            if !read.operations.contains(&failure.operation) {
                read.operations.push(failure.operation);
            }
            if !read.kinds.contains(&observations.served.kind) {
                read.kinds.push(observations.served.kind.clone());
            }
        }
    }
    for ((index, absent), read) in reads {
        if let Some(site) = policy.sites.get(index) {
            let outcome = policy.outcome_of_errors(site.usage);
            let place = read.place.clone();
            report.add_in(
                &policy.origin,
                &site.path,
                place,
                finding(policy, absent, &read, outcome),
            );
        }
    }
}

/// The absent field that makes a node fail, and the node that reads it.
fn absent_field(
    ast: &Ast,
    failure: &NodeFailure<'_>,
    usage: ExpressionPurpose,
    observations: &KindObservations,
) -> Option<(AbsentField, ExprId)> {
    let reads = chain(ast, failure.node);
    let (ident, root) = reads.last().and_then(|id| match ast.expr(*id) {
        Expr::Ident(name) => Some((*id, &**name)),
        _ => None,
    })?;
    let is_selected = |id: &&ExprId| matches!(ast.expr(**id), Expr::Select { .. });
    let names: Vec<&str> = reads
        .iter()
        .rev()
        .filter(is_selected)
        .filter_map(|id| match ast.expr(*id) {
            Expr::Select { field, .. } => Some(&**field),
            _ => None,
        })
        .collect();
    let key = failure.text.strip_prefix(NO_KEY);
    let absent = match (root, names.as_slice(), key) {
        // It is null, and in match conditions it always is.
        ("namespaceObject", _, _)
            if usage != ExpressionPurpose::MatchCondition && !observations.served.namespaced =>
        {
            AbsentField::NamespaceObject
        }
        ("request", ["name", ..], Some("name")) => AbsentField::RequestName,
        ("request", ["namespace", ..], Some("namespace")) => AbsentField::RequestNamespace,
        ("request", ["subResource", ..], Some("subResource"))
        | ("request", ["requestSubResource", ..], Some("requestSubResource")) => AbsentField::Subresource,
        ("object", ["metadata", "name", ..], Some("name")) if failure.is_of_nameless => {
            AbsentField::ObjectName
        }
        _ => return None,
    };
    Some((absent, ident))
}

/// A node and the nodes that it reads from, the innermost last.
fn chain(ast: &Ast, node: ExprId) -> Vec<ExprId> {
    let mut chain = vec![node];
    let mut at = node;
    loop {
        let next = match ast.expr(at) {
            Expr::Select { operand, .. } => Some(*operand),
            Expr::Call {
                target: Some(target), ..
            } => Some(*target),
            Expr::Call {
                function,
                target: None,
                args,
            } if matches!(&**function, "_[_]" | "_?._" | "_[?_]") => args.first().copied(),
            _ => None,
        };
        let Some(next) = next else { return chain };
        chain.push(next);
        at = next;
    }
}

fn finding(policy: &PolicyView<'_>, absent: AbsentField, read: &AbsentRead, outcome: &str) -> LintFinding {
    let kinds = kinds_text(&read.kinds);
    let (message, help) = match absent {
        AbsentField::RequestName if read.operations == ["DELETE"] => (
            format!(
                "a request to delete a collection, as a namespace does with all that is in it, has no name: then \"no such \
                 key: name\", and {outcome}"
            ),
            "read oldObject.metadata.name instead".to_owned(),
        ),
        AbsentField::RequestName | AbsentField::ObjectName => (
            format!(
                "an object with generateName, as Pods of controllers, has no name before it is stored: then \"no such key: \
                 name\", and {outcome}"
            ),
            if policy.is_webhook {
                "test it first, as in !has(object.metadata.name) || …, or read object.metadata.?generateName"
                    .to_owned()
            } else {
                "test it first, as in has(object.metadata.name) && …, or use a ValidatingAdmissionPolicy, which is \
                 evaluated when the name is known"
                    .to_owned()
            },
        ),
        AbsentField::RequestNamespace => (
            format!(
                "{kinds}: not in a namespace, so that request.namespace is left out: then \"no such key: namespace\", and \
                 {outcome}"
            ),
            "test it first, as in has(request.namespace) && …, or match with scope: Namespaced only"
                .to_owned(),
        ),
        AbsentField::NamespaceObject => (
            format!(
                "{kinds}: not in a namespace, so that namespaceObject is null: reading it fails, and {outcome}"
            ),
            "test it first, as in namespaceObject != null && …, or match with scope: Namespaced only"
                .to_owned(),
        ),
        AbsentField::Subresource => (
            format!(
                "{kinds}: a request for the resource itself has no subResource: then \"no such key: subResource\", and \
                 {outcome}"
            ),
            "test it first, as in has(request.subResource) && …".to_owned(),
        ),
    };
    LintFinding::new(AbsentName::META, message).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check as find, mutation, policy_for};

    #[track_caller]
    fn check(groups: &str, resources: &str, operations: &str, expression: &str, expected: &[(&str, &str)]) {
        let spec = format!("validations:\n- expression: >-\n    {expression}\n");
        let manifests = policy_for(groups, "v1", resources, operations, &spec);
        find(AbsentName::META, &manifests, expected);
    }

    #[test]
    fn names_of_collections() {
        check(
            "''",
            "configmaps",
            "DELETE",
            "request.name != 'keep'",
            &[("request.name", "delete a collection")],
        );
        check(
            "''",
            "configmaps",
            "CREATE, UPDATE, DELETE",
            "request.name.startsWith('a')",
            &[("request.name", "delete a collection")],
        );
        for expression in [
            "oldObject.metadata.name != 'keep'",
            "!has(request.name) || request.name != 'keep'",
            "request.?name.orValue('') != 'keep'",
        ] {
            check("''", "configmaps", "DELETE", expression, &[]);
        }
        check("''", "namespaces", "DELETE", "request.name != 'keep'", &[]);
        check(
            "''",
            "configmaps",
            "CREATE, UPDATE",
            "request.name != 'keep'",
            &[],
        );
    }

    #[test]
    fn generated_names() {
        let of = |name: &str| format!("Object{{metadata: Object.metadata{{labels: {{'a': {name}}}}}}}");
        find(
            AbsentName::META,
            &mutation("ApplyConfiguration", &of("object.metadata.name")),
            &[("object.metadata.name", "generateName")],
        );
        find(
            AbsentName::META,
            &mutation("ApplyConfiguration", &of("object.metadata.?name.orValue('')")),
            &[],
        );
        // Validating policies are evaluated when the name was generated.
        check(
            "''",
            "pods",
            "CREATE",
            "object.metadata.name != 'a' && request.name != 'b'",
            &[],
        );
    }

    #[test]
    fn namespaces() {
        let cluster = [("request.namespace", "not in a namespace")];
        check(
            "rbac.authorization.k8s.io",
            "roles, clusterroles",
            "CREATE",
            "request.namespace != 'a'",
            &cluster,
        );
        check("''", "nodes", "DELETE", "request.namespace == 'a'", &cluster);
        check(
            "''",
            "namespaces, pods",
            "CREATE",
            "namespaceObject.metadata.name != 'a'",
            &[(
                "namespaceObject.metadata.name",
                "Kind=Namespace: not in a namespace",
            )],
        );
        // The namespace of a Namespace is itself.
        check(
            "''",
            "namespaces, pods",
            "CREATE",
            "request.namespace != 'a'",
            &[],
        );
        for expression in [
            "!has(request.namespace) || request.namespace != 'a'",
            "namespaceObject == null || namespaceObject.metadata.name != 'a'",
            "object.kind == 'Node' || request.namespace != 'a'",
        ] {
            check("''", "nodes, pods", "CREATE", expression, &[]);
        }
    }

    #[test]
    fn subresources() {
        check(
            "''",
            "pods",
            "UPDATE",
            "request.subResource != 'status'",
            &[("request.subResource", "no subResource")],
        );
        check(
            "''",
            "pods/status",
            "UPDATE",
            "request.subResource == 'status'",
            &[],
        );
    }
}
