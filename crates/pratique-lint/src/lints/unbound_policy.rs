//! Policies without a binding.
//!
//! # What
//!
//! No binding among the manifests refers to the policy. `pratique review` and `pratique test` report it too; with
//! `--bind` they evaluate it as if bound. Of more than three policies, as of a library, the commands have one warning with
//! their number.
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

use pratique_manifest::{ObjectSource, TreeValue};

use crate::lint::{Lint, LintContext};
use crate::lint_meta::LintMeta;
use crate::report::{LintFinding, LintReport, SuggestedChange};
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
        let finding = finding.help(format!("add a {kind}Binding with policyName: {name}"));
        let finding = match binding(policy.origin.source, kind.name(), name) {
            Some(binding) => finding.replacement(SuggestedChange::Document(binding)),
            None => finding,
        };
        report.add(&policy.origin, &path("metadata.name"), finding);
    }
}

/// A binding of a policy for all that it matches; `None` if a binding has to say more.
fn binding(policy: &ObjectSource, kind: &str, name: &str) -> Option<String> {
    let field = |names: &str| {
        let tree = policy.tree();
        tree.find(policy.root(), &path(names))
            .map(|id| &tree.get(id).value)
    };
    let Some(TreeValue::String(version, _)) = field("apiVersion") else {
        return None;
    };
    // Which params there are, nobody knows.
    if field("spec.paramKind").is_some() {
        return None;
    }
    let actions = if kind == "ValidatingAdmissionPolicy" {
        "  validationActions: [Deny]\n"
    } else {
        ""
    };
    // YAML reads no text in quotes as something else.
    Some(format!(
        "apiVersion: {version}\nkind: {kind}Binding\nmetadata:\n  name: \"{name}\"\nspec:\n  policyName: \"{name}\"\n{actions}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check, load, policy};

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

    #[test]
    fn a_binding_is_suggested_where_all_of_it_is_known() {
        let bound = policy("CREATE", "validations: [{expression: 'true'}]");
        let edit = |unbound: String| {
            let mut warnings = crate::lint(&[&load(&unbound)]);
            warnings.retain(|warning| warning.lint.name == UnboundPolicy::META.name);
            let edit = warnings.remove(0).help.unwrap().edit;
            edit.map(|edit| (edit.to_string(), unbound.trim().to_owned() + &edit.replacement))
        };
        let unbound = bound.split("---").next().unwrap().to_owned();
        let listed: String = unbound.lines().map(|line| format!("  {line}\n")).collect();
        let listed = format!(
            "apiVersion: v1\nkind: List\nitems:\n-{}",
            listed.get(1..).unwrap()
        );
        assert_eq!(edit(listed), None);
        let (title, changed) = edit(unbound).unwrap();
        assert_eq!(title, "Add a ValidatingAdmissionPolicyBinding");
        check(UnboundPolicy::META, &changed, &[]);
    }
}
