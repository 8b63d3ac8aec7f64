//! The specification of a Pod, in the server's order.

use pratique_gotext::validation::{dns1123_label, dns1123_subdomain};
use pratique_types::field::Error;

use super::affinity::validate_affinity;
use super::containers::{
    validate_containers, validate_ephemeral_containers, validate_host_network_ports, validate_init_containers,
};
use super::context::PodContext;
use super::env::validate_file_volumes;
use super::network::{
    validate_dns_config, validate_host_aliases, validate_host_name, validate_host_users,
    validate_readiness_gates, validate_scheduling_gates,
};
use super::options::PodOptions;
use super::resource_claims::validate_resource_claims;
use super::resources::{validate_overhead, validate_pod_resources};
use super::security_context::{
    validate_pod_security_context, validate_privileged_profiles, validate_shared_processes,
};
use super::tolerations::validate_tolerations;
use super::topology::validate_topology_spread;
use super::volumes::validate_volumes;
use super::windows::{validate_host_process, validate_os};
use crate::errors::{Errors, named};
use crate::messages::{inclusive_range, subdomain_name};
use crate::node::Node;
use crate::seen_texts::SeenTexts;
use crate::selector::validate_labels;

/// Where a specification comes from.
#[derive(Clone, Copy, Default)]
pub(crate) struct SpecOrigin<'o, 'p, 'v> {
    /// The metadata of the Pod, if it is one.
    pub(crate) metadata: Option<&'o Node<'p, 'v>>,
    /// The claims that a StatefulSet adds. Then its names for the Pods count, not those of the template.
    pub(crate) claim_templates: Option<&'o Node<'p, 'v>>,
}

// Upstream: pkg/apis/core/validation/validation.go, ValidatePodSpec
pub(crate) fn validate_pod_spec<'v>(
    spec: &Node<'_, 'v>,
    origin: SpecOrigin<'_, '_, 'v>,
    options: PodOptions,
    errors: &mut Errors,
) {
    let grace_period = spec.child("terminationGracePeriodSeconds");
    if !grace_period.is_set() {
        errors.required(grace_period, "");
    }
    let pod_name = origin
        .metadata
        .map_or("", |metadata| metadata.child("name").as_text());
    let volumes = validate_volumes(spec, pod_name, origin.claim_templates, options, errors);
    let mut claims = SeenTexts::default();
    for claim in spec.child("resourceClaims").items() {
        if !claim.child("name").as_text().is_empty() {
            claims.insert(claim.child("name").as_text());
        }
    }
    validate_resource_claims(spec, origin.metadata, errors);
    let pod = PodContext {
        spec,
        volumes,
        claims,
        options,
    };
    validate_containers(&pod, errors);
    validate_init_containers(&pod, errors);
    validate_ephemeral_containers(&pod, errors);
    validate_pod_resources(spec, &pod.claims, options, errors);
    validate_host_network_ports(spec, options, errors);
    validate_policies(spec, errors);
    validate_labels(&spec.child("nodeSelector"), errors);
    validate_pod_security_context(spec, options, errors);
    validate_privileged_profiles(spec, options, errors);
    // Upstream: pkg/apis/core/types.go: before 1.37, the field was one of the security context; see there.
    if errors.release().at_least(1, 37) {
        validate_shared_processes(spec, &spec.child("shareProcessNamespace"), errors);
    }
    validate_affinity(&spec.child("affinity"), options, errors);
    validate_dns_config(spec, errors);
    validate_readiness_gates(&spec.child("readinessGates"), errors);
    validate_scheduling_gates(&spec.child("schedulingGates"), errors);
    validate_topology_spread(&spec.child("topologySpreadConstraints"), options, errors);
    validate_host_process(spec, errors);
    validate_host_users(spec, options, errors);
    validate_host_name(spec, errors);
    validate_names(spec, origin.claim_templates.is_some(), errors);
    validate_tolerations(&spec.child("tolerations"), options, errors);
    validate_host_aliases(&spec.child("hostAliases"), errors);
    validate_classes(spec, errors);
    let overhead = spec.child("overhead");
    if overhead.is_set() {
        validate_overhead(&overhead, options, errors);
    }
    validate_os(spec, errors);
    validate_scheduling_group(spec, errors);
    validate_file_volumes(spec, origin.claim_templates, errors);
}

fn validate_policies(spec: &Node<'_, '_>, errors: &mut Errors) {
    errors.required_enum(&spec.child("restartPolicy"), &["Always", "OnFailure", "Never"]);
    errors.required_enum(
        &spec.child("dnsPolicy"),
        &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"],
    );
}

fn validate_names(spec: &Node<'_, '_>, is_of_set: bool, errors: &mut Errors) {
    let (account, old_account) = (
        spec.child("serviceAccountName"),
        spec.child_as("serviceAccount", "deprecatedServiceAccount"),
    );
    if !account.as_text().is_empty() {
        errors.invalid_each(&account, &subdomain_name(account.as_text(), false));
    }
    // Upstream: pkg/apis/core/validation/validation.go, ValidatePodSpec: before 1.37, it was not looked at.
    if old_account.as_text() != account.as_text() && errors.release().at_least(1, 37) {
        let quoted = pratique_gotext::strconv::quote(account.as_text());
        errors.invalid_or_empty(
            &old_account,
            &format!("must be the same as serviceAccountName: {quoted}"),
        );
    }
    let node = spec.child("nodeName");
    if !node.as_text().is_empty() {
        errors.invalid_each(&node, &subdomain_name(node.as_text(), false));
    }
    let deadline = spec.child("activeDeadlineSeconds");
    let max = i64::from(i32::MAX);
    if let Some(seconds) = deadline.some_int()
        && !(1..=max).contains(&seconds)
    {
        errors.invalid(deadline, seconds, &inclusive_range(1, max));
    }
    if is_of_set {
        return;
    }
    for name in ["hostname", "subdomain"] {
        let name = spec.child(name);
        if !name.as_text().is_empty() {
            errors.invalid_each(&name, &dns1123_label(name.as_text()));
        }
    }
}

/// The group with which a Pod is scheduled.
// Upstream: pkg/apis/core/validation/validation.go, validateSchedulingGroup
fn validate_scheduling_group(spec: &Node<'_, '_>, errors: &mut Errors) {
    let group = spec.child("schedulingGroup");
    if !group.is_set() {
        return;
    }
    let name = group.child("podGroupName");
    if name.is_set() {
        errors.invalid_each(&name, &subdomain_name(name.as_text(), false));
    } else {
        errors.invalid_value(&name, "must specify one of: `podGroupName`");
    }
    if !spec.child("evictionResponders").is_empty() {
        errors.forbidden(group, "may not be set when evictionResponders is set");
    }
}

fn validate_classes(spec: &Node<'_, '_>, errors: &mut Errors) {
    let priority = spec.child("priorityClassName");
    if !priority.as_text().is_empty() {
        errors.invalid_each(&priority, &subdomain_name(priority.as_text(), false));
    }
    let runtime = spec.child("runtimeClassName");
    if runtime.is_set() {
        for message in dns1123_subdomain(runtime.as_text()) {
            errors.invalid_or_empty(&runtime, &message);
        }
    }
    let preemption = spec.child("preemptionPolicy");
    if preemption.is_set() {
        validate_preemption_policy(&preemption, errors);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidatePreemptionPolicy
pub(crate) fn validate_preemption_policy(policy: &Node<'_, '_>, errors: &mut Errors) {
    const POLICIES: &[&str] = &["PreemptLowerPriority", "Never"];
    if policy.as_text().is_empty() {
        errors.required(policy, "");
    } else if !POLICIES.contains(&policy.as_text()) {
        errors.push(Error::not_supported(policy, named(policy.as_text()), POLICIES));
    }
}
