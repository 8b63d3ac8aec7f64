//! Mutations that change their own result again.
//!
//! # What
//!
//! A policy that runs over the object that it has left changes it once more: it appends to a list without a test, or puts a
//! prefix before a value that has it.
//!
//! # Why
//!
//! A policy that matches `UPDATE` runs at every update of an object that it changed before, and one with the
//! `reinvocationPolicy` `IfNeeded` may run twice for one request: the list grows. Policies that do neither have no warning.
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
//!     resourceRules: [{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE, UPDATE]}]
//!   mutations:
//!   - patchType: JSONPatch
//!     jsonPatch:
//!       expression: >-
//!         [JSONPatch{op: 'add', path: '/spec/template/spec/tolerations', value:
//!           object.spec.template.spec.?tolerations.orValue([]) + [Object.spec.template.spec.tolerations{key: 'a', operator: 'Exists'}]}]
//! ```
//!
//! Test first whether it is done: `!object.spec.template.spec.?tolerations.orValue([]).exists(t, t.key == 'a')`, best in a
//! match condition.

use crate::lint::{Lint, LintContext};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport};

/// The lint `repeated-mutation`.
pub(crate) struct RepeatedMutation;

impl Lint for RepeatedMutation {
    const META: &'static LintMeta = &LintMeta {
        name: "repeated-mutation",
        summary: "A mutating policy that may run twice for an object changes its own result again.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        let Some(subject) = context.policy() else { return };
        let policy = subject.policy;
        let Some(site) = policy.first_mutation() else {
            return;
        };
        for kind in &subject.trials().kinds {
            let Some((field, example)) = &kind.repeated else {
                continue;
            };
            let kind = &kind.served.kind;
            let message = format!(
                "{kind}: a second run changes {field} again, and the policy may run twice for an object"
            );
            let finding = LintFinding::new(Self::META, message)
                .example(example.clone())
                .help("test first whether it is done, best in a match condition, as in !list.exists(x, x.name == …)");
            report.add(&policy.origin, &site.path, finding);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check_whole, mutation};

    const APPENDING: &str = "[JSONPatch{op: 'add', path: '/spec/template/spec/tolerations', value: \
        object.spec.template.spec.?tolerations.orValue([]) + [{'key': 'a', 'operator': 'Exists'}]}]";

    #[track_caller]
    fn check(operations: &str, expression: &str, expected: &[&str]) {
        let manifests = mutation("JSONPatch", expression).replace("[CREATE]", &format!("[{operations}]"));
        check_whole(RepeatedMutation::META, &manifests, expression, expected);
    }

    #[test]
    fn lists_that_grow() {
        check(
            "UPDATE",
            APPENDING,
            &["a second run changes spec.template.spec.tolerations again"],
        );
        let again = mutation("JSONPatch", APPENDING).replace("Never", "IfNeeded");
        check_whole(
            RepeatedMutation::META,
            &again,
            APPENDING,
            &["a second run changes"],
        );
    }

    #[test]
    fn what_runs_once_or_is_done() {
        check("CREATE", APPENDING, &[]);
        let tested = format!(
            "object.spec.template.spec.?tolerations.orValue([]).exists(t, t.?key.orValue('') == 'a') ? [] : {APPENDING}"
        );
        check("CREATE, UPDATE", &tested, &[]);
        check(
            "UPDATE",
            "[JSONPatch{op: 'add', path: '/spec/replicas', value: 3}]",
            &[],
        );
    }
}
