//! Apply configurations that set atomic fields.
//!
//! # What
//!
//! An `applyConfiguration` sets a list, map or struct that can only be replaced as a whole: `args`, `tolerations`,
//! `nodeSelector`, elements of `ownerReferences`.
//!
//! # Why
//!
//! The server refuses to merge these, and the request fails.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: MutatingAdmissionPolicy
//! metadata: {name: tolerate}
//! spec:
//!   reinvocationPolicy: Never
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE]}]
//!   mutations:
//!   - patchType: ApplyConfiguration
//!     applyConfiguration:
//!       expression: >-
//!         Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{tolerations: []}}}}
//! ```
//!
//! Use a `JSONPatch` instead, which may replace the field as a whole.

use std::collections::BTreeMap;

use pratique_cel::ast::{Ast, Expr};
use pratique_expression::ExpressionPurpose;
use pratique_schema::Release;
use pratique_schema::merge::{ListMerging, MergeSchema, MergeType};
use pratique_types::GroupVersionKind;

use crate::analysis::byte_offset;
use crate::lint::{Lint, LintContext, PolicySubject};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport, listed};
use crate::typing::MatchedKinds;

/// The lint `atomic-field`.
pub(crate) struct AtomicField;

impl Lint for AtomicField {
    const META: &'static LintMeta = &LintMeta {
        name: "atomic-field",
        summary: "An apply configuration sets an atomic list, map or struct, which the server refuses.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        if let Some(subject) = context.policy() {
            check_policy(subject, report);
        }
    }
}

fn check_policy(subject: &PolicySubject<'_>, report: &mut LintReport) {
    let policy = subject.policy;
    if !policy
        .sites
        .iter()
        .any(|site| site.usage == ExpressionPurpose::ApplyConfiguration)
    {
        return;
    }
    for (site, ast) in policy.sites.iter().zip(&subject.parsed().asts) {
        let Some(ast) = ast
            .as_ref()
            .filter(|_| site.usage == ExpressionPurpose::ApplyConfiguration)
        else {
            continue;
        };
        for ((offset, path), of_kinds) in atomic_fields(ast, subject.kinds()) {
            let start = byte_offset(site.text, offset);
            let rest = site.text.get(start..).unwrap_or_default();
            let length = rest
                .find(|c: char| c != '.' && !c.is_alphanumeric())
                .unwrap_or(rest.len());
            let message = format!(
                "{}: {path} is atomic: an apply configuration may not set it, the request fails",
                listed(&of_kinds)
            );
            let help = "use a JSONPatch, which may replace it as a whole";
            report.add_in(
                &policy.origin,
                &site.path,
                start..start + length.max(1),
                LintFinding::new(AtomicField::META, message).help(help),
            );
        }
    }
}

/// The atomic fields that a configuration sets: where, their paths, and the kinds for which they are atomic.
fn atomic_fields(ast: &Ast, kinds: &MatchedKinds) -> BTreeMap<(u32, String), Vec<String>> {
    let mut atomic: BTreeMap<(u32, String), Vec<String>> = BTreeMap::new();
    for id in ast.ids() {
        let Expr::Struct { type_name, fields } = ast.expr(id) else {
            continue;
        };
        let mut names = type_name.trim_start_matches('.').split('.');
        if names.next() != Some("Object") {
            continue;
        }
        let path: Vec<&str> = names.collect();
        for field in fields {
            let mut path = path.clone();
            path.push(&field.name);
            for served in &kinds.builtin {
                if is_atomic(kinds.release, &served.kind, &path) {
                    let kinds = atomic
                        .entry((name_offset(ast, field.offset, &field.name), path.join(".")))
                        .or_default();
                    kinds.push(served.kind.to_string());
                }
            }
        }
    }
    atomic
}

/// Where a field's name starts; errors about it point at the colon behind.
pub(super) fn name_offset(ast: &Ast, offset: u32, name: &str) -> u32 {
    let text = ast.source.as_str();
    let end = byte_offset(text, offset);
    if text.get(end..).is_some_and(|rest| rest.starts_with(name)) {
        return offset;
    }
    let start = text.get(..end).unwrap_or_default().trim_end();
    match start.strip_suffix(name) {
        Some(rest) => rest.chars().count() as u32,
        None => offset,
    }
}

/// Whether a field of a kind is atomic. Parts of an atomic field are reported as the field.
fn is_atomic(release: &'static Release, kind: &GroupVersionKind, path: &[&str]) -> bool {
    let schema = release.merge_schema();
    let Ok(root) = schema.kind(kind) else {
        return false;
    };
    let mut at = schema.get(root);
    for (index, name) in path.iter().enumerate() {
        let Some(of) = at.map.as_ref().and_then(|map| map.member(name)) else {
            return false;
        };
        let (inner, atomic) = inner(schema, schema.get(of));
        if atomic {
            return index + 1 == path.len();
        }
        at = inner;
    }
    false
}

/// The innermost element type of a type's lists, and whether any of these is merged as a whole only.
///
/// Arbitrary data may be a list as well, and then of arbitrary data again: it is no list of something else.
fn inner<'s>(schema: &'s MergeSchema, mut of: &'s MergeType) -> (&'s MergeType, bool) {
    let mut atomic = false;
    while let (Some(list), None) = (&of.list, &of.map) {
        atomic |= list.merging == ListMerging::Atomic;
        of = schema.get(list.element);
    }
    (of, atomic || of.map.as_ref().is_some_and(|map| map.atomic))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check as find, mutation};

    #[track_caller]
    fn check(expression: &str, expected: &[(&str, &str)]) {
        find(
            AtomicField::META,
            &mutation("ApplyConfiguration", expression),
            expected,
        );
    }

    const SPEC: &str = "Object.spec.template.spec";

    #[test]
    fn atomic_fields_are_found() {
        check(
            &format!(
                "Object{{spec: Object.spec{{template: Object.spec.template{{spec: {SPEC}{{containers: [{SPEC}.containers{{name: 'a', args: ['b']}}]}}}}}}}}"
            ),
            &[(
                "args",
                "Kind=Deployment: spec.template.spec.containers.args is atomic",
            )],
        );
        check(
            &format!("Object{{spec: {SPEC}{{nodeSelector: {{'a': 'b'}}}}}}"),
            &[("nodeSelector", "nodeSelector is atomic")],
        );
        check(
            "Object{metadata: Object.metadata{ownerReferences: [Object.metadata.ownerReferences{uid: 'a'}]}}",
            &[("ownerReferences", "metadata.ownerReferences is atomic")],
        );
        check(
            &format!("Object{{spec: {SPEC}{{tolerations: []}}}}"),
            &[("tolerations", "tolerations is atomic")],
        );
    }

    #[test]
    fn fields_of_arbitrary_data_have_an_end() {
        let every = mutation("ApplyConfiguration", "Object{data: {'a': 'b'}}")
            .replace("apiGroups: [apps]", "apiGroups: ['*']")
            .replace("resources: [deployments]", "resources: ['*']");
        find(
            AtomicField::META,
            &every,
            &[("data", "Kind=ControllerRevision: data is atomic")],
        );
    }

    #[test]
    fn others_are_not() {
        check(
            "Object{metadata: Object.metadata{labels: {'a': 'b'}}, spec: Object.spec{replicas: 1}}",
            &[],
        );
        check(
            &format!("Object{{spec: {SPEC}{{containers: [{SPEC}.containers{{name: 'a', image: 'b'}}]}}}}"),
            &[],
        );
        find(
            AtomicField::META,
            &mutation(
                "JSONPatch",
                "[JSONPatch{op: 'add', path: '/spec/template/spec/tolerations', value: []}]",
            ),
            &[],
        );
    }
}
