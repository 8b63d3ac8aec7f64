//! Policies without a binding.
//!
//! # What
//!
//! No binding among the manifests refers to the policy. `pratique review` and `pratique test` report it too; with
//! `--bind` they evaluate it as if bound.
//!
//! # Why
//!
//! Without a binding a policy is never evaluated; bindings of the API cannot bind static policies.
//!
//! # Example
//!
//! ```yaml
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicy
//! metadata: {name: alone}
//! spec:
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
//!   validations: [{expression: 'false'}]
//! ```
//!
//! Add a ValidatingAdmissionPolicyBinding with `policyName: alone`.

use crate::lint::{Lint, LintContext};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport};
use crate::subject::path;

/// The lint `unbound-policy`.
pub(crate) struct UnboundPolicy;

impl Lint for UnboundPolicy {
    const META: &'static LintMeta = &LintMeta {
        name: "unbound-policy",
        summary: "A policy has no binding, so it is never evaluated.",
    };

    fn check(&self, context: &LintContext<'_>, report: &mut LintReport) {
        let Some(policy) = context.policy().map(|subject| subject.policy) else {
            return;
        };
        if !policy.bindings.is_empty() {
            return;
        }
        let (kind, name) = (policy.origin.name.kind, &policy.origin.name.name);
        let finding = LintFinding::new(
            Self::META,
            format!("no binding refers to the policy {name:?}: it is never evaluated"),
        );
        let help = format!("add a {kind}Binding with policyName: {name}");
        report.add(&policy.origin, &path("metadata.name"), finding.help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check, policy};

    #[test]
    fn bindings_are_expected() {
        let bound = policy("CREATE", "validations: [{expression: 'true'}]");
        check(UnboundPolicy::META, &bound, &[]);
        let unbound = bound.split("---").next().unwrap();
        check(
            UnboundPolicy::META,
            unbound,
            &[("p.static.k8s.io", "never evaluated")],
        );
    }
}
