//! NetworkPolicies.

use crate::addresses::{parse_sloppy_cidr, validate_legacy_cidr};
use crate::errors::Errors;
use crate::internal::internal_json;
use crate::kinds::Request;
use crate::messages::{port_name, port_number};
use crate::node::Node;
use crate::selector::validate_selector;

const DIRECTIONS: &[(&str, &str)] = &[("ingress", "from"), ("egress", "to")];

// Upstream: pkg/apis/networking/validation/validation.go, ValidateNetworkPolicySpec
pub(super) fn validate_network_policy(request: &Request<'_>, errors: &mut Errors) {
    let (spec, old) = (request.object.child("spec"), request.old.child("spec"));
    let mut old_errors = Errors::default();
    validate_selector(&old.child("podSelector"), false, &mut old_errors);
    let allows_invalid = !old_errors.is_empty();
    validate_selector(&spec.child("podSelector"), allows_invalid, errors);
    for (direction, peers) in DIRECTIONS {
        for rule in spec.child(direction).items() {
            for port in rule.child("ports").items() {
                validate_port(&port, errors);
            }
            for peer in rule.child(peers).items() {
                validate_peer(&peer, allows_invalid, &old, errors);
            }
        }
    }
    let types = spec.child("policyTypes");
    if types.len() > 2 {
        let value = internal_json(errors.release(), "[]networking.PolicyType", types.value());
        errors.invalid(types, value, "may not specify more than two policyTypes");
        return;
    }
    for kind in types
        .items()
        .filter(|kind| !["Ingress", "Egress"].contains(&kind.as_text()))
    {
        errors.not_supported(&kind, &["Ingress", "Egress"]);
    }
}

// Upstream: pkg/apis/networking/validation/validation.go, ValidateNetworkPolicyPort
fn validate_port(rule: &Node<'_, '_>, errors: &mut Errors) {
    const PROTOCOLS: &[&str] = &["TCP", "UDP", "SCTP"];
    let (protocol, port, end) = (rule.child("protocol"), rule.child("port"), rule.child("endPort"));
    if protocol.is_set() && !PROTOCOLS.contains(&protocol.as_text()) {
        errors.not_supported(&protocol, PROTOCOLS);
    }
    if !port.is_set() {
        if end.is_set() {
            errors.invalid(
                end,
                end.int(),
                "may not be specified when `port` is not specified",
            );
        }
    } else if port.value().as_str().is_some() {
        if end.is_set() {
            errors.invalid(end, end.int(), "may not be specified when `port` is non-numeric");
        }
        for message in port_name(port.as_text()) {
            errors.invalid_or_empty(&port, &message);
        }
    } else {
        if let Some(message) = port_number(port.int()) {
            errors.invalid(port, port.int(), &message);
        }
        if end.is_set() {
            if end.int() < port.int() {
                // Upstream: pkg/apis/networking/validation/validation.go, ValidateNetworkPolicyPort: of the other before 1.37.
                let latest = errors.release().at_least(1, 37);
                let value = if latest { end.int() } else { port.int() };
                errors.invalid(end, value, "must be greater than or equal to `port`");
            }
            if let Some(message) = port_number(end.int()) {
                errors.invalid(end, end.int(), &message);
            }
        }
    }
}

// Upstream: pkg/apis/networking/validation/validation.go, ValidateNetworkPolicyPeer
fn validate_peer(peer: &Node<'_, '_>, allows_invalid: bool, old: &Node<'_, '_>, errors: &mut Errors) {
    let mut count = 0;
    for name in ["podSelector", "namespaceSelector"] {
        let selector = peer.child(name);
        if selector.is_set() {
            count += 1;
            validate_selector(&selector, allows_invalid, errors);
        }
    }
    let block = peer.child("ipBlock");
    if block.is_set() {
        count += 1;
        validate_block(&block, old, errors);
    }
    if count == 0 {
        errors.required(peer, "must specify a peer");
    } else if count > 1 && block.is_set() {
        errors.forbidden(peer, "may not specify both ipBlock and another peer");
    }
}

// Upstream: pkg/apis/networking/validation/validation.go, ValidateIPBlock
fn validate_block(block: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    let cidr = block.child("cidr");
    if cidr.as_text().is_empty() {
        errors.required_covered(cidr, "");
        return;
    }
    if !has_cidr(old, cidr.as_text()) {
        validate_legacy_cidr(&cidr, cidr.as_text(), errors);
    }
    let Some((whole, length)) = parse_sloppy_cidr(cidr.as_text()) else {
        return;
    };
    for except in block.child("except").items() {
        if !has_cidr(old, except.as_text()) {
            validate_legacy_cidr(&except, except.as_text(), errors);
        }
        let Some((part, part_length)) = parse_sloppy_cidr(except.as_text()) else {
            continue;
        };
        if !whole.contains_ip(part.ip()) || length >= part_length {
            errors.invalid_or_empty(&except, "must be a strict subset of `cidr`");
        }
    }
}

/// Whether the old policy has a network anywhere.
fn has_cidr(spec: &Node<'_, '_>, text: &str) -> bool {
    DIRECTIONS.iter().any(|(direction, peers)| {
        spec.child(direction).items().any(|rule| {
            rule.child(peers).items().any(|peer| {
                let block = peer.child("ipBlock");
                block.is_set()
                    && (block.child("cidr").as_text() == text
                        || block
                            .child("except")
                            .items()
                            .any(|except| except.as_text() == text))
            })
        })
    })
}
