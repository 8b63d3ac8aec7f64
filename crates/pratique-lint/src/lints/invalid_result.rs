//! Policies whose result the server refuses.
//!
//! # What
//!
//! A mutation applies, and the server's validation refuses the object that it leaves: a name that is none, a mount of a volume
//! that is not there, a Pod that is updated in a field that may not change.
//!
//! # Why
//!
//! The request is denied with an error about the object, and its author does not know the field. An update of any field of an
//! existing Pod, such as a label, fails if a policy then changes what may not change.
//!
//! The warning is only given for built-in kinds, and only if the object is valid in this respect without the policy.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: MutatingAdmissionPolicy
//! metadata: {name: names}
//! spec:
//!   reinvocationPolicy: Never
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
//!   mutations:
//!   - patchType: ApplyConfiguration
//!     applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'user': 'a b'}}}"}
//! ```
//!
//! Write a value that the field takes, append to lists with a path that ends in `/-`, and match `CREATE` only where the field
//! may not change.

use pratique_expression::Use;
use pratique_sample::{ExpressionId, ServerFinding};
use pratique_types::Operation;

use crate::lint::{Lint, LintContext};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport};
use crate::subject::ExpressionSite;

/// The lint `invalid-result`.
pub(crate) struct InvalidResult;

impl Lint for InvalidResult {
    const META: &'static LintMeta = &LintMeta {
        name: "invalid-result",
        summary: "The server's validation refuses the object that a mutating policy leaves.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        let Some(subject) = context.policy() else { return };
        let policy = subject.policy;
        let mut sites = policy.sites.iter();
        // Values of params are generated.
        let Some(site) =
            sites.find(|site| matches!(site.id, ExpressionId::Mutation(_)) && !site.declarations.params)
        else {
            return;
        };
        for kind in &subject.trials().kinds {
            for (finding, example) in &kind.judged {
                let ServerFinding::Invalid { text } = finding else {
                    continue;
                };
                if is_partial(policy.sites.iter(), text) {
                    continue;
                }
                let (kind, operation) = (&kind.served.kind, example.operation.as_str());
                let message =
                    format!("{kind}: the server refuses what this policy leaves on {operation}: {text}");
                let finding = LintFinding::new(Self::META, message)
                    .example(example.clone())
                    .help(help_for(text, example.operation));
                report.add(&policy.origin, &site.path, finding);
            }
        }
    }
}

/// Whether an element lacks a field that apply configurations may mean to merge into one that is there.
fn is_partial<'s>(mut sites: impl Iterator<Item = &'s ExpressionSite<'s>>, text: &str) -> bool {
    let is_of_element = text.split(": ").next().is_some_and(|field| field.contains("]."));
    is_of_element
        && text.contains("Required value")
        && sites.any(|site| site.usage == Use::ApplyConfiguration)
}

fn help_for(text: &str, operation: Operation) -> &'static str {
    if operation == Operation::Update {
        "match CREATE only, or test request.operation: on an update the field may not change"
    } else if text.contains("Not found") {
        "something else refers to what the policy replaces: append to a list with a path that ends in /-"
    } else if text.contains("Duplicate value") {
        "test first that there is none of this name, as in !list.exists(x, x.name == …)"
    } else {
        "write a value that the field takes"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check as find, mutation};

    #[track_caller]
    fn check(operations: &str, kind: &str, expression: &str, expected: &[&str]) {
        let pods = mutation(kind, expression)
            .replace("apiGroups: [apps]", "apiGroups: ['']")
            .replace("deployments", "pods")
            .replace("[CREATE]", &format!("[{operations}]"));
        let quoted = format!("\"{expression}\"");
        let expected: Vec<(&str, &str)> = expected
            .iter()
            .map(|message| (quoted.as_str(), *message))
            .collect();
        find(InvalidResult::META, &pods, &expected);
    }

    #[test]
    fn what_is_refused() {
        check(
            "CREATE",
            "ApplyConfiguration",
            "Object{metadata: Object.metadata{labels: {'user': 'a b'}}}",
            &["metadata.labels: Invalid value"],
        );
        check(
            "CREATE",
            "JSONPatch",
            "[JSONPatch{op: 'add', path: '/spec/volumes', value: [Object.spec.volumes{name: 'a'}]}]",
            &["volumeMounts[0].name: Not found"],
        );
        check(
            "CREATE, UPDATE",
            "JSONPatch",
            "[JSONPatch{op: 'add', path: '/spec/terminationGracePeriodSeconds', value: 5}]",
            &["on UPDATE: spec: Forbidden: pod updates may not change fields other than"],
        );
    }

    #[test]
    fn what_is_not() {
        for (operations, expression) in [
            (
                "CREATE",
                "Object{metadata: Object.metadata{labels: {'user': 'a-b'}}}",
            ),
            (
                "CREATE, UPDATE",
                "Object{metadata: Object.metadata{labels: {'user': 'a-b'}}}",
            ),
            (
                "CREATE",
                "Object{spec: Object.spec{terminationGracePeriodSeconds: 5}}",
            ),
            // It may be there, and is merged then.
            (
                "CREATE",
                "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'mesh', stdin: true}]}}",
            ),
            (
                "CREATE",
                "Object{spec: Object.spec{initContainers: [Object.spec.initContainers{name: 'mesh', image: 'i'}]}}",
            ),
        ] {
            check(operations, "ApplyConfiguration", expression, &[]);
        }
        check(
            "CREATE, UPDATE",
            "JSONPatch",
            "request.operation == 'CREATE' ? [JSONPatch{op: 'add', path: '/spec/terminationGracePeriodSeconds', value: 5}] : []",
            &[],
        );
    }
}
