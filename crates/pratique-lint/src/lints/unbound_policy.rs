//! Policies without a binding.

use crate::lint::Lint;
use crate::report::{Finding, Report};
use crate::subject::{Policy, path};

pub(crate) const LINT: Lint = Lint {
    name: "unbound-policy",
    summary: "A policy has no binding, so it is never evaluated.",
};

pub(crate) fn check(policy: &Policy<'_>, report: &mut Report) {
    if !policy.bindings.is_empty() {
        return;
    }
    let (kind, name) = (policy.origin.name.kind, &policy.origin.name.name);
    let finding = Finding::new(
        &LINT,
        format!("no binding refers to the policy {name:?}: it is never evaluated"),
    );
    let help = format!("add a {kind}Binding with policyName: {name}");
    report.add(&policy.origin, &path("metadata.name"), finding.help(help));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::testing::{check, policy};

    #[test]
    fn bindings_are_expected() {
        let bound = policy("CREATE", "validations: [{expression: 'true'}]");
        check(&LINT, &bound, &[]);
        let unbound = bound.split("---").next().unwrap();
        check(&LINT, unbound, &[("p.static.k8s.io", "never evaluated")]);
    }
}
