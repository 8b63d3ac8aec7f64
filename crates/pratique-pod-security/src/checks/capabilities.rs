//! Linux capabilities.

use pratique_json::Value;

use crate::pod::{Pod, items};
use crate::violation::{FailedContainers, QuotedNames, SortedValues, Violation, detail};

const BASELINE: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

// Upstream: pod-security-admission/policy/check_capabilities_baseline.go, capabilitiesBaseline_1_0
pub(super) fn baseline(pod: &Pod<'_>) -> Option<Violation> {
    let mut added = SortedValues::new();
    let containers = adding(pod, &mut added, |capability| BASELINE.contains(&capability));
    (!containers.is_empty())
        .then(|| Violation::new("non-default capabilities", must_not_add(&containers, &added)))
}

// Upstream: pod-security-admission/policy/check_capabilities_restricted.go, capabilitiesRestricted_1_22 and capabilitiesRestricted_1_25
pub(super) fn restricted(pod: &Pod<'_>) -> Option<Violation> {
    let without_drop = FailedContainers::with(pod, |container| {
        let capabilities = container.context.capabilities;
        !capabilities.is_some_and(|capabilities| listed(capabilities, "drop").any(|dropped| dropped == "ALL"))
    });
    let mut added = SortedValues::new();
    let with_added = adding(pod, &mut added, |capability| capability == "NET_BIND_SERVICE");
    if without_drop.is_empty() && with_added.is_empty() {
        return None;
    }
    let mut details = Vec::new();
    if !without_drop.is_empty() {
        details.push(detail(&[
            &without_drop,
            &r#" must set securityContext.capabilities.drop=["ALL"]"#,
        ]));
    }
    if !with_added.is_empty() {
        details.push(must_not_add(&with_added, &added));
    }
    Some(Violation::new("unrestricted capabilities", details.join("; ")))
}

/// The containers that add capabilities that are not allowed.
fn adding<'a>(
    pod: &Pod<'a>,
    added: &mut SortedValues<'a>,
    is_allowed: impl Fn(&str) -> bool,
) -> FailedContainers<'a> {
    FailedContainers::with(pod, |container| {
        let mut is_bad = false;
        let capabilities = container.context.capabilities;
        for capability in capabilities
            .into_iter()
            .flat_map(|capabilities| listed(capabilities, "add"))
        {
            if !is_allowed(capability) {
                added.insert(capability);
                is_bad = true;
            }
        }
        is_bad
    })
}

fn must_not_add(containers: &FailedContainers<'_>, added: &SortedValues<'_>) -> String {
    detail(&[
        containers,
        &" must not include ",
        &QuotedNames(added),
        &" in securityContext.capabilities.add",
    ])
}

fn listed<'a>(capabilities: &'a Value<'a>, list: &str) -> impl Iterator<Item = &'a str> {
    items(capabilities, list)
        .iter()
        .map(|name| name.as_str().unwrap_or_default())
}
