//! Checks of access to the host: namespaces, ports, processes, addresses that probes reach.

use std::collections::BTreeSet;

use pratique_json::{Value, text_at};

use crate::pod::{Pod, present};
use crate::violation::{
    FailedContainers, FieldSetters, QuotedNames, SortedValues, Violation, detail, plural,
};

// Upstream: pod-security-admission/policy/check_hostNamespaces.go, hostNamespaces_1_0
pub(super) fn namespaces(pod: &Pod<'_>) -> Option<Violation> {
    let shared = [
        (pod.host_network, "hostNetwork=true"),
        (pod.host_pid, "hostPID=true"),
        (pod.host_ipc, "hostIPC=true"),
    ];
    if !shared.iter().any(|(is_shared, _)| *is_shared) {
        return None;
    }
    let shared = shared.iter().filter(|(is_shared, _)| *is_shared);
    let names: Vec<&str> = shared.map(|(_, name)| *name).collect();
    Some(Violation::new("host namespaces", names.join(", ")))
}

// Upstream: pod-security-admission/policy/check_hostPorts.go, hostPorts_1_0
pub(super) fn ports(pod: &Pod<'_>) -> Option<Violation> {
    // The order of ports is that of their texts.
    let mut ports = BTreeSet::new();
    let containers = FailedContainers::with(pod, |container| {
        let mut is_bad = false;
        for port in container.ports {
            let host_port = port.get("hostPort").and_then(Value::as_int).unwrap_or(0);
            if host_port != 0 {
                ports.insert(host_port.to_string());
                is_bad = true;
            }
        }
        is_bad
    });
    if containers.is_empty() {
        return None;
    }
    let word = plural(ports.len(), "hostPort", "hostPorts");
    let ports: Vec<String> = ports.into_iter().collect();
    let uses = containers.uses();
    Some(Violation::new(
        "hostPort",
        detail(&[
            &containers,
            &" ",
            &uses,
            &" ",
            &word,
            &" ",
            &ports.join(", ").as_str(),
        ]),
    ))
}

// Upstream: pod-security-admission/policy/check_hostProbesAndhostLifecycle.go, hostProbesAndHostLifecycleV1Dot34
pub(super) fn probes_and_lifecycle(pod: &Pod<'_>) -> Option<Violation> {
    let mut hosts = SortedValues::new();
    let containers = FailedContainers::with(pod, |container| {
        let mut is_bad = false;
        for handler in container.handlers.into_iter().flatten() {
            for action in ["httpGet", "tcpSocket"] {
                let host = present(handler, action).map_or("", |action| text_at(action, &["host"]));
                if !host.is_empty() {
                    hosts.insert(host);
                    is_bad = true;
                }
            }
        }
        is_bad
    });
    if containers.is_empty() {
        return None;
    }
    // Here containers are a set.
    let sorted: SortedValues<'_> = containers.0.into_iter().collect();
    let containers = FailedContainers(sorted.into_iter().collect());
    let word = plural(hosts.len(), "probe or lifecycle host", "probe or lifecycle hosts");
    let uses = containers.uses();
    Some(Violation::new(
        "probe or lifecycle host",
        detail(&[&containers, &" ", &uses, &" ", &word, &" ", &QuotedNames(&hosts)]),
    ))
}

// Upstream: pod-security-admission/policy/check_windowsHostProcess.go, windowsHostProcess_1_0
pub(super) fn windows_process(pod: &Pod<'_>) -> Option<Violation> {
    let setters = FieldSetters::with(pod, |context| context.host_process);
    (!setters.is_empty()).then(|| {
        let detail = detail(&[
            &setters,
            &" must not set securityContext.windowsOptions.hostProcess=true",
        ]);
        Violation::new("hostProcess", detail)
    })
}
