//! Services.

mod addresses;
mod allocation;
mod traffic;

use pratique_gotext::validation::{dns1123_label, dns1123_subdomain, qualified_name};

use self::addresses::{validate_address_changes, validate_addresses, validate_family_changes};
pub(super) use self::allocation::validate_allocation;
use self::traffic::{validate_external_traffic, validate_internal_traffic, validate_source_ranges};
use super::{KindRules, Request};
use crate::addresses::{is_ip, validate_endpoint_ip, validate_legacy_ip};
use crate::errors::Errors;
use crate::internal::internal_json;
use crate::messages::{label_name, lettered_label_name, port_number};
use crate::node::Node;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};
use crate::pod::validate_port;
use crate::seen_texts::SeenTexts;
use crate::selector::validate_labels;

pub(super) const KINDS: &[KindRules] = &[KindRules {
    group: "",
    kind: "Service",
    is_namespaced: true,
    create: |request, errors| {
        let rule = if errors.gates().relaxes_service_names {
            label_name
        } else {
            lettered_label_name
        };
        validate_core_meta(&request.object.child("metadata"), true, rule, errors);
        validate_service(request, errors);
    },
    update: validate_update,
    subresources: &[("status", validate_status)],
}];

// Upstream: pkg/apis/core/validation/validation.go, ValidateServiceUpdate
fn validate_update(request: &Request<'_>, errors: &mut Errors) {
    let (object, old) = (&request.object, &request.old);
    validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
    let (spec, old) = (object.child("spec"), old.child("spec"));
    validate_address_changes(&spec, &old, errors);
    validate_family_changes(&spec, &old, errors);
    validate_class(&spec, Some(&old), errors);
    if traffic::needs_health_check(&old) && traffic::needs_health_check(&spec) {
        let (port, old_port) = (
            spec.child("healthCheckNodePort"),
            old.child("healthCheckNodePort"),
        );
        if port.int() != old_port.int() {
            errors.forbidden(port, "field is immutable");
        }
    }
    validate_service(request, errors);
}

fn is_headless(spec: &Node<'_, '_>) -> bool {
    let addresses = spec.child("clusterIPs");
    addresses.len() == 1 && addresses.items().any(|address| address.as_text() == "None")
}

// Upstream: pkg/apis/core/validation/validation.go, validateService
fn validate_service(request: &Request<'_>, errors: &mut Errors) {
    let (metadata, spec) = (request.object.child("metadata"), request.object.child("spec"));
    let old = request.old.child("spec");
    validate_topology_mode(&metadata.child("annotations"), errors);
    let (ports, kind) = (spec.child("ports"), spec.child("type"));
    if ports.is_empty() && !is_headless(&spec) && kind.as_text() != "ExternalName" {
        errors.required(ports, "");
    }
    validate_type(&spec, errors);
    let mut names = SeenTexts::default();
    for port in ports.items() {
        validate_service_port(&port, ports.len() > 1, &mut names, errors);
    }
    validate_labels(&spec.child("selector"), errors);
    validate_affinity(&spec, errors);
    validate_addresses(&spec, &old, errors);
    let external = old.child("externalIPs");
    for address in spec.child("externalIPs").items() {
        let count = errors.len();
        validate_legacy_ip(&address, &external, errors);
        if errors.len() == count {
            validate_endpoint_ip(&address, errors);
        }
    }
    errors.required_enum(&kind, &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]);
    validate_node_ports(&spec, errors);
    validate_source_ranges(request, errors);
    let allocates = spec.child("allocateLoadBalancerNodePorts");
    let balances = kind.as_text() == "LoadBalancer";
    if allocates.is_set() && !balances {
        errors.forbidden(allocates, "may only be used when `type` is 'LoadBalancer'");
    }
    if balances && !allocates.is_set() {
        // The path leaves out `spec`.
        errors.required("allocateLoadBalancerNodePorts", "");
    }
    validate_class(&spec, None, errors);
    validate_external_traffic(&spec, errors);
    validate_internal_traffic(&spec, errors);
}

fn validate_topology_mode(annotations: &Node<'_, '_>, errors: &mut Errors) {
    let hints = annotations.key("service.kubernetes.io/topology-aware-hints");
    let mode = annotations.key("service.kubernetes.io/topology-mode");
    if hints.is_set() && mode.is_set() && hints.as_text() != mode.as_text() {
        errors.invalid_or_empty(
            &mode,
            "must match annotations[service.kubernetes.io/topology-aware-hints] when both are specified",
        );
    }
}

fn validate_type(spec: &Node<'_, '_>, errors: &mut Errors) {
    let kind = spec.child("type").as_text();
    let addresses = spec.child("clusterIPs");
    match kind {
        "LoadBalancer" | "NodePort" if is_headless(spec) => {
            for address in addresses.items() {
                errors.invalid_or_empty(&address, &format!("may not be set to 'None' for {kind} services"));
            }
        }
        "ExternalName" => {
            for (name, is_given) in [
                ("clusterIPs", !addresses.is_empty()),
                ("ipFamilies", !spec.child("ipFamilies").is_empty()),
                ("ipFamilyPolicy", spec.child("ipFamilyPolicy").is_set()),
            ] {
                if is_given {
                    errors.forbidden(spec.child(name), "may not be set for ExternalName services");
                }
            }
            let name = spec.child("externalName");
            let text = name.as_text().strip_suffix('.').unwrap_or(name.as_text());
            if text.is_empty() {
                errors.required(name, "");
            }
            for message in dns1123_subdomain(text).iter().filter(|_| !text.is_empty()) {
                errors.invalid(name, text, message);
            }
        }
        _ => {}
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateServicePort
fn validate_service_port<'v>(
    port: &Node<'_, 'v>,
    needs_name: bool,
    names: &mut SeenTexts<'v>,
    errors: &mut Errors,
) {
    let name = port.child("name");
    if needs_name && name.as_text().is_empty() {
        errors.required(name, "");
    } else if !name.as_text().is_empty() {
        errors.invalid_each(&name, &dns1123_label(name.as_text()));
        if !names.insert(name.as_text()) {
            errors.duplicate(name, name.as_text());
        }
    }
    let number = port.child("port");
    if let Some(message) = port_number(number.int()) {
        errors.invalid(number, number.int(), &message);
    }
    errors.required_enum(&port.child("protocol"), &["SCTP", "TCP", "UDP"]);
    validate_port(&port.child("targetPort"), errors);
    let protocol = port.child("appProtocol");
    if protocol.is_set() {
        for message in qualified_name(protocol.as_text()) {
            errors.invalid_or_empty(&protocol, &message);
        }
    }
}

fn validate_affinity(spec: &Node<'_, '_>, errors: &mut Errors) {
    const DETAIL: &str = "when session affinity type is ClientIP";
    const MAX_SECONDS: i64 = 86400;
    let (affinity, config) = (spec.child("sessionAffinity"), spec.child("sessionAffinityConfig"));
    errors.required_enum(&affinity, &["ClientIP", "None"]);
    if affinity.as_text() == "None" && config.is_set() {
        errors.forbidden(config, "must not be set when session affinity is None");
    }
    if affinity.as_text() != "ClientIP" {
        return;
    }
    let client = config.child("clientIP");
    let timeout = client.child("timeoutSeconds");
    for part in [&config, &client, &timeout] {
        if !part.is_set() {
            errors.required(part, DETAIL);
            return;
        }
    }
    if !(1..=MAX_SECONDS).contains(&timeout.int()) {
        errors.invalid(
            timeout,
            timeout.int(),
            "must be greater than 0 and less than 86400",
        );
    }
}

fn validate_node_ports(spec: &Node<'_, '_>, errors: &mut Errors) {
    let ports = spec.child("ports");
    if spec.child("type").as_text() == "ClusterIP" {
        for port in ports.items().filter(|port| port.child("nodePort").int() != 0) {
            errors.forbidden(
                port.child("nodePort"),
                "may not be used when `type` is 'ClusterIP'",
            );
        }
    }
    let mut seen = std::collections::HashSet::new();
    for port in ports.items().filter(|port| port.child("nodePort").int() != 0) {
        let node = port.child("nodePort");
        if !seen.insert((port.child("protocol").as_text(), node.int())) {
            errors.duplicate(node, node.int());
        }
    }
    let mut seen = std::collections::HashSet::new();
    for port in ports.items() {
        let (protocol, number) = (port.child("protocol"), port.child("port"));
        if !seen.insert((protocol.as_text(), number.int())) {
            let mut key = pratique_json::Object::new();
            key.insert("protocol", protocol.as_text().to_owned());
            key.insert("port", number.int());
            errors.duplicate(
                port,
                internal_json(errors.release(), "core.ServicePort", &key.into()),
            );
        }
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateLoadBalancerClassField
fn validate_class(spec: &Node<'_, '_>, old: Option<&Node<'_, '_>>, errors: &mut Errors) {
    let balances = |spec: &Node<'_, '_>| spec.child("type").as_text() == "LoadBalancer";
    let class = spec.child("loadBalancerClass");
    if let Some(old) = old.filter(|old| balances(old) && balances(spec)) {
        let old_class = old.child("loadBalancerClass");
        if class.value() != old_class.value() {
            errors.invalid_value(&class, "may not change once set");
        }
    }
    if !class.is_set() {
        return;
    }
    if balances(spec) {
        for message in qualified_name(class.as_text()) {
            errors.invalid_or_empty(&class, &message);
        }
    } else {
        errors.forbidden(class, "may only be used when `type` is 'LoadBalancer'");
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateServiceStatusUpdate
fn validate_status(request: &Request<'_>, errors: &mut Errors) {
    let (object, old) = (&request.object, &request.old);
    validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
    let (status, old_status) = (object.child("status"), old.child("status"));
    let (balancer, old_balancer) = (status.child("loadBalancer"), old_status.child("loadBalancer"));
    let ingress = balancer.child("ingress");
    if object.child("spec").child("type").as_text() != "LoadBalancer" && !ingress.is_empty() {
        errors.forbidden(ingress, "may only be used when `spec.type` is 'LoadBalancer'");
        return;
    }
    let old_ingress = old_balancer.child("ingress");
    for point in ingress.items() {
        let (ip, mode, host) = (point.child("ip"), point.child("ipMode"), point.child("hostname"));
        let is_old = old_ingress
            .items()
            .any(|old| old.child("ip").as_text() == ip.as_text());
        if !ip.as_text().is_empty() && !is_old {
            crate::pod::validate_ip(&ip, errors);
        }
        if !mode.is_set() {
            if !ip.as_text().is_empty() {
                errors.required(mode, "must be specified when `ip` is set");
            }
        } else if ip.as_text().is_empty() {
            errors.forbidden(mode, "may not be specified when `ip` is not set");
        } else if !["Proxy", "VIP"].contains(&mode.as_text()) {
            errors.not_supported(&mode, &["Proxy", "VIP"]);
        }
        if !host.as_text().is_empty() {
            errors.invalid_each(&host, &dns1123_subdomain(host.as_text()));
            if is_ip(host.as_text()) {
                errors.invalid_value(&host, "must be a DNS name, not an IP address");
            }
        }
    }
}
