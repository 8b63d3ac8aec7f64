//! When containers are started again after they ended.

use super::options::PodOptions;
use crate::errors::Errors;
use crate::node::Node;

/// The policy of a container of its own.
// Upstream: pkg/apis/core/validation/validation.go, validateContainers
pub(super) fn validate_restart_policy(container: &Node<'_, '_>, options: PodOptions, errors: &mut Errors) {
    let policy = container.child("restartPolicy");
    if options.restart_rules {
        validate_rules(container, options, errors);
    } else if policy.is_set() {
        errors.forbidden(policy, "may not be set for non-init containers");
    }
}

/// That of a container that runs before the others, or beside them.
// Upstream: pkg/apis/core/validation/validation.go, validateInitContainerRestartPolicy
pub(super) fn validate_init_restart_policy(
    container: &Node<'_, '_>,
    options: PodOptions,
    errors: &mut Errors,
) {
    let (policy, rules) = (
        container.child("restartPolicy"),
        container.child("restartPolicyRules"),
    );
    let is_sidecar = policy.as_text() == "Always";
    if !policy.is_set() {
        // Since 1.35.
        if !rules.is_empty() && errors.release().at_least(1, 35) {
            errors.required(policy, "must specify restartPolicy when restart rules are used");
        }
    } else if !options.restart_rules {
        if !is_sidecar {
            errors.not_supported(&policy, &["Always"]);
        }
    } else if !is_sidecar || options.restart_all_containers {
        validate_rules(container, options, errors);
    } else if !rules.is_empty() {
        errors.forbidden(
            rules,
            "restartPolicyRules are not allowed for init containers with restart policy Always",
        );
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateContainerRestartPolicy
fn validate_rules(container: &Node<'_, '_>, options: PodOptions, errors: &mut Errors) {
    const ONE: &[&str] = &["Restart"];
    const ACTIONS: &[&str] = &["Restart", "RestartAllContainers"];
    let (policy, rules) = (
        container.child("restartPolicy"),
        container.child("restartPolicyRules"),
    );
    if !policy.is_set() {
        if rules.is_empty() {
            return;
        }
        errors.required(policy, "must specify restartPolicy when restart rules are used");
    } else if !["Always", "Never", "OnFailure"].contains(&policy.as_text()) {
        errors.not_supported(&policy, &["Always", "Never", "OnFailure"]);
    }
    validate_count(&rules, 20, errors);
    let allowed = if options.restart_all_containers {
        ACTIONS
    } else {
        ONE
    };
    // Before 1.36, errors name one action only.
    let supported = if errors.release().at_least(1, 36) {
        allowed
    } else {
        ONE
    };
    for rule in rules.items() {
        let (action, codes) = (rule.child("action"), rule.child("exitCodes"));
        if !allowed.contains(&action.as_text()) {
            errors.not_supported(&action, supported);
        }
        if !codes.is_set() {
            errors.required(codes, "must be specified");
            continue;
        }
        let operator = codes.child("operator");
        if !["In", "NotIn"].contains(&operator.as_text()) {
            errors.not_supported(&operator, &["In", "NotIn"]);
        }
        validate_count(&codes.child("values"), 255, errors);
    }
}

/// Before 1.36, a list of too many was called too long.
fn validate_count(list: &Node<'_, '_>, max: usize, errors: &mut Errors) {
    let limit = i64::try_from(max).unwrap_or(i64::MAX);
    if list.len() <= max {
        return;
    }
    if errors.release().at_least(1, 36) {
        errors.too_many(list, limit);
    } else {
        errors.too_long(list, limit);
    }
}

/// Whether containers of an old Pod have policies of their own.
// Upstream: pkg/api/pod/util.go, containerRestartRulesInUse
pub(super) fn has_restart_rules(spec: &Node<'_, '_>) -> bool {
    let is_of_rules = |container: &Node<'_, '_>| {
        let policy = container.child("restartPolicy");
        (policy.is_set() && policy.as_text() != "Always") || !container.child("restartPolicyRules").is_empty()
    };
    spec.child("initContainers")
        .items()
        .any(|container| is_of_rules(&container))
        || spec
            .child("containers")
            .items()
            .any(|container| container.child("restartPolicy").is_set())
}

/// Whether a container of an old Pod starts all of them again.
// Upstream: pkg/api/pod/util.go, restartAllContainersActionInUse
pub(super) fn restarts_all_containers(spec: &Node<'_, '_>) -> bool {
    let has_action = |container: &Node<'_, '_>| {
        let rules = container.child("restartPolicyRules");
        rules
            .items()
            .any(|rule| rule.child("action").as_text() == "RestartAllContainers")
    };
    let is_sidecar_with_rules = |container: &Node<'_, '_>| {
        container.child("restartPolicy").as_text() == "Always"
            && !container.child("restartPolicyRules").is_empty()
    };
    let (containers, of_init) = (spec.child("containers"), spec.child("initContainers"));
    containers.items().any(|container| has_action(&container))
        || of_init
            .items()
            .any(|container| has_action(&container) || is_sidecar_with_rules(&container))
}
