//! What a server refuses while it allocates addresses and ports to a Service, before anything else of it is validated.
//!
//! Whether an address can be had depends on the cluster's networks and on its other Services: where a request comes without them, it can.
// Upstream: pkg/registry/core/service/storage/alloc.go

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use pratique_gotext::net::{Cidr, Ip};
use pratique_json::Value;
use pratique_types::status;

use super::addresses::validate_addresses;
use super::is_headless;
use super::traffic::needs_health_check;
use crate::addresses::{is_ipv6, parse_canonical_ip};
use crate::direct_requests::unnamed_failure;
use crate::errors::Errors;
use crate::kinds::Request;
use crate::node::Node;
use crate::open_question::OpenQuestion;
use crate::service_state::{
    AllocationAnswer, PORT_IS_TAKEN, PortAllocation, asks_for_families, is_usable, outside_of,
};

// Upstream: pkg/registry/core/service/storage/alloc.go, allocateCreate, allocateUpdate
pub(in crate::kinds) fn validate_allocation(request: &Request<'_>, errors: &mut Errors) {
    let (spec, old) = (request.object.child("spec"), request.old.child("spec"));
    let kind = spec.child("type").as_text();
    if kind != "ExternalName" && !keeps_both_families(&spec, &old) {
        validate_families(request, (&spec, &old), errors);
    }
    if !errors.is_empty() || !["NodePort", "LoadBalancer"].contains(&kind) {
        return;
    }
    let had: HashSet<i64> = node_ports(&old).collect();
    let asked = AskedPorts {
        allocation: request
            .services
            .map(|state| state.port_allocation(request.old.value())),
        is_dry_run: request.is_dry_run,
    };
    if old.is_set() {
        validate_changed_ports(&asked, &spec.child("ports"), &had, errors);
    } else {
        validate_node_ports(&asked, &spec.child("ports"), errors);
    }
    if !errors.is_ended() && needs_health_check(&spec) && !needs_health_check(&old) {
        validate_health_check(&asked, &spec, &had, errors);
    }
}

/// Whether a Service that prefers two families has the addresses that it had: it is left alone when the cluster changes.
// Upstream: pkg/registry/core/service/storage/alloc.go, isMatchingPreferDualStackClusterIPFields
fn keeps_both_families(spec: &Node<'_, '_>, old: &Node<'_, '_>) -> bool {
    let prefers = |spec: &Node<'_, '_>| spec.child("ipFamilyPolicy").as_text() == "PreferDualStack";
    let is_same = |name: &str| spec.child(name).is_same(&old.child(name));
    prefers(spec) && prefers(old) && ["type", "clusterIPs", "ipFamilies"].into_iter().all(is_same)
}

// Upstream: pkg/registry/core/service/storage/alloc.go, initIPFamilyFields
fn validate_families(
    request: &Request<'_>,
    (spec, old): (&Node<'_, '_>, &Node<'_, '_>),
    errors: &mut Errors,
) {
    let configured = configured_networks(request);
    let networks = configured.as_ref();
    let given = count_given_families(request, spec);
    validate_addresses(spec, old, errors);
    if errors.is_empty() {
        validate_policy(spec, old, errors);
        validate_address_families(spec, (networks, given), errors);
    }
    let is_free = is_headless(spec) && spec.child("selector").is_empty();
    if !errors.is_empty() || is_free {
        return;
    }
    if !networks.is_empty() {
        validate_configured_families(spec, (networks, given), errors);
    } else if let Some(state) = request.services.filter(|state| !state.is_of_cluster)
        && asks_for_families(state.sent)
    {
        errors.leave_open(OpenQuestion::ServiceNetworks);
    }
    let is_new = !old.is_set() || old.child("type").as_text() == "ExternalName";
    let gets_second = old.child("ipFamilies").len() == 1 && spec.child("ipFamilies").len() == 2;
    if errors.is_empty() && !is_headless(spec) && (is_new || gets_second) {
        let addresses = spec.child("clusterIPs");
        validate_cluster_ips(request, &addresses, usize::from(!is_new), errors);
    }
}

/// How many families a request names itself: to an object that is prepared, those of some cluster were added.
fn count_given_families(request: &Request<'_>, spec: &Node<'_, '_>) -> usize {
    let prepared = spec.child("ipFamilies").len();
    request.services.map_or(prepared, |state| {
        let sent = state.sent.at(&["spec", "ipFamilies"]).and_then(Value::as_array);
        sent.map_or(0, <[_]>::len)
    })
}

/// The networks of the cluster, of which each family has one; none where they are not known.
fn configured_networks<'r>(request: &Request<'r>) -> Cow<'r, [Cidr]> {
    let given = &request.settings.service_networks;
    match request.services.filter(|state| !state.is_of_cluster) {
        Some(state) if given.is_empty() => Cow::Owned(state.configured_networks()),
        _ => Cow::Borrowed(given),
    }
}

/// Addresses for which no family is given: that of each has to be one of the cluster.
fn validate_address_families(spec: &Node<'_, '_>, (networks, given): (&[Cidr], usize), errors: &mut Errors) {
    let addresses = spec.child("clusterIPs");
    if networks.is_empty() || is_headless(spec) {
        return;
    }
    for (at, address) in addresses.items().enumerate().skip(given) {
        let family = family_of(address.as_text());
        if network_of(networks, family).is_none() {
            // The error prints all addresses.
            let field = Node::with_path(addresses.value(), addresses.path().index(at));
            errors.invalid_value(&field, &format!("{family} is not configured on this cluster"));
        }
    }
}

fn validate_configured_families(
    spec: &Node<'_, '_>,
    (networks, given): (&[Cidr], usize),
    errors: &mut Errors,
) {
    let policy = spec.child("ipFamilyPolicy");
    if policy.as_text() == "RequireDualStack" && networks.len() < 2 {
        errors.invalid_name(&policy, "this cluster is not configured for dual-stack services");
    }
    for family in spec.child("ipFamilies").items().take(given) {
        if network_of(networks, family.as_text()).is_none() {
            errors.invalid_name(&family, "not configured on this cluster");
        }
    }
}

fn validate_policy(spec: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    let policy = spec.child("ipFamilyPolicy");
    let (addresses, families) = (spec.child("clusterIPs"), spec.child("ipFamilies"));
    let is_single = policy.as_text() == "SingleStack";
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

fn family_of(address: &str) -> &'static str {
    if is_ipv6(address) { "IPv6" } else { "IPv4" }
}

/// Addresses that are asked for, after those that the Service has.
// Upstream: pkg/registry/core/service/storage/alloc.go, allocIPs; pkg/registry/core/service/ipallocator/ipallocator.go, Allocate
fn validate_cluster_ips(request: &Request<'_>, addresses: &Node<'_, '_>, kept: usize, errors: &mut Errors) {
    for address in addresses.items().skip(kept) {
        let text = address.as_text();
        let Some(ip) = parse_canonical_ip(text) else {
            continue;
        };
        let network = network_of(&request.settings.service_networks, family_of(text));
        let refusal = match network.filter(|network| !is_usable(ip, *network)) {
            Some(network) => Some(outside_of(ip, network).into()),
            None => refuse_address(request, ip, text, errors),
        };
        if let Some(detail) = refusal {
            errors.invalid_value(addresses, &format!("failed to allocate IP {text}: {detail}"));
            return;
        }
    }
}

/// Why an address that is asked for cannot be had; what is not known is left open.
fn refuse_address(
    request: &Request<'_>,
    ip: Ip,
    text: &str,
    errors: &mut Errors,
) -> Option<Cow<'static, str>> {
    let state = request.services.filter(|state| state.asks_for_address(text))?;
    refuse(state.find_address(ip, request.is_dry_run), errors)
}

/// The ports of nodes that a request asks for; of one that comes without the Services of a cluster, each can be had.
struct AskedPorts {
    allocation: Option<PortAllocation>,
    is_dry_run: bool,
}

impl AskedPorts {
    /// Why a port cannot be had; what is not known is left open.
    fn refuse(&self, port: i64, errors: &mut Errors) -> Option<Cow<'static, str>> {
        let allocation = self.allocation.as_ref()?;
        refuse(allocation.find(port, self.is_dry_run), errors)
    }
}

fn refuse(availability: AllocationAnswer, errors: &mut Errors) -> Option<Cow<'static, str>> {
    match availability {
        AllocationAnswer::Free => None,
        AllocationAnswer::Refused(detail) => Some(detail),
        AllocationAnswer::Open(question) => {
            errors.leave_open(question);
            None
        }
    }
}

/// The ports of nodes of a Service, besides that of health checks.
// Upstream: pkg/registry/core/service/storage/alloc.go, collectServiceNodePorts
fn node_ports(spec: &Node<'_, '_>) -> impl Iterator<Item = i64> {
    let ports = spec.child("ports").value().as_array().unwrap_or_default().iter();
    let numbers = ports.map(|port| port.get("nodePort").and_then(Value::as_int).unwrap_or_default());
    numbers.filter(|number| *number != 0)
}

/// Ports with one number share the node port of the first; any other is given once.
// Upstream: pkg/registry/core/service/storage/alloc.go, initNodePorts
fn validate_node_ports(asked: &AskedPorts, ports: &Node<'_, '_>, errors: &mut Errors) {
    let mut firsts: HashMap<i64, i64> = HashMap::new();
    let mut allocated: HashSet<i64> = HashSet::new();
    for port in ports.items() {
        let (node, number) = (port.child("nodePort"), port.child("port").int());
        if node.int() == 0 {
            continue;
        }
        let is_shared = firsts.get(&number) == Some(&node.int());
        firsts.entry(number).or_insert(node.int());
        let refusal = if is_shared {
            None
        } else if allocated.insert(node.int()) {
            asked.refuse(node.int(), errors)
        } else {
            Some(PORT_IS_TAKEN)
        };
        if let Some(detail) = refusal {
            errors.invalid(node, node.int(), &detail);
            return;
        }
    }
}

/// A Service may not get the same node port twice for one protocol.
// Upstream: pkg/registry/core/service/storage/alloc.go, updateNodePorts
fn validate_changed_ports(asked: &AskedPorts, ports: &Node<'_, '_>, had: &HashSet<i64>, errors: &mut Errors) {
    let mut numbers: HashSet<i64> = had.clone();
    let mut pairs: HashSet<(&str, i64)> = HashSet::new();
    for port in ports.items() {
        let (node, protocol) = (port.child("nodePort"), port.child("protocol").as_text());
        if node.int() == 0 {
            continue;
        }
        if numbers.insert(node.int())
            && let Some(detail) = asked.refuse(node.int(), errors)
        {
            errors.invalid(node, node.int(), &detail);
            return;
        }
        if !pairs.insert((protocol, node.int())) {
            let message = format!("duplicate nodePort: {{{protocol} {}}}", node.int());
            errors.refuse(unnamed_failure(message));
            return;
        }
    }
}

/// The port for health checks is one of those of nodes; the error about it is no one of the field.
// Upstream: pkg/registry/core/service/storage/alloc.go, allocHealthCheckNodePort, updateHealthCheckNodePort
fn validate_health_check(asked: &AskedPorts, spec: &Node<'_, '_>, had: &HashSet<i64>, errors: &mut Errors) {
    let port = spec.child("healthCheckNodePort").int();
    if port == 0 {
        return;
    }
    // What the Service had before is taken as well where the ports of the cluster are known.
    let is_taken_here = node_ports(spec).any(|other| other == port) && !had.contains(&port);
    let refusal = if is_taken_here {
        Some(PORT_IS_TAKEN)
    } else {
        asked.refuse(port, errors)
    };
    if let Some(detail) = refusal {
        let error = format!("failed to allocate requested HealthCheck NodePort {port}: {detail}");
        errors.refuse(status::internal_error(&error));
    }
}
