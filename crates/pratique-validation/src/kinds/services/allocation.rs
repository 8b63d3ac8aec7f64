//! What a server refuses while it allocates addresses and ports to a Service, before anything else of it is validated.
//!
//! Whether an address can be had depends on the cluster's networks: where they are not known, it can.
// Upstream: pkg/registry/core/service/storage/alloc.go

use std::collections::HashMap;
use std::net::IpAddr;

use pratique_gotext::net::{Cidr, Ip};

use super::addresses::validate_addresses;
use super::is_headless;
use crate::addresses::is_ipv6;
use crate::errors::Errors;
use crate::kinds::Request;
use crate::node::Node;

// Upstream: pkg/registry/core/service/storage/alloc.go, allocateCreate, allocateUpdate
pub(in crate::kinds) fn validate_allocation(request: &Request<'_>, errors: &mut Errors) {
    let (spec, old) = (request.object.child("spec"), request.old.child("spec"));
    let kind = spec.child("type").text();
    if kind != "ExternalName" && !keeps_both_families(&spec, &old) {
        validate_families(&spec, &old, &request.settings.service_networks, errors);
    }
    if errors.is_empty() && !old.is_set() && ["NodePort", "LoadBalancer"].contains(&kind) {
        validate_node_ports(&spec.child("ports"), errors);
    }
}

/// Whether a Service that prefers two families has the addresses that it had: it is left alone when the cluster changes.
// Upstream: pkg/registry/core/service/storage/alloc.go, isMatchingPreferDualStackClusterIPFields
fn keeps_both_families(spec: &Node<'_, '_>, old: &Node<'_, '_>) -> bool {
    let prefers = |spec: &Node<'_, '_>| spec.child("ipFamilyPolicy").text() == "PreferDualStack";
    let is_same = |name: &str| spec.child(name).is_same(&old.child(name));
    prefers(spec) && prefers(old) && ["type", "clusterIPs", "ipFamilies"].into_iter().all(is_same)
}

// Upstream: pkg/registry/core/service/storage/alloc.go, initIPFamilyFields
fn validate_families(spec: &Node<'_, '_>, old: &Node<'_, '_>, networks: &[Cidr], errors: &mut Errors) {
    validate_addresses(spec, old, errors);
    if errors.is_empty() {
        validate_policy(spec, old, errors);
    }
    let is_free = is_headless(spec) && spec.child("selector").is_empty();
    if !errors.is_empty() || is_free || networks.is_empty() {
        return;
    }
    let policy = spec.child("ipFamilyPolicy");
    if policy.text() == "RequireDualStack" && networks.len() < 2 {
        errors.invalid_name(&policy, "this cluster is not configured for dual-stack services");
    }
    for family in spec.child("ipFamilies").items() {
        if network_of(networks, family.text()).is_none() {
            errors.invalid_name(&family, "not configured on this cluster");
        }
    }
    let is_new = !old.is_set() || old.child("type").text() == "ExternalName";
    let gets_second = old.child("ipFamilies").len() == 1 && spec.child("ipFamilies").len() == 2;
    if errors.is_empty() && !is_headless(spec) && (is_new || gets_second) {
        validate_ranges(spec, usize::from(!is_new), networks, errors);
    }
}

fn validate_policy(spec: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    let policy = spec.child("ipFamilyPolicy");
    let (addresses, families) = (spec.child("clusterIPs"), spec.child("ipFamilies"));
    let is_single = policy.text() == "SingleStack";
    let lists = [
        (&addresses, "clusterIPs", "cluster IP", "cluster IPs"),
        (&families, "ipFamilies", "IP family", "IP families"),
    ];
    for (list, name, one, _) in lists {
        if !is_single && !list.is_empty() && list.len() < old.child(name).len() {
            let detail = format!("must be 'SingleStack' to release the secondary {one}");
            errors.invalid_name(&policy, &detail);
        }
    }
    for (list, _, _, many) in lists {
        if is_single && list.len() == 2 {
            let detail =
                format!("must be 'RequireDualStack' or 'PreferDualStack' when multiple {many} are specified");
            errors.invalid_name(&policy, &detail);
        }
    }
}

fn network_of(networks: &[Cidr], family: &str) -> Option<Cidr> {
    let number = match family {
        "IPv4" => 4,
        "IPv6" => 6,
        _ => return None,
    };
    let mut networks = networks.iter();
    networks.find(|network| network.ip().family() == number).copied()
}

/// Addresses that are asked for, after those that the Service has.
// Upstream: pkg/registry/core/service/ipallocator/ipallocator.go, Allocate
fn validate_ranges(spec: &Node<'_, '_>, kept: usize, networks: &[Cidr], errors: &mut Errors) {
    let addresses = spec.child("clusterIPs");
    for address in addresses.items().skip(kept) {
        let text = address.text();
        let family = if is_ipv6(text) { "IPv6" } else { "IPv4" };
        let (Ok(ip), Some(network)) = (Ip::parse(text), network_of(networks, family)) else {
            continue;
        };
        if !is_usable(ip, network) {
            let detail = format!(
                "failed to allocate IP {text}: the provided IP ({text}) is not in the valid range. The range of valid IPs is \
                 {network}"
            );
            errors.invalid_value(&addresses, &detail);
            return;
        }
    }
}

/// Whether an address is of a network, and neither its own nor the one for all.
fn is_usable(ip: Ip, network: Cidr) -> bool {
    let is_last = match (ip.address(), network.masked().ip().address()) {
        (IpAddr::V4(ip), IpAddr::V4(base)) => {
            let hosts = u32::MAX.checked_shr(network.prefix_length().into()).unwrap_or(0);
            ip.to_bits() == base.to_bits() | hosts
        }
        _ => false,
    };
    network.contains_ip(ip) && ip.address() != network.masked().ip().address() && !is_last
}

/// A node port is given to one number only.
// Upstream: pkg/registry/core/service/storage/alloc.go, initNodePorts
fn validate_node_ports(ports: &Node<'_, '_>, errors: &mut Errors) {
    let mut owners: HashMap<i64, i64> = HashMap::new();
    for port in ports.items() {
        let (node, number) = (port.child("nodePort"), port.child("port").int());
        if node.int() == 0 {
            continue;
        }
        if *owners.entry(node.int()).or_insert(number) != number {
            errors.invalid(node, node.int(), "provided port is already allocated");
            return;
        }
    }
}
