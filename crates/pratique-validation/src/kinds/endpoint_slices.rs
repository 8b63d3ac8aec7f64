//! EndpointSlices.

use pratique_gotext::validation::{dns1123_label, dns1123_subdomain, label_value, qualified_name};
use pratique_types::field::Error;

use super::{KindRules, Request};
use crate::addresses::{canonical_ip_messages, is_ipv6, validate_endpoint_ip, validate_legacy_ip};
use crate::errors::{Errors, named};
use crate::messages::subdomain_name;
use crate::node::Node;
use crate::object_meta::validate_core_meta;
use crate::seen_texts::SeenTexts;
use crate::selector::validate_labels;

pub(super) const KINDS: &[KindRules] = &[KindRules {
    group: "discovery.k8s.io",
    kind: "EndpointSlice",
    is_namespaced: true,
    create: validate_slice,
    // Upstream: pkg/apis/discovery/validation/validation.go, ValidateEndpointSliceUpdate
    update: |request, errors| {
        validate_slice(request, errors);
        let (kind, old) = (
            request.object.child("addressType"),
            request.old.child("addressType"),
        );
        if kind.as_text() != old.as_text() {
            errors.immutable_by_hand(kind, named(kind.as_text()));
        }
    },
    subresources: &[],
}];

const PROTOCOLS: &[&str] = &["SCTP", "TCP", "UDP"];
const MAX_TOPOLOGY_LABELS: i64 = 16;
const MAX_ADDRESSES: i64 = 100;
const MAX_PORTS: i64 = 20_000;
const MAX_ENDPOINTS: i64 = 1000;
const MAX_HINTS: i64 = 8;
const ZONE_LABEL: &str = "topology.kubernetes.io/zone";

/// A slice; that the type of its addresses does not change is a declarative rule.
// Upstream: pkg/apis/discovery/validation/validation.go, ValidateEndpointSlice
fn validate_slice(request: &Request<'_>, errors: &mut Errors) {
    let object = &request.object;
    validate_core_meta(&object.child("metadata"), true, subdomain_name, errors);
    // Upstream: pkg/apis/discovery/validation/validation.go, validateAddressType: since 1.38, declarative rules alone validate it.
    if !errors.release().at_least(1, 38) {
        let start = errors.len();
        errors.required_enum(&object.child("addressType"), &["FQDN", "IPv4", "IPv6"]);
        errors.cover_from(start, "");
    }
    validate_ports(&object.child("ports"), errors);
    let endpoints = object.child("endpoints");
    let mut faults = Errors::of_gates(errors.gates());
    validate_endpoints(&endpoints, object.child("addressType").as_text(), &mut faults);
    // Older servers took what newer ones do not: what did not change may stay.
    let old = &request.old;
    let may_stay = old.is_set() && endpoints.is_same(&old.child("endpoints"));
    if !may_stay {
        errors.extend(faults);
    }
}

/// Whether a list has more elements than it may have, which is an error and the only one.
fn has_too_many(list: &Node<'_, '_>, max: i64, errors: &mut Errors) -> bool {
    let is_longer = i64::try_from(list.len()).is_ok_and(|length| length > max);
    if is_longer {
        errors.too_many(list, max);
    }
    is_longer
}

// Upstream: pkg/apis/discovery/validation/validation.go, validatePorts
fn validate_ports(ports: &Node<'_, '_>, errors: &mut Errors) {
    if has_too_many(ports, MAX_PORTS, errors) {
        return;
    }
    let mut names = SeenTexts::default();
    for port in ports.items() {
        let (name, protocol) = (port.child("name"), port.child("protocol"));
        if !name.as_text().is_empty() {
            errors.invalid_each(&name, &dns1123_label(name.as_text()));
        }
        if !names.insert(name.as_text()) {
            errors.duplicate(name, name.as_text());
        }
        if !protocol.is_set() {
            errors.required(protocol, "");
        } else if !PROTOCOLS.contains(&protocol.as_text()) {
            errors.not_supported(&protocol, PROTOCOLS);
        }
        let application = port.child("appProtocol");
        if application.is_set() {
            errors.invalid_each(&application, &qualified_name(application.as_text()));
        }
    }
}

// Upstream: pkg/apis/discovery/validation/validation.go, validateEndpoints
fn validate_endpoints(endpoints: &Node<'_, '_>, address_type: &str, errors: &mut Errors) {
    if has_too_many(endpoints, MAX_ENDPOINTS, errors) {
        return;
    }
    for endpoint in endpoints.items() {
        let addresses = endpoint.child("addresses");
        // Since 1.38, declarative rules alone validate how many there are.
        if !errors.release().at_least(1, 38) {
            let start = errors.len();
            if addresses.is_empty() {
                errors.required(addresses, "must contain at least 1 address");
            }
            has_too_many(&addresses, MAX_ADDRESSES, errors);
            errors.cover_from(start, "maxItems");
        }
        for address in addresses.items() {
            validate_address(&address, &addresses, address_type, errors);
        }
        let (node, host) = (endpoint.child("nodeName"), endpoint.child("hostname"));
        if node.is_set() {
            errors.invalid_each(&node, &subdomain_name(node.as_text(), false));
        }
        validate_topology(&endpoint.child("deprecatedTopology"), errors);
        if host.is_set() {
            errors.invalid_each(&host, &dns1123_label(host.as_text()));
        }
        validate_hints(&endpoint.child("hints"), errors);
    }
}

fn validate_address(
    address: &Node<'_, '_>,
    addresses: &Node<'_, '_>,
    address_type: &str,
    errors: &mut Errors,
) {
    let count = errors.len();
    let text = address.as_text();
    let (is_family, family) = match address_type {
        "IPv4" => {
            validate_legacy_ip(address, &Node::absent(*address.path()), errors);
            (!is_ipv6(text), "must be an IPv4 address")
        }
        "IPv6" => {
            errors.invalid_each(address, &canonical_ip_messages(text));
            (is_ipv6(text), "must be an IPv6 address")
        }
        "FQDN" => return validate_domain_name(address, errors),
        _ => return,
    };
    if errors.len() > count {
        return;
    }
    if !is_family {
        // The path is that of the list.
        errors.invalid(addresses, text, family);
    }
    validate_endpoint_ip(address, errors);
}

// Upstream: apimachinery/pkg/util/validation/validation.go, IsFullyQualifiedDomainName
fn validate_domain_name(address: &Node<'_, '_>, errors: &mut Errors) {
    if address.as_text().is_empty() {
        errors.required(address, "");
        return;
    }
    let name = address.as_text().strip_suffix('.').unwrap_or(address.as_text());
    let messages = dns1123_subdomain(name);
    if !messages.is_empty() {
        errors.invalid(address, name, &messages.join(","));
        return;
    }
    if !name.contains('.') {
        errors.invalid(
            address,
            name,
            "should be a domain with at least two segments separated by dots",
        );
        return;
    }
    let mut labels = name.split('.').map(|label| (label, dns1123_label(label)));
    if let Some((label, messages)) = labels.find(|(_, messages)| !messages.is_empty()) {
        errors.invalid(address, label, &messages.join(","));
    }
}

fn validate_topology(topology: &Node<'_, '_>, errors: &mut Errors) {
    has_too_many(topology, MAX_TOPOLOGY_LABELS, errors);
    validate_labels(topology, errors);
    let zone = topology.key(ZONE_LABEL);
    if zone.is_set() {
        errors.push(Error::internal(
            zone,
            "reserved key was not removed in conversion",
        ));
    }
}

// Upstream: pkg/apis/discovery/validation/validation.go, validateHints
fn validate_hints(hints: &Node<'_, '_>, errors: &mut Errors) {
    for (list, rule) in [
        ("forZones", label_value as fn(&str) -> Vec<String>),
        ("forNodes", dns1123_subdomain),
    ] {
        let list = hints.child(list);
        if has_too_many(&list, MAX_HINTS, errors) {
            return;
        }
        let mut names = SeenTexts::default();
        for hint in list.items() {
            let name = hint.child("name");
            if !names.insert(name.as_text()) {
                errors.duplicate(name, name.as_text());
            }
            errors.invalid_each(&name, &rule(name.as_text()));
        }
    }
}
