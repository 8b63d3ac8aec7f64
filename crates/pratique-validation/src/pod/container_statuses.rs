//! The statuses of a Pod's containers.

use pratique_types::field::Error;

use crate::errors::{Errors, named};
use crate::gates::FeatureSet;
use crate::messages::{inclusive_range, unix_id};
use crate::node::Node;
use crate::quantities::quantity;
use crate::seen_texts::SeenTexts;

/// Containers that ended do not run again, unless they are to be restarted.
// Upstream: pkg/apis/core/validation/validation.go, ValidateContainerStateTransition, ValidateInitContainerStateTransition,
// ValidateEphemeralContainerStateTransition
pub(super) fn validate_transitions(
    status: &Node<'_, '_>,
    old: &Node<'_, '_>,
    spec: &Node<'_, '_>,
    gates: FeatureSet,
    errors: &mut Errors,
) {
    let has_action = gates.has_restart_rules && gates.restarts_all_containers;
    let restarts_all = has_action
        && ["initContainers", "containers"].iter().any(|list| {
            spec.child(list).items().any(|container| {
                container
                    .child("restartPolicyRules")
                    .items()
                    .any(|rule| rule.child("action").as_text() == "RestartAllContainers")
            })
        });
    let lists = [
        ("containerStatuses", Some("containers")),
        ("initContainerStatuses", Some("initContainers")),
        ("ephemeralContainerStatuses", None),
    ];
    for (list, containers) in lists {
        if containers.is_some() && restarts_all {
            continue;
        }
        let (new, old) = (status.child(list), old.child(list));
        validate_transitions_of((&new, &old), spec, containers, gates, errors);
    }
}

fn validate_transitions_of(
    (statuses, old_statuses): (&Node<'_, '_>, &Node<'_, '_>),
    spec: &Node<'_, '_>,
    containers: Option<&str>,
    gates: FeatureSet,
    errors: &mut Errors,
) {
    let is_terminated = |status: &Node<'_, '_>| status.child("state").child("terminated").is_set();
    for (at, old) in old_statuses.items().enumerate() {
        if !is_terminated(&old) {
            continue;
        }
        let runs_again = |status: &Node<'_, '_>| {
            status.child("name").as_text() == old.child("name").as_text() && !is_terminated(status)
        };
        let state = old.child("state");
        let exit_code = state.child("terminated").child("exitCode").int();
        for _ in statuses.items().filter(runs_again) {
            let name = old.child("name").as_text();
            let restarts = containers.is_some_and(|list| {
                if gates.has_restart_rules {
                    is_to_be_restarted(spec, list, name, exit_code, gates)
                } else {
                    restarts_by_policy_alone(spec, list, name, exit_code)
                }
            });
            if !restarts {
                let element = statuses.path().index(at);
                errors.forbidden(
                    element.child("state").to_string(),
                    "may not be transitioned to non-terminated state",
                );
            }
            // Containers with rules of their own are looked at once; the others as often as they occur.
            if containers.is_some() && gates.has_restart_rules {
                break;
            }
        }
    }
}

/// Whether a container is started again after it ended with a code.
// Upstream: pkg/api/v1/pod/util.go, ContainerShouldRestart
fn is_to_be_restarted(
    spec: &Node<'_, '_>,
    list: &str,
    name: &str,
    exit_code: i64,
    gates: FeatureSet,
) -> bool {
    let list = spec.child(list);
    let mut containers = list.items();
    let Some(container) = containers.find(|container| container.child("name").as_text() == name) else {
        return false;
    };
    let by_policy = |policy: &str| match policy {
        "Never" => Some(false),
        "OnFailure" => Some(exit_code != 0),
        "Always" => Some(true),
        _ => None,
    };
    let own_policy = container.child("restartPolicy");
    if own_policy.is_set() {
        let action = matching_action(&container, exit_code);
        let restarts = match action {
            Some("Restart") => true,
            Some("RestartAllContainers") => gates.restarts_all_containers,
            _ => false,
        };
        if restarts {
            return true;
        }
        if let Some(restarts) = by_policy(own_policy.as_text()) {
            return restarts;
        }
    }
    by_policy(spec.child("restartPolicy").as_text()).unwrap_or(true)
}

/// The same where containers have no rules of their own: the policy of the Pod decides, and sidecars always run again.
fn restarts_by_policy_alone(spec: &Node<'_, '_>, list: &str, name: &str, exit_code: i64) -> bool {
    let is_sidecar = |container: &Node<'_, '_>| {
        container.child("name").as_text() == name && container.child("restartPolicy").as_text() == "Always"
    };
    match spec.child("restartPolicy").as_text() {
        "Always" => true,
        "OnFailure" if exit_code != 0 => true,
        _ => list == "initContainers" && spec.child(list).items().any(|container| is_sidecar(&container)),
    }
}

/// The action of the first rule that is about an exit code.
// Upstream: pkg/api/v1/pod/util.go, FindMatchingContainerRestartRule
fn matching_action<'v>(container: &Node<'_, 'v>, exit_code: i64) -> Option<&'v str> {
    let rules = container.child("restartPolicyRules");
    rules
        .items()
        .find(|rule| {
            let codes = rule.child("exitCodes");
            let is_listed = codes
                .child("values")
                .items()
                .any(|value| value.int() == exit_code);
            match codes.child("operator").as_text() {
                "In" => is_listed,
                "NotIn" => !is_listed,
                _ => false,
            }
        })
        .map(|rule| rule.child("action").as_text())
}

pub(super) fn validate_container_statuses(status: &Node<'_, '_>, spec: &Node<'_, '_>, errors: &mut Errors) {
    const LISTS: [&str; 3] = [
        "containerStatuses",
        "initContainerStatuses",
        "ephemeralContainerStatuses",
    ];
    let os = spec.child("os");
    for list in LISTS {
        validate_users(&status.child(list), &os, errors);
    }
    for (list, containers) in [
        ("containerStatuses", "containers"),
        ("initContainerStatuses", "initContainers"),
    ] {
        let extended = status.child("extendedResourceClaimStatus");
        validate_allocated(&status.child(list), &spec.child(containers), &extended, errors);
    }
    for status in status.child("ephemeralContainerStatuses").items() {
        let allocated = status.child("allocatedResourcesStatus");
        if !allocated.is_empty() {
            errors.forbidden(allocated, "must not be specified in container status");
        }
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateContainerStatusUsers
fn validate_users(statuses: &Node<'_, '_>, os: &Node<'_, '_>, errors: &mut Errors) {
    for status in statuses.items() {
        let user = status.child("user");
        let linux = user.child("linux");
        if !linux.is_set() {
            continue;
        }
        match os.child("name").as_text() {
            "windows" => errors.forbidden(linux, "cannot be set for a windows pod"),
            "linux" => validate_linux_user(&linux, errors),
            _ if !os.is_set() => validate_linux_user(&linux, errors),
            _ => {}
        }
    }
}

fn validate_linux_user(user: &Node<'_, '_>, errors: &mut Errors) {
    let (uid, max) = (user.child("uid"), i64::from(u32::MAX));
    // Upstream: pkg/apis/core/validation/validation.go, validateContainerStatusUsers: ids beyond 31 bits since 1.37.
    if !errors.release().at_least(1, 37) {
        if let Some(message) = unix_id(uid.int()) {
            errors.invalid(uid, uid.int(), &message);
        }
    } else if !(0..=max).contains(&uid.int()) {
        errors.invalid(uid, uid.int(), &inclusive_range(0, max));
    }
    let (gid, groups) = (user.child("gid"), user.child("supplementalGroups"));
    for group in std::iter::once(gid).chain(groups.items()) {
        if let Some(message) = unix_id(group.int()) {
            errors.invalid(group, group.int(), &message);
        }
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateContainerStatusAllocatedResourcesStatus
fn validate_allocated(
    statuses: &Node<'_, '_>,
    containers: &Node<'_, '_>,
    extended: &Node<'_, '_>,
    errors: &mut Errors,
) {
    for status in statuses.items() {
        let name = status.child("name").as_text();
        for allocated in status.child("allocatedResourcesStatus").items() {
            let mut containers = containers.items();
            if let Some(container) = containers.find(|container| container.child("name").as_text() == name) {
                validate_allocated_name(&allocated.child("name"), &container, extended, errors);
            }
            validate_devices(&allocated.child("resources"), errors);
        }
    }
}

fn validate_allocated_name(
    name: &Node<'_, '_>,
    container: &Node<'_, '_>,
    extended: &Node<'_, '_>,
    errors: &mut Errors,
) {
    let resources = container.child("resources");
    let Some(claim) = name.as_text().strip_prefix("claim:") else {
        if !resources.child("requests").key(name.as_text()).is_set() {
            errors.invalid_name(name, "must match one of the container's resource requests");
        }
        return;
    };
    let is_claimed = resources.child("claims").items().any(|of| {
        let (name, request) = (of.child("name").as_text(), of.child("request").as_text());
        match claim.split_once('/') {
            Some(parts) if !request.is_empty() => parts == (name, request),
            _ => request.is_empty() && claim == name,
        }
    });
    // Upstream: pkg/apis/core/validation/validation.go, validateContainerStatusAllocatedResourcesStatus: reworded in 1.37, and
    // claims of extended resources with it.
    if !errors.release().at_least(1, 37) {
        if !is_claimed {
            errors.invalid_name(
                name,
                "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or \
                 'claim:<claimName>' if request is empty",
            );
        }
        return;
    }
    if !is_claimed && !matches_extended_claim(claim, container, extended) {
        errors.invalid_name(
            name,
            "must match one of the container's resource claims as 'claim:<claimName>/<requestName>' when \
             container.resources.claims[*].request is set or 'claim:<claimName>' when it is empty",
        );
    }
}

// Upstream: pkg/apis/core/validation/validation.go, matchesExtendedResourceClaimStatus
fn matches_extended_claim(claim: &str, container: &Node<'_, '_>, extended: &Node<'_, '_>) -> bool {
    let Some((name, request)) = claim.split_once('/') else {
        return false;
    };
    if name.is_empty() || request.is_empty() || extended.child("resourceClaimName").as_text() != name {
        return false;
    }
    let resources = container.child("resources");
    let requests = resources.child("requests");
    extended.child("requestMappings").items().any(|mapping| {
        mapping.child("containerName").as_text() == container.child("name").as_text()
            && mapping.child("requestName").as_text() == request
            && !quantity(&requests.key(mapping.child("resourceName").as_text())).is_zero()
    })
}

fn validate_devices(devices: &Node<'_, '_>, errors: &mut Errors) {
    const HEALTH: &[&str] = &["Healthy", "Unhealthy", "Unknown"];
    const MAX_MESSAGE: usize = 1024;
    let mut ids = SeenTexts::default();
    for device in devices.items() {
        let (health, message) = (device.child("health"), device.child("message"));
        if !HEALTH.contains(&health.as_text()) {
            errors.push(Error::not_supported(health, named(health.as_text()), HEALTH));
        }
        if message.is_set() && message.as_text().is_empty() {
            errors.required(message, "must be non-empty if specified");
        } else if message.as_text().len() > MAX_MESSAGE {
            errors.too_long(message, 1024);
        }
        let id = device.child("resourceID");
        if !ids.insert(id.as_text()) {
            errors.duplicate(id, named(id.as_text()));
        }
    }
}
