//! Privileged containers, privilege escalation, and what containers see of `/proc`.

use crate::pod::Pod;
use crate::violation::{FailedContainers, QuotedNames, SortedValues, Violation, detail};

// Upstream: pod-security-admission/policy/check_privileged.go, privileged_1_0
pub(super) fn privileged(pod: &Pod<'_>) -> Option<Violation> {
    let containers = FailedContainers::with(pod, |container| container.context.privileged);
    (!containers.is_empty()).then(|| {
        let detail = detail(&[&containers, &" must not set securityContext.privileged=true"]);
        Violation::new("privileged", detail)
    })
}

// Upstream: pod-security-admission/policy/check_allowPrivilegeEscalation.go, allowPrivilegeEscalation_1_8 and allowPrivilegeEscalation_1_25
pub(super) fn escalation(pod: &Pod<'_>) -> Option<Violation> {
    let containers = FailedContainers::with(pod, |container| {
        container.context.allow_privilege_escalation != Some(false)
    });
    (!containers.is_empty()).then(|| {
        let detail = detail(&[
            &containers,
            &" must set securityContext.allowPrivilegeEscalation=false",
        ]);
        Violation::new("allowPrivilegeEscalation != false", detail)
    })
}

// Upstream: pod-security-admission/policy/check_procMount_baseline.go, procMount_1_0 and procMount1_35baseline
pub(super) fn proc_mount(pod: &Pod<'_>) -> Option<Violation> {
    let mut types = SortedValues::new();
    let containers = FailedContainers::with(pod, |container| match container.context.proc_mount {
        None | Some("Default") => false,
        Some(other) => {
            types.insert(other);
            true
        }
    });
    (!containers.is_empty()).then(|| {
        let detail = detail(&[
            &containers,
            &" must not set securityContext.procMount to ",
            &QuotedNames(&types),
        ]);
        Violation::new("procMount", detail)
    })
}
