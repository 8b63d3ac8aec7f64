//! Containers of all three kinds.

use pratique_gotext::validation::dns1123_label;
use pratique_json::Value;
use pratique_types::field::BadValue;

use super::context::PodContext;
use super::env::{validate_env, validate_env_from};
use super::images::validate_pull_policy;
use super::mounts::{validate_devices, validate_mounts};
use super::options::PodOptions;
use super::probes::{validate_lifecycle, validate_probes};
use super::resources::validate_container_resources;
use super::restart_rules::{validate_init_restart_policy, validate_restart_policy};
use super::security_context::validate_security_context;
use crate::errors::{Errors, named};
use crate::member_index::MemberIndex;
use crate::messages::{port_name, port_number};
use crate::node::Node;
use crate::seen_texts::SeenTexts;

// Upstream: pkg/apis/core/validation/validation.go, validateContainers
pub(super) fn validate_containers(pod: &PodContext<'_, '_, '_>, errors: &mut Errors) {
    let containers = pod.spec.child("containers");
    if containers.is_empty() {
        errors.required(containers, "");
        return;
    }
    let mut names = SeenTexts::default();
    for container in containers.items() {
        let index = MemberIndex::new(container.value());
        let container = container.with_index(&index);
        validate_common(&container, pod, errors);
        let name = container.child("name");
        if !names.insert(name.as_text()) {
            errors.duplicate(name, name.as_text());
        }
        validate_lifecycle(&container.child("lifecycle"), pod.spec, errors);
        validate_probes(&container, errors);
        validate_restart_policy(&container, pod.options, errors);
    }
    validate_host_ports(&containers, errors);
}

// Upstream: pkg/apis/core/validation/validation.go, validateInitContainers
pub(super) fn validate_init_containers(pod: &PodContext<'_, '_, '_>, errors: &mut Errors) {
    let mut names = SeenTexts::default();
    for container in pod.spec.child("containers").items() {
        names.insert(container.child("name").as_text());
    }
    let containers = pod.spec.child("initContainers");
    for container in containers.items() {
        let index = MemberIndex::new(container.value());
        let container = container.with_index(&index);
        validate_common(&container, pod, errors);
        let policy = container.child("restartPolicy");
        validate_init_restart_policy(&container, pod.options, errors);
        let is_sidecar = policy.as_text() == "Always";
        let name = container.child("name");
        if names.contains(name.as_text()) {
            errors.duplicate(name, name.as_text());
        } else if !name.as_text().is_empty() {
            names.insert(name.as_text());
        }
        // Each by itself, as they run one after another; so the index in the path is always 0.
        let mut ports = PortsSeen::default();
        add_host_ports(&container, &containers.path().index(0), &mut ports, errors);
        if is_sidecar {
            validate_lifecycle(&container.child("lifecycle"), pod.spec, errors);
            validate_probes(&container, errors);
        } else {
            for name in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
                if container.child(name).is_set() {
                    errors.forbidden(
                        container.child(name),
                        "may not be set for init containers without restartPolicy=Always",
                    );
                }
            }
        }
        // Upstream: pkg/apis/core/validation/validation.go, validateInitContainers: since 1.36.
        if !is_sidecar && !pod.options.restart_container_of_init && errors.release().at_least(1, 36) {
            validate_no_restart(&container, errors);
        }
    }
}

fn validate_no_restart(container: &Node<'_, '_>, errors: &mut Errors) {
    for policy in container.child("resizePolicy").items() {
        let restart = policy.child("restartPolicy");
        if restart.as_text() == "RestartContainer" {
            errors.invalid_name(
                &restart,
                "must not be set to 'RestartContainer' for non-sidecar initContainers",
            );
        }
    }
}

// Upstream: pkg/api/pod/util.go, hasRestartContainerForNonSidecarInitContainer
pub(super) fn has_restart_container_of_init(spec: &Node<'_, '_>) -> bool {
    let mut errors = Errors::default();
    let containers = spec.child("initContainers");
    let others = containers
        .items()
        .filter(|container| container.child("restartPolicy").as_text() != "Always");
    others.for_each(|container| validate_no_restart(&container, &mut errors));
    !errors.is_empty()
}

// Upstream: pkg/apis/core/validation/validation.go, validateEphemeralContainers
pub(super) fn validate_ephemeral_containers(pod: &PodContext<'_, '_, '_>, errors: &mut Errors) {
    let containers = pod.spec.child("ephemeralContainers");
    let (mut others, mut names) = (SeenTexts::default(), SeenTexts::default());
    if !containers.is_empty() {
        for list in ["containers", "initContainers"] {
            for container in pod.spec.child(list).items() {
                others.insert(container.child("name").as_text());
                names.insert(container.child("name").as_text());
            }
        }
    }
    for container in containers.items() {
        let index = MemberIndex::new(container.value());
        let container = container.with_index(&index);
        validate_common(&container, pod, errors);
        validate_image_whitespace(&container, errors);
        let name = container.child("name");
        if !names.insert(name.as_text()) {
            errors.duplicate(name, name.as_text());
        }
        let target = container.child("targetContainerName");
        if !target.as_text().is_empty() && !others.contains(target.as_text()) {
            errors.not_found(target, target.as_text());
        }
        for name in [
            "ports",
            "resources",
            "resizePolicy",
            "restartPolicy",
            "restartPolicyRules",
            "livenessProbe",
            "readinessProbe",
            "startupProbe",
            "lifecycle",
        ] {
            let field = container.child(name);
            // A list without elements is one, but resources without members are none.
            let is_none = !field.is_set()
                || matches!(field.value(), Value::NilArray)
                || (name == "resources" && field.is_empty());
            if !is_none {
                errors.forbidden(field, "cannot be set for an Ephemeral Container");
            }
        }
        for mount in container.child("volumeMounts").items() {
            for name in ["subPath", "subPathExpr"] {
                if !mount.child(name).as_text().is_empty() {
                    errors.forbidden(mount.child(name), "cannot be set for an Ephemeral Container");
                }
            }
        }
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateContainerCommon
fn validate_common(container: &Node<'_, '_>, pod: &PodContext<'_, '_, '_>, errors: &mut Errors) {
    let name = container.child("name");
    if name.as_text().is_empty() {
        errors.required(name, "");
    } else {
        errors.invalid_each(&name, &dns1123_label(name.as_text()));
    }
    if container.child("image").as_text().is_empty() {
        errors.required(container.child("image"), "");
    }
    errors.required_enum(
        &container.child("terminationMessagePolicy"),
        &["File", "FallbackToLogsOnError"],
    );
    validate_ports(&container.child("ports"), errors);
    validate_env(&container.child("env"), errors);
    validate_env_from(&container.child("envFrom"), errors);
    validate_mounts(container, pod, errors);
    validate_devices(container, pod, errors);
    validate_pull_policy(&container.child("imagePullPolicy"), errors);
    validate_container_resources(
        &container.child("resources"),
        Some(&pod.claims),
        pod.options,
        errors,
    );
    validate_resize_policy(container, pod.spec, errors);
    let uses_host_users = pod.spec.child("hostUsers").some_bool() != Some(false);
    validate_security_context(
        &container.child("securityContext"),
        uses_host_users,
        pod.options,
        errors,
    );
}

// Upstream: pkg/apis/core/validation/validation.go, validateContainerPorts
fn validate_ports(ports: &Node<'_, '_>, errors: &mut Errors) {
    let mut names = SeenTexts::default();
    for port in ports.items() {
        let name = port.child("name");
        if !name.as_text().is_empty() {
            let messages = port_name(name.as_text());
            if !messages.is_empty() {
                errors.invalid_each(&name, &messages);
            } else if !names.insert(name.as_text()) {
                errors.duplicate(name, name.as_text());
            }
        }
        let (number, host) = (port.child("containerPort"), port.child("hostPort"));
        if number.int() == 0 {
            errors.required(number, "");
        } else if let Some(message) = port_number(number.int()) {
            errors.invalid(number, number.int(), &message);
        }
        if host.int() != 0
            && let Some(message) = port_number(host.int())
        {
            errors.invalid(host, host.int(), &message);
        }
        errors.required_enum(&port.child("protocol"), &["SCTP", "TCP", "UDP"]);
    }
}

/// The ports of a host that are taken: protocol, address, number.
type PortsSeen<'v> = std::collections::HashSet<(&'v str, &'v str, i64)>;

// Upstream: pkg/apis/core/validation/validation.go, AccumulateUniqueHostPorts
fn validate_host_ports(containers: &Node<'_, '_>, errors: &mut Errors) {
    let mut seen = PortsSeen::default();
    for container in containers.items() {
        add_host_ports(&container, container.path(), &mut seen, errors);
    }
}

fn add_host_ports<'v>(
    container: &Node<'_, 'v>,
    path: &pratique_types::field::Path<'_>,
    seen: &mut PortsSeen<'v>,
    errors: &mut Errors,
) {
    for (index, port) in container.child("ports").items().enumerate() {
        let number = port.child("hostPort").int();
        if number == 0 {
            continue;
        }
        let (protocol, address) = (port.child("protocol").as_text(), port.child("hostIP").as_text());
        if !seen.insert((protocol, address, number)) {
            let ports = path.child("ports");
            let port_text = format!("{protocol}/{address}/{number}");
            errors.duplicate(ports.index(index).child("hostPort"), port_text);
        }
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateResizePolicy
fn validate_resize_policy(container: &Node<'_, '_>, spec: &Node<'_, '_>, errors: &mut Errors) {
    let list = container.child("resizePolicy");
    // Upstream: pkg/apis/core/validation/validation.go, validateResizePolicy: reworded in 1.36.
    let detail = if errors.release().at_least(1, 36) {
        "must be 'NotRequired' when pod `restartPolicy` is 'Never'"
    } else {
        "must be 'NotRequired' when `restartPolicy` is 'Never'"
    };
    let mut resources = SeenTexts::default();
    for policy in list.items() {
        let (resource, restart) = (policy.child("resourceName"), policy.child("restartPolicy"));
        if !resources.insert(resource.as_text()) {
            errors.duplicate(policy, named(resource.as_text()));
        }
        for (value, supported) in [
            (&resource, ["cpu", "memory"]),
            (&restart, ["NotRequired", "RestartContainer"]),
        ] {
            if value.as_text().is_empty() {
                errors.required(list, "");
            } else if !supported.contains(&value.as_text()) {
                let value = named(value.as_text());
                errors.push(pratique_types::field::Error::not_supported(
                    list, value, supported,
                ));
            }
        }
        if spec.child("restartPolicy").as_text() == "Never" && restart.as_text() != "NotRequired" {
            errors.invalid(list, named(restart.as_text()), detail);
        }
    }
}

/// The ports of a Pod in the network of its host.
// Upstream: pkg/apis/core/validation/validation.go, validatePodHostNetworkDeps
pub(super) fn validate_host_network_ports(spec: &Node<'_, '_>, options: PodOptions, errors: &mut Errors) {
    if !spec.child("hostNetwork").is_true() {
        return;
    }
    for container in spec.child("containers").items() {
        for port in container.child("ports").items() {
            let (host, number) = (port.child("hostPort"), port.child("containerPort").int());
            if (options.is_pod || host.int() != 0) && host.int() != number {
                errors.invalid(
                    host,
                    host.int(),
                    "must match `containerPort` when `hostNetwork` is true",
                );
            }
        }
    }
}

/// An image of a Pod, which templates may surround with spaces.
// Upstream: pkg/apis/core/validation/validation.go, validateContainerOnlyForPod
pub(crate) fn validate_image_whitespace(container: &Node<'_, '_>, errors: &mut Errors) {
    let image = container.child("image");
    if image.as_text().trim().len() != image.as_text().len() {
        let value = BadValue::Text(image.as_text().into());
        errors.invalid(image, value, "must not have leading or trailing whitespace");
    }
}
