//! The users that containers run as.

use crate::pod::Pod;
use crate::violation::{FailedContainers, FieldSetters, Violation, detail};

// Upstream: pod-security-admission/policy/check_runAsNonRoot.go, runAsNonRoot1_0 and runAsNonRoot1_35
pub(super) fn non_root(pod: &Pod<'_>) -> Option<Violation> {
    const REASON: &str = "runAsNonRoot != true";
    let setters = FieldSetters::with(pod, |context| context.run_as_non_root == Some(false));
    if !setters.is_empty() {
        let detail = detail(&[&setters, &" must not set securityContext.runAsNonRoot=false"]);
        return Some(Violation::new(REASON, detail));
    }
    if pod.context.run_as_non_root == Some(true) {
        return None;
    }
    let containers = FailedContainers::with(pod, |container| container.context.run_as_non_root.is_none());
    (!containers.is_empty()).then(|| {
        let detail = detail(&[
            &"pod or ",
            &containers,
            &" must set securityContext.runAsNonRoot=true",
        ]);
        Violation::new(REASON, detail)
    })
}

// Upstream: pod-security-admission/policy/check_runAsUser.go, runAsUser1_23 and runAsUser1_35
pub(super) fn user(pod: &Pod<'_>) -> Option<Violation> {
    let setters = FieldSetters::with(pod, |context| context.runs_as_root);
    (!setters.is_empty())
        .then(|| Violation::new("runAsUser=0", detail(&[&setters, &" must not set runAsUser=0"])))
}
