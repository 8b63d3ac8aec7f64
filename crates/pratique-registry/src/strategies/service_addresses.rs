//! The addresses and ports that are allocated to Services. Those that a server chooses at random are
//! placeholders.
// Upstream: pkg/registry/core/service/storage/alloc.go

use pratique_gotext::net::{Ip, parse_sloppy_ip};
use pratique_json::Value;

use super::services::{needs_cluster_ip, needs_health_check, needs_node_port, node_ports, of_type};
use crate::edited_object::{EditTarget as _, EditedObject};
use crate::object::{self, FieldPath};
use crate::strategy::StrategyContext;

const CLUSTER_IP: FieldPath<'static> = &["spec", "clusterIP"];
const CLUSTER_IPS: FieldPath<'static> = &["spec", "clusterIPs"];
const FAMILIES: FieldPath<'static> = &["spec", "ipFamilies"];
const POLICY: FieldPath<'static> = &["spec", "ipFamilyPolicy"];
const PORTS: FieldPath<'static> = &["spec", "ports"];
const HEALTH_CHECK: FieldPath<'static> = &["spec", "healthCheckNodePort"];

/// The family of the addresses of a cluster that has but one.
const FAMILY: &str = "IPv4";

const OTHER_FAMILY: &str = "IPv6";

/// A headless Service has this for an address.
const NONE: &str = "None";

/// Completes a stored Service of a release that had no second family.
// Upstream: pkg/registry/core/service/storage/storage.go, defaultOnReadService
pub(crate) fn read_service(object: &mut Value<'_>) {
    let address = object::text(object, CLUSTER_IP).to_owned();
    if !address.is_empty() && !is_set(object, CLUSTER_IPS) {
        object::set(object, CLUSTER_IPS, vec![address.clone().into()]);
    }
    if of_type(object) == "ExternalName" {
        object::remove(object, &["spec", "internalTrafficPolicy"]);
        return;
    }
    if is_set(object, FAMILIES) {
        return;
    }
    let families: Vec<&str> = match (address.as_str(), is_set(object, &["spec", "selector"])) {
        (NONE, false) => vec![FAMILY, OTHER_FAMILY],
        (NONE, true) => vec![FAMILY],
        _ => {
            let addresses = object::list(object, CLUSTER_IPS).iter();
            addresses
                .map(|address| family_of(address.as_str().unwrap_or_default()))
                .collect()
        }
    };
    match families.len() {
        1 => object::set(object, POLICY, "SingleStack"),
        2 => object::set(object, POLICY, "RequireDualStack"),
        _ => return,
    }
    let families: Vec<Value<'_>> = families.into_iter().map(Value::from).collect();
    object::set(object, FAMILIES, families);
}

pub(super) fn create(context: &mut StrategyContext<'_>, object: &mut EditedObject<'_>) {
    let address = object::text(object, CLUSTER_IP).to_owned();
    if !address.is_empty() && object::list(object, CLUSTER_IPS).is_empty() {
        object::set(object, CLUSTER_IPS, vec![address.into()]);
    }
    if is_sound(context, object) {
        init_families(context, object, None);
        allocate_addresses(context, object);
    }
    if needs_node_port(object) {
        init_node_ports(context, object);
    }
    if needs_health_check(object) && !is_set(object, HEALTH_CHECK) {
        let port = next_port(context, &node_ports(object));
        object::set(object, HEALTH_CHECK, port);
    }
}

pub(super) fn update<'v>(context: &mut StrategyContext<'_>, object: &mut EditedObject<'v>, old: &Value<'v>) {
    keep_allocations(object.edit(Some("spec")), old);
    normalize_addresses(object, old);
    if is_sound(context, object) {
        init_families(context, object, Some(old));
    }
    if is_sound(context, object) && of_type(old) == "ExternalName" && of_type(object) != "ExternalName" {
        allocate_addresses(context, object);
    }
    if needs_node_port(object) && allocates_node_ports(object) {
        let used = node_ports(object);
        for port in object::list_mut(object, PORTS) {
            if !is_set(port, &["nodePort"]) {
                object::set(port, &["nodePort"], next_port(context, &used));
            }
        }
    }
    if !needs_health_check(old) && needs_health_check(object) && !is_set(object, HEALTH_CHECK) {
        let port = next_port(context, &node_ports(object));
        object::set(object, HEALTH_CHECK, port);
    }
}

/// Whether addresses and families are such that some can be allocated. What is not is left as it is, for validation to tell.
// Upstream: pkg/registry/core/service/storage/alloc.go, initIPFamilyFields
fn is_sound(context: &StrategyContext<'_>, object: &Value<'_>) -> bool {
    let texts = |path| -> Vec<&str> {
        let list = object::list(object, path).iter();
        list.map(|value| value.as_str().unwrap_or_default()).collect()
    };
    let (addresses, families) = (texts(CLUSTER_IPS), texts(FAMILIES));
    let first = addresses.first().copied().unwrap_or_default();
    let is_strict = context.dropper.gates.is_on("StrictIPCIDRValidation");
    let is_ip = |text: &str| Ip::parse(text).is_ok() || (!is_strict && parse_sloppy_ip(text).is_some());
    let is_address = |address: &&str| *address == NONE || is_ip(address);
    let is_family = |family: &&str| [FAMILY, OTHER_FAMILY].contains(family);
    let fits = |(address, family): (&&str, &&str)| *address == NONE || family_of(address) == *family;
    let is_pair = |texts: &[&str]| match texts {
        [first, second] => family_of(first) != family_of(second),
        _ => texts.len() < 2,
    };
    first == object::text(object, CLUSTER_IP)
        && is_pair(&addresses)
        && addresses.iter().all(is_address)
        && families.iter().all(is_family)
        && (families.len() < 2 || families.first() != families.last())
        && addresses.iter().zip(&families).all(fits)
}

fn family_of(address: &str) -> &'static str {
    if address.contains(':') {
        OTHER_FAMILY
    } else {
        FAMILY
    }
}

fn is_set(object: &Value<'_>, path: FieldPath<'_>) -> bool {
    object.at(path).is_some_and(|value| !value.is_empty())
}

/// A dry run counts on from the middle of the range; otherwise the port is a placeholder, or one after it that is not taken.
// Upstream: pkg/registry/core/service/portallocator/operation.go, AllocateNext
fn next_port(context: &mut StrategyContext<'_>, used: &[Value<'_>]) -> Value<'static> {
    if context.dry_run {
        context.ports += 1;
        return (32768 + context.ports).into();
    }
    let Value::Int(first) = context.placeholders.node_port else {
        return context.placeholders.node_port.clone();
    };
    loop {
        let port = Value::Int(first.saturating_add(context.ports));
        context.ports += 1;
        if !used.contains(&port) {
            return port;
        }
    }
}

fn allocates_node_ports(object: &Value<'_>) -> bool {
    of_type(object) != "LoadBalancer"
        || object.at(&["spec", "allocateLoadBalancerNodePorts"]) != Some(&Value::Bool(false))
}

/// Ports with the same number have the same node port.
// Upstream: pkg/registry/core/service/storage/alloc.go, initNodePorts
fn init_node_ports(context: &mut StrategyContext<'_>, object: &mut EditedObject<'_>) {
    let allocates = allocates_node_ports(object);
    let requested = object::list(object, PORTS).to_vec();
    let used_ports = node_ports(object);
    let number = |port: &Value<'_>| object::number(port, &["port"]);
    let mut allocated: Vec<(i64, Value<'_>)> = Vec::new();
    for port in object::list_mut(object, PORTS) {
        let is_requested = is_set(port, &["nodePort"]);
        if !is_requested && !allocates {
            continue;
        }
        let same_number = allocated
            .iter()
            .find(|(of, _)| *of == number(port))
            .map(|(_, node)| node.clone());
        let node = match same_number {
            Some(_) if is_requested => continue,
            Some(node) => node,
            None => {
                let same = |other: &&Value<'_>| number(other) == number(port) && is_set(other, &["nodePort"]);
                let other = requested.iter().find(same).and_then(|port| port.get("nodePort"));
                let node = other.cloned().unwrap_or_else(|| next_port(context, &used_ports));
                allocated.push((number(port), node.clone()));
                node
            }
        };
        object::set(port, &["nodePort"], node);
    }
}

// Upstream: pkg/registry/core/service/storage/alloc.go, allocClusterIPs
fn allocate_addresses(context: &StrategyContext<'_>, object: &mut EditedObject<'_>) {
    let mut addresses = object::list(object, CLUSTER_IPS).to_vec();
    if !needs_cluster_ip(object) || addresses.first().and_then(Value::as_str) == Some(NONE) {
        return;
    }
    let placeholders = context.placeholders;
    // Of more families than the policy allows, validation tells.
    let count = if object::text(object, POLICY) == "SingleStack" {
        1
    } else {
        2
    };
    for (at, family) in object::list(object, FAMILIES).iter().take(count).enumerate() {
        let address = match family.as_str() {
            Some(OTHER_FAMILY) => &placeholders.cluster_ip_v6,
            _ => &placeholders.cluster_ip,
        };
        if address.is_empty() {
            break;
        }
        match addresses.get_mut(at) {
            Some(address) if !address.is_empty() => {}
            Some(empty) => *empty = address.clone().into(),
            None => addresses.push(address.clone().into()),
        }
    }
    if let Some(first) = addresses.first() {
        object::set(object, CLUSTER_IP, first.clone());
        object::set(object, CLUSTER_IPS, addresses);
    }
}

/// Families and their policy in a cluster with one family. What cannot be had is left to validation: an address of a family that the
/// cluster does not have stays without a family.
// Upstream: pkg/registry/core/service/storage/alloc.go, initIPFamilyFields
fn init_families<'v>(context: &StrategyContext<'_>, object: &mut EditedObject<'v>, old: Option<&Value<'v>>) {
    if !needs_cluster_ip(object) {
        return;
    }
    let headless = object::text(object, CLUSTER_IP) == NONE;
    let selects = is_set(object, &["spec", "selector"]);
    if !object::has(object, POLICY) {
        let old_policy = old
            .and_then(|old| old.at(POLICY))
            .filter(|policy| !policy.is_null());
        let policy = match old_policy {
            Some(old_policy) => old_policy.clone(),
            None if headless && !selects => "RequireDualStack".into(),
            None => "SingleStack".into(),
        };
        object::set(object, POLICY, policy);
    }
    let single = object::text(object, POLICY) == "SingleStack";
    if let (Some(old), true) = (old, single) {
        let same_addresses = object::same(object, old, CLUSTER_IP) && object::same(object, old, CLUSTER_IPS);
        for (path, same) in [
            (CLUSTER_IPS, same_addresses),
            (FAMILIES, object::same(object, old, FAMILIES)),
        ] {
            if let (true, Some(Value::Array(both))) = (same, object::at_mut(object, path)) {
                both.truncate(1);
            }
        }
    }
    let mut families = object::list(object, FAMILIES).to_vec();
    for (at, address) in object::list(object, CLUSTER_IPS).iter().enumerate() {
        let address = address.as_str().unwrap_or_default();
        if address == NONE {
            break;
        }
        if at >= families.len() {
            let family = family_of(address);
            if family == OTHER_FAMILY && context.placeholders.cluster_ip_v6.is_empty() {
                return;
            }
            families.push(family.into());
        }
    }
    if families.is_empty() {
        families.push(FAMILY.into());
    }
    if let ([only], true, false, false) = (families.as_slice(), headless, selects, single) {
        let other = if only.as_str() == Some(FAMILY) {
            OTHER_FAMILY
        } else {
            FAMILY
        };
        families.push(other.into());
    }
    object::set(object, FAMILIES, families);
}

/// Keeps the addresses and ports of nodes of an old Service where a new one leaves them out, and has a type for which they are
/// allocated. Both are Services with their defaults, in version `v1`.
// Upstream: pkg/registry/core/service/storage/storage.go, patchAllocatedValues
pub fn keep_allocations<'v>(object: &mut Value<'v>, old: &Value<'v>) {
    if needs_cluster_ip(old) && needs_cluster_ip(object) {
        for path in [CLUSTER_IP, CLUSTER_IPS] {
            if !is_set(object, path) {
                object::copy(object, old, path);
            }
        }
    }
    if needs_node_port(old) && needs_node_port(object) {
        let now = node_ports(object);
        let mut used = node_ports(old);
        used.retain(|port| now.contains(port));
        let old_ports = object::list(old, PORTS);
        for port in object::list_mut(object, PORTS) {
            if is_set(port, &["nodePort"]) {
                continue;
            }
            let name = object::text(port, &["name"]);
            let same = old_ports
                .iter()
                .rev()
                .find(|old| object::text(old, &["name"]) == name);
            let node = same.and_then(|old| old.get("nodePort"));
            if let Some(node) = node.filter(|node| !node.is_empty() && !used.contains(node)) {
                object::set(port, &["nodePort"], node.clone());
            }
        }
    }
    if needs_health_check(old) && needs_health_check(object) && !is_set(object, HEALTH_CHECK) {
        object::copy(object, old, HEALTH_CHECK);
    }
}

/// Keeps the singular and the plural field alike.
// Upstream: pkg/registry/core/service/storage/storage.go, normalizeClusterIPs
fn normalize_addresses<'v>(object: &mut EditedObject<'v>, old: &Value<'v>) {
    let same_address = object::same(object, old, CLUSTER_IP);
    let has = |of: &Value<'_>| !object::list(of, CLUSTER_IPS).is_empty();
    if has(old) && !has(object) && same_address {
        object::copy(object, old, CLUSTER_IPS);
    }
    if !same_address && object::same(object, old, CLUSTER_IPS) {
        let address = object::text(object, CLUSTER_IP).to_owned();
        if address.is_empty() {
            drop(object::remove(object, CLUSTER_IPS))
        } else {
            object::set(object, CLUSTER_IPS, vec![address.into()])
        }
    }
}
