//! Expressions that read `object` where there is none.
//!
//! # What
//!
//! An expression reads `object` in a request to delete, or `oldObject` in a request to create or connect. The same goes
//! for `namespaceObject` in match conditions, where it is always null.
//!
//! # Why
//!
//! Both are null then, and reading a field of null is an error, so that the request is denied, or allowed if
//! `failurePolicy` is `Ignore`.
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
//!   validations: [{expression: "object.metadata.name != 'keep'"}]
//! ```
//!
//! Read the other variable, or test first: `object == null || …`, `request.operation == 'DELETE' ? … : …`, or a match
//! condition.

use std::collections::BTreeMap;

use pratique_cel::ast::{Ast, Expr, ExprId};
use pratique_expression::ExpressionPurpose;

use crate::analysis::{
    FoldedPolicy, KnownValue, ParsedExpressions, RequestFacts, TextRange, ident_path, live_nodes, place_of,
};
use crate::lint::{Lint, LintContext, PolicySubject};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport, listed};
use crate::subject::{PolicyView, matched_operations};

/// The lint `null-object`.
pub(crate) struct NullObject;

impl Lint for NullObject {
    const META: &'static LintMeta = &LintMeta {
        name: "null-object",
        summary: "An expression reads object on DELETE, oldObject on CREATE, or namespaceObject in a match condition, where each is null.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        if let Some(subject) = context.evaluated() {
            check_policy(subject, report);
        }
    }
}

/// A read of a null variable, and the operations on which it is null.
struct NullRead {
    place: TextRange,
    name: String,
    operations: Vec<&'static str>,
}

fn check_policy(subject: &PolicySubject<'_>, report: &mut LintReport) {
    let (policy, parsed) = (subject.policy, subject.parsed());
    let mut by_variable: BTreeMap<(usize, String), NullRead> = BTreeMap::new();
    for operation in matched_operations(&policy.rules) {
        let facts = RequestFacts {
            operation: Some(operation),
            ..RequestFacts::default()
        };
        let Some(folded_policy) = parsed.fold(&policy.sites, &facts) else {
            continue;
        };
        for (index, place, root) in reads(parsed, &folded_policy) {
            let name = policy
                .sites
                .get(index)
                .and_then(|site| site.text.get(place.clone()))
                .unwrap_or(&root);
            let name = name.to_owned();
            let read = by_variable.entry((index, root)).or_insert(NullRead {
                place,
                name,
                operations: Vec::new(),
            });
            if !read.operations.contains(&operation.as_str()) {
                read.operations.push(operation.as_str());
            }
        }
    }
    for ((index, root), read) in by_variable {
        let Some(site) = policy.sites.get(index) else {
            continue;
        };
        report.add_in(
            &policy.origin,
            &site.path,
            read.place.clone(),
            finding(policy, site.usage, &root, &read),
        );
    }
}

/// The first read of each null variable in each expression: the site, the place, and the variable.
fn reads(parsed: &ParsedExpressions, folded_policy: &FoldedPolicy) -> Vec<(usize, TextRange, String)> {
    let mut null_reads = Vec::new();
    for (index, ast) in parsed.asts.iter().enumerate() {
        let (Some(ast), Some(folded), Some(true)) = (
            ast,
            folded_policy.folded.get(index),
            folded_policy.active.get(index),
        ) else {
            continue;
        };
        let mut first_reads: BTreeMap<String, (u32, ExprId)> = BTreeMap::new();
        for id in live_nodes(ast, folded) {
            let operand = read_operand(ast, id).filter(|operand| *folded.value(*operand) == KnownValue::Null);
            let Some((operand, path)) = operand.and_then(|operand| Some((operand, folded.path(operand)?)))
            else {
                continue;
            };
            let read = (ast.node(operand).offset, operand);
            let first = first_reads.entry(path.join(".")).or_insert(read);
            *first = (*first).min(read);
        }
        null_reads.extend(
            first_reads
                .into_iter()
                .map(|(root, (_, operand))| (index, place_of(ast, operand), root)),
        );
    }
    null_reads
}

/// The operand that a node reads from, which fails if the operand is null.
fn read_operand(ast: &Ast, id: ExprId) -> Option<ExprId> {
    match ast.expr(id) {
        Expr::Select {
            operand,
            test_only: false,
            ..
        } => Some(*operand),
        Expr::Comprehension(comprehension) => Some(comprehension.range),
        Expr::Call {
            function,
            target: None,
            args,
        } => match (&**function, args.as_slice()) {
            ("_[_]" | "size", [operand, ..]) => Some(*operand),
            ("@in", [_, operand]) => Some(*operand),
            _ => None,
        },
        Expr::Call {
            target: Some(target), ..
        } => ident_path(ast, *target).map(|_| *target),
        _ => None,
    }
}

fn finding(policy: &PolicyView<'_>, usage: ExpressionPurpose, root: &str, read: &NullRead) -> LintFinding {
    let name = &read.name;
    if root == "namespaceObject" {
        let message = format!("namespaceObject is always null in match conditions: {name} fails");
        let help = if policy.is_webhook {
            "use a namespaceSelector"
        } else {
            "use a namespaceSelector, or move the test into a validation"
        };
        return LintFinding::new(NullObject::META, message).help(help);
    }
    let outcome = policy.outcome_of_errors(usage);
    let operations = listed(&read.operations);
    let message = format!("{root} is null on {operations}: {name} fails, and {outcome}");
    let other = match root {
        "object" => "oldObject",
        "oldObject" => "object",
        _ => {
            return LintFinding::new(NullObject::META, message)
                .help(format!("test for null first: {root} != null && …"));
        }
    };
    let only = operations_without(policy, read);
    let help = if only {
        format!("read {other} instead")
    } else {
        format!("test it first, as in {root} == null || …, or read {other}")
    };
    LintFinding::new(NullObject::META, message).help(help)
}

/// Whether a policy matches no other operations than those on which the read fails.
fn operations_without(policy: &PolicyView<'_>, read: &NullRead) -> bool {
    let mut operations = matched_operations(&policy.rules).into_iter();
    operations.all(|operation| read.operations.contains(&operation.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check as find, policy, webhook};

    #[track_caller]
    fn check(operations: &str, expression: &str, expected: &[(&str, &str)]) {
        let spec = format!("validations:\n- expression: >-\n    {expression}\n");
        find(NullObject::META, &policy(operations, &spec), expected);
    }

    #[test]
    fn reads_of_null() {
        check(
            "DELETE",
            "object.metadata.name != 'a'",
            &[("object.metadata.name", "null on DELETE")],
        );
        check(
            "CREATE, UPDATE, DELETE",
            "object.spec.replicas >= oldObject.spec.replicas",
            &[
                ("object.spec.replicas", "object is null on DELETE"),
                ("oldObject.spec.replicas", "oldObject is null on CREATE"),
            ],
        );
        check(
            "'*'",
            "!has(object.spec.x)",
            &[("object.spec.x", "object is null on DELETE")],
        );
        check("DELETE", "'a' in object", &[("object", "null on DELETE")]);
        check("DELETE", "object['a'] == 1", &[("object", "null on DELETE")]);
        check(
            "CREATE",
            "oldObject.spec.l.all(x, x == 1)",
            &[("oldObject.spec.l", "null on CREATE")],
        );
    }

    #[test]
    fn guards() {
        for expression in [
            "object == null || object.metadata.name != 'a'",
            "object != null && object.metadata.name != 'a'",
            "object == null ? true : object.metadata.name != 'a'",
            "request.operation == 'DELETE' || object.metadata.name != 'a'",
            "request.operation in ['CREATE', 'UPDATE'] ? object.metadata.name != 'a' : oldObject.metadata.name != 'a'",
            "!(request.operation != 'DELETE') || object.metadata.name != 'a'",
            "has(object.metadata) ? object.metadata.name != 'a' : true",
            "object.?metadata.name.orValue('') != 'a'",
            "object.metadata.name != 'a' || request.operation == 'DELETE'",
            "[1].all(object, object.a == 1)",
            "request.operation == 'CREATE' || oldObject != object",
        ] {
            check("CREATE, UPDATE, DELETE", expression, &[]);
        }
        check("UPDATE", "object.a == oldObject.a", &[]);
        check("CREATE, CONNECT", "object.a == 1", &[]);
    }

    #[test]
    fn conditions_and_variables() {
        let spec = "matchConditions: [{name: c, expression: \"request.operation != 'DELETE'\"}]
validations: [{expression: object.a == 1}]";
        find(NullObject::META, &policy("CREATE, DELETE", spec), &[]);
        let spec = "variables:
- {name: gone, expression: request.operation == 'DELETE'}
- {name: a, expression: object.spec.a}
- {name: unused, expression: object.spec.b}
- {name: self, expression: object}
validations:
- {expression: variables.gone || variables.a == 1}
";
        find(NullObject::META, &policy("CREATE, DELETE", spec), &[]);
        let spec = spec.replace("variables.gone ||", "variables.self.b == 1 &&");
        find(
            NullObject::META,
            &policy("CREATE, DELETE", &spec),
            &[
                ("object.spec.a", "null on DELETE"),
                ("variables.self.b", "variables.self is null"),
            ],
        );
        let spec = "matchConditions: [{name: c, expression: namespaceObject.metadata.name == 'a'}]
validations: [{expression: namespaceObject.metadata.name == 'a'}]";
        find(
            NullObject::META,
            &policy("CREATE", spec),
            &[("namespaceObject.metadata.name", "always null in match conditions")],
        );
    }

    #[test]
    fn conditions_of_webhooks() {
        let of = |operations: &str, condition: &str, expected: &[(&str, &str)]| {
            find(
                NullObject::META,
                &webhook("Mutating", "pods", operations, condition),
                expected,
            );
        };
        of(
            "CREATE, DELETE",
            "object.metadata.namespace != 'a'",
            &[("object.metadata.namespace", "object is null on DELETE")],
        );
        of(
            "CREATE",
            "namespaceObject.metadata.name != 'a'",
            &[("namespaceObject.metadata.name", "always null in match conditions")],
        );
        of(
            "CREATE, DELETE",
            "object == null || object.metadata.namespace != 'a'",
            &[],
        );
    }

    #[test]
    fn messages_are_made_of_failures_only() {
        let spec = "validations:
- {expression: object == null || object.a == 1, messageExpression: object.b}
- {expression: request.operation == 'CREATE', messageExpression: object.c}
";
        find(
            NullObject::META,
            &policy("CREATE, DELETE", spec),
            &[("object.c", "default one")],
        );
    }
}
