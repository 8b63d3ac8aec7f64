//! Apply configurations that should remove something, and remove nothing.
//!
//! # What
//!
//! A field of an apply configuration is `optional.none()`, or an empty list that the server merges with what is there.
//!
//! # Why
//!
//! A configuration is merged into the object: a field that it does not have stays as it is. `optional.none()` leaves the field
//! out of the configuration, and an empty list adds no elements. The request passes, and the field is still there.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: MutatingAdmissionPolicy
//! metadata: {name: unpin}
//! spec:
//!   reinvocationPolicy: Never
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
//!   mutations:
//!   - patchType: ApplyConfiguration
//!     applyConfiguration: {expression: "Object{spec: Object.spec{?nodeName: optional.none()}}"}
//! ```
//!
//! Remove it with a JSON patch: `has(object.spec.nodeName) ? [JSONPatch{op: "remove", path: "/spec/nodeName"}] : []`.

use pratique_cel::ast::{Ast, Expr, StructField};
use pratique_expression::ExpressionPurpose;

use super::atomic_field::name_offset;
use crate::analysis::byte_offset;
use crate::lint::{Lint, LintContext, PolicySubject};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport};
use crate::trials::PolicyTrials;

/// The lint `idle-removal`.
pub(crate) struct IdleRemoval;

impl Lint for IdleRemoval {
    const META: &'static LintMeta = &LintMeta {
        name: "idle-removal",
        summary: "An apply configuration has optional.none() or an empty list for a field, which removes nothing.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        if let Some(subject) = context.policy() {
            check_policy(subject, || subject.trials(), report);
        }
    }
}

fn check_policy<'t>(
    subject: &PolicySubject<'_>,
    trials: impl Fn() -> &'t PolicyTrials,
    report: &mut LintReport,
) {
    let policy = subject.policy;
    for (site, ast) in policy.sites.iter().zip(&subject.parsed().asts) {
        let Some(ast) = ast
            .as_ref()
            .filter(|_| site.usage == ExpressionPurpose::ApplyConfiguration)
        else {
            continue;
        };
        for (holder, field) in fields(ast) {
            let reason = match ast.expr(field.value) {
                value if is_none(ast, value) => "optional.none() leaves it out of the configuration",
                Expr::List { elements, .. } if elements.is_empty() && is_idle(trials()) => {
                    "an empty list is merged with what is there"
                }
                _ => continue,
            };
            let start = byte_offset(site.text, name_offset(ast, field.offset, &field.name));
            let message = format!("{} is not removed: {reason}", field.name);
            let path = holder.trim_start_matches("Object").replace('.', "/");
            let help = format!(
                "remove it with a JSONPatch: has(object…{name}) ? [JSONPatch{{op: \"remove\", path: \"{path}/{name}\"}}] : [], with \
                 the index after the name of a list",
                name = field.name
            );
            report.add_in(
                &policy.origin,
                &site.path,
                start..start + field.name.len(),
                LintFinding::new(IdleRemoval::META, message).help(help),
            );
        }
    }
}

/// Whether the policy changed no object at all, and failed for none.
fn is_idle(trials: &PolicyTrials) -> bool {
    let mut kinds = trials.kinds.iter();
    kinds.all(|kind| kind.changes.is_empty() && kind.failures.is_empty() && kind.unchanged > 0)
}

/// The fields that apply configurations in an expression have, each with the name of its type.
fn fields(ast: &Ast) -> impl Iterator<Item = (&str, &StructField)> {
    ast.ids().flat_map(|id| match ast.expr(id) {
        Expr::Struct { type_name, fields } if type_name.starts_with("Object") => {
            fields.iter().map(|field| (&**type_name, field)).collect()
        }
        _ => Vec::new(),
    })
}

fn is_none(ast: &Ast, value: &Expr) -> bool {
    match value {
        Expr::Call {
            function,
            target,
            args,
        } if args.is_empty() => match target {
            Some(target) => {
                &**function == "none"
                    && matches!(ast.expr(*target), Expr::Ident(name) if &**name == "optional")
            }
            None => &**function == "optional.none",
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check as find, mutation};

    #[track_caller]
    fn check(expression: &str, expected: &[(&str, &str)]) {
        find(
            IdleRemoval::META,
            &mutation("ApplyConfiguration", expression),
            expected,
        );
    }

    #[test]
    fn what_removes_nothing() {
        check(
            "Object{spec: Object.spec{?paused: optional.none()}}",
            &[("paused", "paused is not removed: optional.none() leaves it out")],
        );
        check(
            "Object{spec: Object.spec{replicas: 1, template: optional.none()}}",
            &[("template", "is not removed")],
        );
        check(
            "Object{metadata: Object.metadata{finalizers: []}}",
            &[("finalizers", "an empty list is merged with what is there")],
        );
    }

    #[test]
    fn what_sets_something() {
        for expression in [
            "Object{spec: Object.spec{?paused: has(object.spec.paused) ? optional.of(true) : optional.none()}}",
            "Object{spec: Object.spec{?replicas: optional.of(1)}}",
            "Object{metadata: Object.metadata{labels: {'a': 'b'}, finalizers: []}}",
        ] {
            check(expression, &[]);
        }
    }
}
