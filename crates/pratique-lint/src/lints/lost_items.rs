//! Patches that replace a list or a map, and lose its items.
//!
//! # What
//!
//! A JSON patch has the operation `add` with the path of a whole list or map: labels, annotations, volumes, environment
//! variables. Where the object has one already, its items are lost.
//!
//! # Why
//!
//! `add` replaces a member that is there. Labels and volumes of the object's author, and those that the server adds such as
//! the volume of a token, are gone.
//!
//! The warning is only given if a generated object lost items, not for lists of plain values that are one value, such as
//! `command` and `args`, and not if the value is made of the list or map itself.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: MutatingAdmissionPolicy
//! metadata: {name: mark}
//! spec:
//!   reinvocationPolicy: Never
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
//!   mutations:
//!   - patchType: JSONPatch
//!     jsonPatch: {expression: "[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'seen': 'yes'}}]"}
//! ```
//!
//! Add one item (`/metadata/annotations/seen`, `/spec/volumes/-`) and the list or map only where there is none, or use an apply
//! configuration, which merges. To replace it is the operation `replace`.

use std::collections::BTreeSet;

use pratique_cel::ast::{Ast, Expr, ExprId};
use pratique_sample::{ExpressionId, lost_items};
use pratique_schema::merge::{ListMerging, ListType, MergeSchema, MergeType};
use pratique_types::GroupVersionKind;

use super::type_check::kinds_text;
use crate::analysis::constant_key;
use crate::lint::{Lint, LintContext, PolicySubject};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport};
use crate::trials::PolicyTrials;
use crate::warning::WarningExample;

/// The lint `lost-items`.
pub(crate) struct LostItems;

impl Lint for LostItems {
    const META: &'static LintMeta = &LintMeta {
        name: "lost-items",
        summary: "A JSON patch adds a whole list or map, and the items that the object has in it are lost.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        if let Some(subject) = context.policy() {
            check_policy(subject, subject.trials(), report);
        }
    }
}

fn check_policy(subject: &PolicySubject<'_>, trials: &PolicyTrials, report: &mut LintReport) {
    let policy = subject.policy;
    let schema = policy.release.merge_schema();
    for (site, ast) in policy.sites.iter().zip(&subject.parsed().asts) {
        let (ExpressionId::Mutation(_), Some(ast)) = (&site.id, ast) else {
            continue;
        };
        for pointer in added(ast) {
            let mut kinds: Vec<GroupVersionKind> = Vec::new();
            let mut example_of_loss: Option<(Vec<String>, WarningExample)> = None;
            for kind in &trials.kinds {
                let gvk = &kind.served.kind;
                let lost = kind.changes.iter().find_map(|change| {
                    let lost = lost_items(&change.before, &change.after, &pointer);
                    let example = || WarningExample {
                        kind: gvk.clone(),
                        operation: change.operation,
                        object: change.before.to_string(),
                        difference: None,
                        cost: None,
                    };
                    (!lost.is_empty()).then(|| (lost, example()))
                });
                if let Some(lost) = lost.filter(|_| is_shared(schema, gvk, &pointer)) {
                    kinds.push(gvk.clone());
                    example_of_loss.get_or_insert(lost);
                }
            }
            let Some((lost, example)) = example_of_loss else {
                continue;
            };
            let message = format!(
                "{}: op \"add\" replaces {pointer} where the object has it: its items are lost, such as {}",
                kinds_text(&kinds),
                shown_item(&lost)
            );
            let item = if is_list(schema, kinds.first(), &pointer) {
                "-"
            } else {
                "key"
            };
            let help = format!(
                "add single items, as in path: \"{pointer}/{item}\", and {pointer} itself only where there is none; or use an \
                 ApplyConfiguration, which merges"
            );
            let finding = LintFinding::new(LostItems::META, message)
                .help(help)
                .example(example);
            report.add(&policy.origin, &site.path, finding);
        }
    }
}

/// The item that is shown of those that are lost: objects have keys that expressions name as well.
fn shown_item(lost: &[String]) -> &str {
    let example = lost.iter().find(|item| *item == "example");
    example.or(lost.first()).map_or("", String::as_str)
}

/// The constant paths that operations add a value to that is not made of what is there.
fn added(ast: &Ast) -> BTreeSet<String> {
    let added = ast.ids().filter_map(|id| {
        let Expr::Struct { type_name, fields } = ast.expr(id) else {
            return None;
        };
        let field = |name: &str| fields.iter().find(|field| &*field.name == name);
        let is_add = constant_key(ast, field("op")?.value) == Some("add");
        let path = constant_key(ast, field("path")?.value)?;
        let name = path.rsplit('/').next()?;
        (&**type_name == "JSONPatch" && is_add && !reads(ast, field("value")?.value, name))
            .then(|| path.to_owned())
    });
    added.collect()
}

/// Whether a value may be made of a field of this name.
fn reads(ast: &Ast, value: ExprId, name: &str) -> bool {
    let mut pending = vec![value];
    while let Some(id) = pending.pop() {
        let is_read = match ast.expr(id) {
            Expr::Select { field, operand, .. } => {
                &**field == name || matches!(ast.expr(*operand), Expr::Ident(root) if &**root == "variables")
            }
            Expr::Call { function, args, .. } if &**function == "_?._" => {
                args.get(1).and_then(|key| constant_key(ast, *key)) == Some(name)
            }
            _ => false,
        };
        if is_read {
            return true;
        }
        ast.expr(id).for_each_child(|child| pending.push(child));
    }
    false
}

/// Whether several writers share a list or map: it is merged, item by item, when it is applied, or it has items that are
/// independent of each other, as tolerations are and the words of a command are not.
fn is_shared(schema: &MergeSchema, kind: &GroupVersionKind, pointer: &str) -> bool {
    let Some(of) = type_at(schema, kind, pointer) else {
        return false;
    };
    let is_of_objects = |list: &ListType| schema.get(list.element).map.is_some();
    let list = of.list.as_ref();
    let map = of.map.as_ref();
    list.is_none_or(|list| list.merging != ListMerging::Atomic || is_of_objects(list))
        && map.is_none_or(|map| !map.atomic || map.element.is_some())
}

fn is_list(schema: &MergeSchema, kind: Option<&GroupVersionKind>, pointer: &str) -> bool {
    let of = kind.and_then(|kind| type_at(schema, kind, pointer));
    of.is_some_and(|of| of.list.is_some())
}

/// The type of the value at a JSON pointer.
fn type_at<'s>(schema: &'s MergeSchema, kind: &GroupVersionKind, pointer: &str) -> Option<&'s MergeType> {
    let mut at = schema.get(schema.kind(kind).ok()?);
    for name in pointer.split('/').skip(1) {
        at = match (&at.list, &at.map) {
            (Some(list), None) => schema.get(list.element),
            (_, Some(map)) => schema.get(map.member(name)?),
            (None, None) => return None,
        };
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check_whole, mutation};

    #[track_caller]
    fn check(expression: &str, expected: &[&str]) {
        check_whole(
            LostItems::META,
            &mutation("JSONPatch", expression),
            expression,
            expected,
        );
    }

    #[test]
    fn what_is_lost() {
        check(
            "[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'a': 'b'}}]",
            &["op \"add\" replaces /metadata/annotations where the object has it"],
        );
        check(
            "[JSONPatch{op: 'add', path: '/spec/template/spec/volumes', value: [Object.spec.template.spec.volumes{name: 'v'}]}]",
            &["replaces /spec/template/spec/volumes"],
        );
        // They are merged as a whole, and several writers add to them nevertheless.
        for (field, value) in [
            (
                "tolerations",
                "[Object.spec.template.spec.tolerations{key: 'a', operator: 'Exists'}]",
            ),
            ("nodeSelector", "{'a': 'b'}"),
        ] {
            let path = format!("/spec/template/spec/{field}");
            check(
                &format!("[JSONPatch{{op: 'add', path: '{path}', value: {value}}}]"),
                &[&format!("replaces {path} where the object has it")],
            );
        }
    }

    #[test]
    fn what_is_not() {
        for expression in [
            "has(object.metadata.annotations) ? [] : [JSONPatch{op: 'add', path: '/metadata/annotations', value: {'a': 'b'}}]",
            "[JSONPatch{op: 'add', path: '/metadata/annotations/a', value: 'b'}]",
            "[JSONPatch{op: 'replace', path: '/metadata/labels', value: {'a': 'b'}}]",
            "[JSONPatch{op: 'add', path: '/spec/template/spec/volumes', value: \
             object.spec.template.spec.?volumes.orValue([]).filter(v, v.name != 'x')}]",
            // It can only be replaced.
            "[JSONPatch{op: 'add', path: '/spec/template/spec/containers/0/args', value: ['a']}]",
            "[JSONPatch{op: 'add', path: '/spec/selector', value: {'matchLabels': {'a': 'b'}}}]",
            "has(object.spec.template.spec.tolerations) ? [] : \
             [JSONPatch{op: 'add', path: '/spec/template/spec/tolerations', value: [{'key': 'a', 'operator': 'Exists'}]}]",
            "[JSONPatch{op: 'add', path: '/spec/replicas', value: 1}]",
        ] {
            check(expression, &[]);
        }
    }
}
