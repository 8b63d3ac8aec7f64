//! What is known of the addresses and the ports of nodes that a cluster has given to its Services.
// Upstream: pkg/registry/core/service/ipallocator/cidrallocator.go, pkg/registry/core/service/portallocator/operation.go

use std::borrow::Cow;
use std::collections::HashSet;
use std::net::IpAddr;
use std::ops::RangeInclusive;

use pratique_gotext::net::{Cidr, Ip};
use pratique_json::{Value, text_at};

use crate::addresses::parse_canonical_ip;
use crate::open_question::OpenQuestion;

/// The Services of a cluster and its networks, as far as they are known, beside a Service that asks for some of them.
#[derive(Clone, Copy, Debug)]
pub struct ServiceState<'a> {
    /// The Service of the request as it was sent, before anything was allocated to it.
    pub sent: &'a Value<'a>,
    /// The Services that are known.
    pub services: &'a [&'a Value<'a>],
    /// Whether there are no others.
    pub has_all_services: bool,
    /// The ServiceCIDRs, of which every cluster has one; none where they are not all known.
    pub networks: &'a [&'a Value<'a>],
    /// Whether the Service was taken from a cluster: what it names is its own, unless one that is known has it.
    pub is_of_cluster: bool,
}

/// What becomes of something that a Service asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AllocationAnswer {
    /// It can be had.
    Free,
    /// It is refused, for this reason.
    Refused(Cow<'static, str>),
    /// It is not known.
    Open(OpenQuestion),
}

/// That a port of nodes is not to be had.
pub(crate) const PORT_IS_TAKEN: Cow<'static, str> = Cow::Borrowed("provided port is already allocated");

/// The ports of nodes that a server gives to Services unless it is started with others.
// Upstream: pkg/kubeapiserver/options/options.go, DefaultServiceNodePortRange
const USUAL_PORTS: RangeInclusive<i64> = 30_000..=32_767;

/// How many addresses and ports of nodes a Service asks for that it does not have in its stored form.
pub fn count_asked(service: &Value<'_>, stored: &Value<'_>) -> usize {
    let had_addresses: HashSet<&str> = addresses(stored).collect();
    let had_ports: HashSet<i64> = node_ports(stored).collect();
    let asked_addresses: HashSet<&str> = addresses(service).collect();
    let asked_ports: HashSet<i64> = node_ports(service).collect();
    // The port for health checks is allocated by itself: that of ports is none for it, nor the other way round.
    let health_check =
        health_check_port(service).filter(|_| health_check_port(service) != health_check_port(stored));
    asked_addresses.difference(&had_addresses).count()
        + asked_ports.difference(&had_ports).count()
        + usize::from(health_check.is_some())
}

/// The addresses and ports of nodes of a Service as texts that are equal where they are the same.
pub fn allocations(service: &Value<'_>) -> HashSet<String> {
    let addresses = addresses(service).map(|text| {
        let address = parse_canonical_ip(text).map(|ip| ip.address().to_string());
        address.unwrap_or_else(|| text.to_owned())
    });
    let ports = ports(service).map(|port| port.to_string());
    addresses.chain(ports).collect()
}

/// Whether a Service names families of addresses that not every cluster has.
pub fn asks_for_families(service: &Value<'_>) -> bool {
    let families = service.at(&["spec", "ipFamilies"]).and_then(Value::as_array);
    let mut families = families.unwrap_or_default().iter();
    families.any(|family| family.as_str() == Some("IPv6"))
        || text_at(service, &["spec", "ipFamilyPolicy"]) == "RequireDualStack"
}

impl<'a> ServiceState<'a> {
    /// The networks for Services that the server is started with; none where they are not known.
    // Upstream: pkg/controlplane/controller/defaultservicecidr/default_servicecidr_controller.go
    pub(crate) fn configured_networks(&self) -> Vec<Cidr> {
        let mut networks = self.networks.iter();
        let default = networks.find(|network| text_at(network, &["metadata", "name"]) == "kubernetes");
        let networks = default.into_iter().flat_map(|network| ready_networks(network));
        networks.collect()
    }

    /// Whether the request asks for an address itself.
    pub(crate) fn asks_for_address(&self, address: &str) -> bool {
        addresses(self.sent).any(|asked| asked == address)
    }

    /// Whether an address can be had. A dry run asks for its network only.
    pub(crate) fn find_address(&self, address: Ip, is_dry_run: bool) -> AllocationAnswer {
        let has_it = |service: &Value<'_>| {
            addresses(service).any(|text| parse_canonical_ip(text).is_some_and(|other| other == address))
        };
        let is_taken = !is_dry_run && self.others().any(has_it);
        if self.is_of_cluster && !is_taken {
            return AllocationAnswer::Free;
        }
        let networks = self.networks.iter();
        let networks: Vec<Cidr> = networks.flat_map(|network| ready_networks(network)).collect();
        let is_outside = !networks.iter().any(|network| is_usable(address, *network));
        if !networks.is_empty() && is_outside {
            return AllocationAnswer::Refused(outside(address, &networks, is_dry_run));
        }
        if is_taken {
            return AllocationAnswer::Refused("provided IP is already allocated".into());
        }
        if !is_dry_run && !self.has_all_services {
            return AllocationAnswer::Open(OpenQuestion::Services);
        }
        if !networks.is_empty() {
            AllocationAnswer::Free
        } else {
            AllocationAnswer::Open(OpenQuestion::ServiceNetworks)
        }
    }

    /// The ports of nodes that are asked for, and those that are taken, also by the stored form of the Service itself: what it gives
    /// back is free after the request only.
    // Upstream: pkg/registry/core/service/portallocator/operation.go, ReleaseDeferred
    pub(crate) fn port_allocation(&self, stored: &Value<'_>) -> PortAllocation {
        PortAllocation {
            asked: ports(self.sent).collect(),
            taken: self.others().flat_map(ports).chain(ports(stored)).collect(),
            has_all_services: self.has_all_services || self.is_of_cluster,
            is_in_range: self.is_of_cluster,
        }
    }

    /// The Services besides the stored form of the one that asks. One that gets its name later is no other's.
    fn others(&self) -> impl Iterator<Item = &'a Value<'a>> {
        let place = |service: &'a Value<'a>| {
            (
                text_at(service, &["metadata", "namespace"]),
                text_at(service, &["metadata", "name"]),
            )
        };
        let own = place(self.sent);
        let services = self.services.iter().copied();
        services.filter(move |&service| own.1.is_empty() || place(service) != own)
    }
}

/// The ports of nodes that a Service asks for, and those that others have: either may be very many, and each is looked up at once.
#[derive(Debug)]
pub(crate) struct PortAllocation {
    asked: HashSet<i64>,
    taken: HashSet<i64>,
    has_all_services: bool,
    /// Whether the cluster gave the ports already.
    is_in_range: bool,
}

impl PortAllocation {
    /// Whether a port of nodes can be had, if the request asks for it itself. A dry run does not ask whether it is one that the
    /// server gives.
    pub(crate) fn find(&self, port: i64, is_dry_run: bool) -> AllocationAnswer {
        if !self.asked.contains(&port) {
            AllocationAnswer::Free
        } else if self.taken.contains(&port) {
            AllocationAnswer::Refused(PORT_IS_TAKEN)
        } else if !self.has_all_services {
            AllocationAnswer::Open(OpenQuestion::Services)
        } else if !is_dry_run && !self.is_in_range && !USUAL_PORTS.contains(&port) {
            AllocationAnswer::Open(OpenQuestion::NodePorts)
        } else {
            AllocationAnswer::Free
        }
    }
}

/// Why an address of none of the networks cannot be had. A dry run asks one network of the family, whichever it comes upon first.
// Upstream: pkg/registry/core/service/ipallocator/cidrallocator.go, MetaAllocator.DryRun, getAllocator
fn outside(address: Ip, networks: &[Cidr], is_dry_run: bool) -> Cow<'static, str> {
    let mut of_family = networks
        .iter()
        .filter(|network| network.ip().family() == address.family());
    match of_family.next().filter(|_| is_dry_run) {
        Some(network) => outside_of(address, *network).into(),
        None => "the provided network does not match the current range".into(),
    }
}

/// Why an address cannot be had that is not of the network.
// Upstream: pkg/registry/core/service/ipallocator/interfaces.go, ErrNotInRange
pub(crate) fn outside_of(address: Ip, network: Cidr) -> String {
    format!("the provided IP ({address}) is not in the valid range. The range of valid IPs is {network}")
}

/// Whether an address is of a network, and neither its own nor the one for all.
// Upstream: pkg/api/servicecidr/servicecidr.go, PrefixContainsIP
pub(crate) fn is_usable(ip: Ip, network: Cidr) -> bool {
    let is_last = match (ip.address(), network.masked().ip().address()) {
        (IpAddr::V4(ip), IpAddr::V4(base)) => {
            let hosts = u32::MAX.checked_shr(network.prefix_length().into()).unwrap_or(0);
            ip.to_bits() == base.to_bits() | hosts
        }
        _ => false,
    };
    network.contains_ip(ip) && ip.address() != network.masked().ip().address() && !is_last
}

/// The networks of a ServiceCIDR; none of one that is not ready. One that somebody wrote has no status, and is taken to be ready.
// Upstream: pkg/registry/core/service/ipallocator/cidrallocator.go, syncAllocators
fn ready_networks<'v>(network: &'v Value<'v>) -> impl Iterator<Item = Cidr> + 'v {
    let list = |path: &[&str]| network.at(path).and_then(Value::as_array).unwrap_or_default();
    let is_not_ready = list(&["status", "conditions"]).iter().any(|condition| {
        text_at(condition, &["type"]) == "Ready" && text_at(condition, &["status"]) != "True"
    });
    let is_deleted = network
        .at(&["metadata", "deletionTimestamp"])
        .is_some_and(|time| !time.is_null());
    let networks = list(&["spec", "cidrs"]).iter().filter_map(Value::as_str);
    networks
        .filter(move |_| !is_not_ready && !is_deleted)
        .filter_map(|network| Cidr::parse(network).ok())
}

/// The addresses of a Service.
fn addresses<'v>(service: &'v Value<'v>) -> impl Iterator<Item = &'v str> {
    let one = service.at(&["spec", "clusterIP"]);
    let all = service.at(&["spec", "clusterIPs"]).and_then(Value::as_array);
    let texts = one
        .into_iter()
        .chain(all.unwrap_or_default())
        .filter_map(Value::as_str);
    texts.filter(|address| !matches!(*address, "" | "None"))
}

/// The ports of nodes of a Service, with that for health checks.
fn ports<'v>(service: &'v Value<'v>) -> impl Iterator<Item = i64> + 'v {
    node_ports(service).chain(health_check_port(service))
}

fn node_ports<'v>(service: &'v Value<'v>) -> impl Iterator<Item = i64> + 'v {
    let all = service.at(&["spec", "ports"]).and_then(Value::as_array);
    let ports = all.unwrap_or_default().iter();
    let numbers = ports.filter_map(|port| port.get("nodePort")?.as_int());
    numbers.filter(|number| *number != 0)
}

fn health_check_port(service: &Value<'_>) -> Option<i64> {
    let port = service.at(&["spec", "healthCheckNodePort"])?;
    port.as_int().filter(|number| *number != 0)
}
