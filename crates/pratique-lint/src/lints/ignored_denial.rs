//! Policies that deny, but admit requests for which they fail.

use pratique_manifest::Kind;

use crate::lint::Lint;
use crate::report::{Finding, Report};
use crate::subject::{Policy, path};

pub(crate) const LINT: Lint = Lint {
    name: "ignored-denial",
    summary: "A policy with failurePolicy Ignore is bound with Deny: where an expression fails, nothing is denied.",
};

pub(crate) fn check(policy: &Policy<'_>, report: &mut Report) {
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
    let finding =
        Finding::new(&LINT, message).help("use failurePolicy: Fail, or bind with [Audit] or [Warn]");
    report.add(&policy.origin, &path("spec.failurePolicy"), finding);
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
            &LINT,
            &ignoring,
            &[("Ignore", "binding \"b.static.k8s.io\" denies")],
        );
        check(&LINT, &ignoring.replace("[Deny]", "[Audit, Warn]"), &[]);
        check(&LINT, &ignoring.replace("Ignore", "Fail"), &[]);
    }
}
