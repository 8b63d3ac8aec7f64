//! Warnings about Services, their endpoints and NetworkPolicies.

use pratique_json::Value;
use pratique_schema::Release;

use super::addresses::{of_address, of_addresses, of_network, of_networks};
use crate::object;

fn when(applies: bool, message: &str) -> Option<String> {
    applies.then(|| message.to_owned())
}

// Upstream: pkg/api/service/warnings.go, GetWarningsForService
pub(super) fn service(object: &Value<'_>, release: &Release) -> Vec<String> {
    const HINTS: &str = "service.kubernetes.io/topology-aware-hints";
    const RANGES: &str = "loadBalancerSourceRanges";
    let text = |name: &str| object::text(object, &["spec", name]);
    let is_headless = text("type") == "ClusterIP" && text("clusterIP") == "None";
    let has_external = !object::list(object, &["spec", "externalIPs"]).is_empty();
    let is_name = text("type") == "ExternalName";
    let mut warnings = Vec::new();
    warnings.extend(when(
        object::has(object, &["metadata", "annotations", HINTS]),
        &format!("annotation {HINTS} is deprecated, please use service.kubernetes.io/topology-mode instead"),
    ));
    if !matches!(text("clusterIP"), "" | "None") {
        if object::list(object, &["spec", "clusterIPs"]).is_empty() {
            // The server fills the list of a Service that it reads.
            // Upstream: pkg/registry/core/service/storage/storage.go, defaultOnReadService
            warnings.extend(of_address("spec.clusterIPs[0]", text("clusterIP")));
        }
        warnings.extend(of_addresses("spec.clusterIPs", object, &["spec", "clusterIPs"]));
    }
    if is_headless {
        warnings.extend(when(
            !text("loadBalancerIP").is_empty(),
            "spec.loadBalancerIP is ignored for headless services",
        ));
        warnings.extend(when(
            has_external,
            "spec.externalIPs is ignored for headless services",
        ));
        warnings.extend(when(
            text("sessionAffinity") != "None",
            "spec.SessionAffinity is ignored for headless services",
        ));
    }
    warnings.extend(of_addresses("spec.externalIPs", object, &["spec", "externalIPs"]));
    // Upstream: pkg/api/service/warnings.go, since 1.36
    let is_deprecated = release.at_least(1, 36);
    warnings.extend(when(
        has_external && !is_headless && !is_name && is_deprecated,
        "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
    ));
    warnings.extend(of_address("spec.loadBalancerIP", text("loadBalancerIP")));
    warnings.extend(of_networks(
        format_args!("spec.{RANGES}"),
        object,
        &["spec", RANGES],
    ));
    warnings.extend(when(
        has_external && is_name,
        "spec.externalIPs is ignored when spec.type is \"ExternalName\"",
    ));
    warnings.extend(when(
        !is_name && !text("externalName").is_empty(),
        "spec.externalName is ignored when spec.type is not \"ExternalName\"",
    ));
    // Upstream: pkg/api/service/warnings.go, since 1.35
    let is_deprecated = release.at_least(1, 35);
    warnings.extend(when(
        text("trafficDistribution") == "PreferClose" && is_deprecated,
        "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"",
    ));
    warnings
}

// Upstream: pkg/registry/core/endpoint/strategy.go, endpointsWarnings
pub(super) fn endpoints(object: &Value<'_>) -> Vec<String> {
    const MANAGED_BY: &str = "endpoints.kubernetes.io/managed-by";
    if object::text(object, &["metadata", "labels", MANAGED_BY]) == "endpoint-controller" {
        return Vec::new();
    }
    let mut warnings = Vec::new();
    for (index, subset) in object::list(object, &["subsets"]).iter().enumerate() {
        for list in ["addresses", "notReadyAddresses"] {
            for (at, address) in object::list(subset, &[list]).iter().enumerate() {
                let path = format!("subsets[{index}].{list}[{at}].ip");
                warnings.extend(of_address(&path, object::text(address, &["ip"])));
            }
        }
    }
    warnings
}

// Upstream: pkg/registry/discovery/endpointslice/strategy.go, WarningsOnCreate, WarningsOnUpdate
pub(super) fn endpoint_slice(object: &Value<'_>, is_update: bool) -> Vec<String> {
    const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
    const CONTROLLERS: [&str; 2] = [
        "endpointslice-controller.k8s.io",
        "endpointslicemirroring-controller.k8s.io",
    ];
    let mut warnings = Vec::new();
    warnings.extend(when(
        !is_update && object::text(object, &["addressType"]) == "FQDN",
        "spec.addressType: FQDN endpoints are deprecated",
    ));
    if CONTROLLERS.contains(&object::text(object, &["metadata", "labels", MANAGED_BY])) {
        return warnings;
    }
    for (index, endpoint) in object::list(object, &["endpoints"]).iter().enumerate() {
        let path = format!("endpoints[{index}].addresses");
        warnings.extend(of_addresses(&path, endpoint, &["addresses"]));
    }
    warnings
}

// Upstream: pkg/registry/networking/networkpolicy/strategy.go, networkPolicyWarnings
pub(super) fn network_policy(object: &Value<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    for (direction, peers) in [("ingress", "from"), ("egress", "to")] {
        for (rule_index, rule) in object::list(object, &["spec", direction]).iter().enumerate() {
            for (at, peer) in object::list(rule, &[peers]).iter().enumerate() {
                let path = format!("spec.{direction}[{rule_index}].{peers}[{at}].ipBlock");
                let network = object::text(peer, &["ipBlock", "cidr"]);
                warnings.extend(of_network(format_args!("{path}.cidr"), network));
                warnings.extend(of_networks(
                    format_args!("{path}.except"),
                    peer,
                    &["ipBlock", "except"],
                ));
            }
        }
    }
    warnings
}
