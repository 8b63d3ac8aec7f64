//! Policies that set what a built-in plugin owns.
//!
//! # What
//!
//! A policy sets a field that a plugin of the server has already acted on, or acts on again: the priority class of a Pod, its
//! default tolerations, whether it gets a token.
//!
//! # Why
//!
//! The built-in plugins run before policies, and again after a policy has changed the object. The plugin then refuses the
//! object, sets the field back, or has already done what the field should prevent.
//!
//! The warning is only given if that happened to a generated object, with the plugins that run by default, and all classes and
//! accounts that it names; that the policy has no effect, only if it has none on a Pod with tolerations of its author either.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: MutatingAdmissionPolicy
//! metadata: {name: important}
//! spec:
//!   reinvocationPolicy: Never
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
//!   mutations:
//!   - patchType: JSONPatch
//!     jsonPatch: {expression: "[JSONPatch{op: 'add', path: '/spec/priorityClassName', value: 'important'}]"}
//! ```
//!
//! The plugin Priority has computed the priority 0 before. Remove it in the same patch, so that it is computed again:
//! `JSONPatch{op: 'remove', path: '/spec/priority'}`.

use pratique_sample::ServerFinding;

use crate::lint::{Lint, LintContext};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport};

/// The lint `plugin-field`.
pub(crate) struct PluginField;

impl Lint for PluginField {
    const META: &'static LintMeta = &LintMeta {
        name: "plugin-field",
        summary: "A policy sets what a built-in plugin owns, which refuses the object, sets it back, or has acted before.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        let Some(subject) = context.policy() else { return };
        let policy = subject.policy;
        for kind in &subject.trials().kinds {
            for (finding, result) in &kind.reviewed {
                let Some((message, help)) = describe(finding) else {
                    continue;
                };
                let Some(site) = policy.mutation(result.mutation) else {
                    continue;
                };
                let message = format!("{}: {message}", kind.served.kind);
                let finding = LintFinding::new(Self::META, message)
                    .example(result.example.clone())
                    .help(help);
                report.add(&policy.origin, &site.path, finding);
            }
        }
    }
}

/// The message and the help for what a plugin does.
fn describe(finding: &ServerFinding) -> Option<(String, String)> {
    Some(match finding {
        ServerFinding::Invalid { .. } | ServerFinding::Dropped { .. } => return None,
        ServerFinding::Refused { plugin, text } => {
            let help = match plugin.as_str() {
                "Priority" => {
                    "plugins run before policies: remove what it has computed in the same patch, after testing that it is \
                     there, as in JSONPatch{op: 'remove', path: '/spec/priority'}"
                }
                _ => "set it where the object is written, or in what the plugin reads",
            };
            let message = format!("the plugin {plugin} refuses what this policy leaves: {text}");
            (message, help.to_owned())
        }
        ServerFinding::Undone { plugin, field } => (
            format!(
                "the plugin {plugin} runs after this policy again and sets {field} back: the policy has no effect"
            ),
            "change what the plugin reads, or leave the field to it".to_owned(),
        ),
        ServerFinding::Late { plugin, field, set } => (
            format!("{set} comes too late: the plugin {plugin} has run before and set {field}"),
            format!("set {set} where the object is written, or change {field} in the policy as well"),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check_whole, mutation};

    #[track_caller]
    fn check(expression: &str, expected: &[&str]) {
        let pods = mutation("JSONPatch", expression)
            .replace("apiGroups: [apps]", "apiGroups: ['']")
            .replace("deployments", "pods");
        check_whole(PluginField::META, &pods, expression, expected);
    }

    #[test]
    fn what_plugins_own() {
        check(
            "[JSONPatch{op: 'add', path: '/spec/priorityClassName', value: 'x'}]",
            &[
                "the integer value of priority (0) must not be provided in pod spec; priority admission controller computed 1000",
            ],
        );
        check(
            "[JSONPatch{op: 'add', path: '/spec/automountServiceAccountToken', value: false}]",
            &["spec.automountServiceAccountToken comes too late: the plugin ServiceAccount has run before"],
        );
        check(
            "[JSONPatch{op: 'replace', path: '/spec/tolerations', value: object.spec.tolerations.filter(t, \
             !t.?key.orValue('').startsWith('node.kubernetes.io/'))}]",
            &[
                "the plugin DefaultTolerationSeconds runs after this policy again and sets spec.tolerations back",
            ],
        );
    }

    #[test]
    fn what_works() {
        for expression in [
            "[JSONPatch{op: 'add', path: '/spec/priorityClassName', value: 'x'}, JSONPatch{op: 'remove', path: '/spec/priority'}]",
            "[JSONPatch{op: 'add', path: '/spec/serviceAccountName', value: 'x'}]",
            "[JSONPatch{op: 'add', path: '/spec/nodeName', value: 'x'}]",
            "[JSONPatch{op: 'add', path: '/spec/tolerations/-', value: Object.spec.tolerations{key: 'a', operator: 'Exists'}}]",
            // Those of authors are removed.
            "has(object.spec.tolerations) ? [JSONPatch{op: 'remove', path: '/spec/tolerations'}] : []",
            "[JSONPatch{op: 'replace', path: '/spec/tolerations', value: object.spec.?tolerations.orValue([]).filter(t, \
             t.?operator.orValue('') != 'Exists')}]",
            // A plugin has added a volume for a container that is removed.
            "[JSONPatch{op: 'replace', path: '/spec/containers', value: object.spec.containers.filter(c, c.name != 'sidecar')}]",
            "[JSONPatch{op: 'add', path: '/spec/runtimeClassName', value: 'x'}]",
            "[JSONPatch{op: 'add', path: '/metadata/labels', value: {'a': 'b'}}]",
        ] {
            check(expression, &[]);
        }
    }
}
