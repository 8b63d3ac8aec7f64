//! Policies that deny, but admit requests for which they fail.
//!
//! # What
//!
//! A policy with `failurePolicy: Ignore` has a binding that denies.
//!
//! # Why
//!
//! If one of its expressions fails, for example because of a missing field, the request is allowed, whatever the
//! results of the other expressions.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicy
//! metadata: {name: protected}
//! spec:
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
//!   failurePolicy: Ignore
//!   validations: [{expression: "object.metadata.labels['protected'] != 'true'"}]
//! ---
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicyBinding
//! metadata: {name: protected}
//! spec: {policyName: protected, validationActions: [Deny]}
//! ```
//!
//! Use `failurePolicy: Fail`.

use pratique_manifest::Kind;

use crate::lint::{Lint, LintContext};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport};
use crate::subject::path;

/// The lint `ignored-denial`.
pub(crate) struct IgnoredDenial;

impl Lint for IgnoredDenial {
    const META: &'static LintMeta = &LintMeta {
        name: "ignored-denial",
        summary: "A policy with failurePolicy Ignore is bound with Deny: where an expression fails, nothing is denied.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        let Some(subject) = context.policy() else {
            return;
        };
        let policy = subject.policy;
        if policy.origin.name.kind != Kind::ValidatingAdmissionPolicy || !policy.ignores_errors {
            return;
        }
        let denies = |actions: &[String]| actions.iter().any(|action| action == "Deny");
        let Some(binding) = policy.bindings.iter().find(|binding| denies(binding.actions)) else {
            return;
        };
        let message = format!(
            "failurePolicy is Ignore: where an expression fails or costs too much, the request is let in, although the \
             binding {:?} denies",
            binding.origin.name.name
        );
        let finding = LintFinding::new(Self::META, message)
            .help("use failurePolicy: Fail, or bind with [Audit] or [Warn]");
        report.add(&policy.origin, &path("spec.failurePolicy"), finding);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check, policy};

    #[test]
    fn denials_that_errors_lift() {
        let ignoring = policy(
            "CREATE",
            "failurePolicy: Ignore\nvalidations: [{expression: 'true'}]",
        );
        check(
            IgnoredDenial::META,
            &ignoring,
            &[("Ignore", "binding \"b.static.k8s.io\" denies")],
        );
        check(
            IgnoredDenial::META,
            &ignoring.replace("[Deny]", "[Audit, Warn]"),
            &[],
        );
        check(IgnoredDenial::META, &ignoring.replace("Ignore", "Fail"), &[]);
    }
}
