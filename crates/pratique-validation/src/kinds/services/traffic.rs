//! Which traffic a Service takes, and from where.

use crate::addresses::validate_legacy_cidr;
use crate::errors::Errors;
use crate::kinds::Request;
use crate::messages::port_number;
use crate::node::Node;

/// Whether a Service can be reached from outside of the cluster.
// Upstream: pkg/api/service/util.go, ExternallyAccessible
fn is_external(spec: &Node<'_, '_>) -> bool {
    match spec.child("type").as_text() {
        "LoadBalancer" | "NodePort" => true,
        "ClusterIP" => !spec.child("externalIPs").is_empty(),
        _ => false,
    }
}

// Upstream: pkg/api/service/util.go, NeedsHealthCheck
pub(super) fn needs_health_check(spec: &Node<'_, '_>) -> bool {
    spec.child("type").as_text() == "LoadBalancer" && spec.child("externalTrafficPolicy").as_text() == "Local"
}

// Upstream: pkg/apis/core/validation/validation.go, validateServiceExternalTrafficPolicy
pub(super) fn validate_external_traffic(spec: &Node<'_, '_>, errors: &mut Errors) {
    let (policy, port) = (
        spec.child("externalTrafficPolicy"),
        spec.child("healthCheckNodePort"),
    );
    if is_external(spec) {
        errors.required_enum(&policy, &["Cluster", "Local"]);
    } else if !policy.as_text().is_empty() {
        errors.invalid_name(&policy, "may only be set for externally-accessible services");
    }
    if !needs_health_check(spec) {
        if port.int() != 0 {
            errors.invalid(
                port,
                port.int(),
                "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
            );
        }
    } else if port.int() == 0 {
        errors.required(port, "");
    } else if let Some(message) = port_number(port.int()) {
        errors.invalid(port, port.int(), &message);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateServiceInternalTrafficFieldsValue,
// validateServiceTrafficDistribution
pub(super) fn validate_internal_traffic(spec: &Node<'_, '_>, errors: &mut Errors) {
    const DISTRIBUTIONS: &[&str] = &["PreferClose", "PreferSameZone", "PreferSameNode"];
    let policy = spec.child("internalTrafficPolicy");
    let kind = spec.child("type").as_text();
    if !policy.is_set() {
        if ["NodePort", "LoadBalancer", "ClusterIP"].contains(&kind) {
            errors.required(policy, "");
        }
    } else if !["Cluster", "Local"].contains(&policy.as_text()) {
        errors.not_supported(&policy, &["Cluster", "Local"]);
    }
    let distribution = spec.child("trafficDistribution");
    if distribution.is_set() && !DISTRIBUTIONS.contains(&distribution.as_text()) {
        errors.unsupported_text(&distribution, DISTRIBUTIONS);
    }
}

pub(super) fn validate_source_ranges(request: &Request<'_>, errors: &mut Errors) {
    const ANNOTATION: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";
    const DETAIL: &str = "may only be used when `type` is 'LoadBalancer'";
    let (spec, old) = (request.object.child("spec"), request.old.child("spec"));
    let balances = spec.child("type").as_text() == "LoadBalancer";
    let ranges = spec.child_as("loadBalancerSourceRanges", "LoadBalancerSourceRanges");
    let metadata = request.object.child("metadata");
    let annotations = metadata.child("annotations");
    let annotation = annotations.key(ANNOTATION);
    if !ranges.is_empty() {
        if !balances {
            errors.forbidden(ranges, DETAIL);
        }
        let old = old.child("loadBalancerSourceRanges");
        for range in ranges.items() {
            let text = range.as_text().trim();
            if !old.items().any(|old| old.as_text().trim() == text) {
                validate_legacy_cidr(&range, text, errors);
            }
        }
    } else if annotation.is_set() {
        if !balances {
            errors.forbidden(annotation, DETAIL);
        }
        let old_metadata = request.old.child("metadata");
        let old = old_metadata.child("annotations");
        let text = annotation.as_text().trim();
        let is_new = !old.key(ANNOTATION).is_set() || old.key(ANNOTATION).as_text() != annotation.as_text();
        for range in text.split(',').filter(|_| is_new && !text.is_empty()) {
            validate_legacy_cidr(&annotation, range.trim(), errors);
        }
    }
}
