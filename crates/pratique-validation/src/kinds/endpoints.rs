//! Endpoints.

use pratique_gotext::validation::{dns1123_label, qualified_name};

use super::{KindRules, Request};
use crate::addresses::{validate_endpoint_ip, validate_legacy_ip};
use crate::errors::Errors;
use crate::messages::{port_number, subdomain_name};
use crate::node::Node;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};

pub(super) const KINDS: &[KindRules] = &[KindRules {
    group: "",
    kind: "Endpoints",
    is_namespaced: true,
    create: validate_endpoints,
    update: |request, errors| {
        let (object, old) = (&request.object, &request.old);
        validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
        validate_endpoints(request, errors);
    },
    subresources: &[],
}];

const PROTOCOLS: &[&str] = &["SCTP", "TCP", "UDP"];

// Upstream: pkg/apis/core/validation/validation.go, ValidateEndpoints
fn validate_endpoints(request: &Request<'_>, errors: &mut Errors) {
    validate_core_meta(&request.object.child("metadata"), true, subdomain_name, errors);
    let subsets = request.object.child("subsets");
    let mut faults = Errors::of_gates(errors.gates());
    for subset in subsets.items() {
        validate_subset(&subset, &mut faults);
    }
    // Older servers took what newer ones do not: what did not change may stay.
    let old = &request.old;
    let may_stay = old.is_set() && subsets.is_same(&old.child("subsets"));
    if !may_stay {
        errors.extend(faults);
    }
}

fn validate_subset(subset: &Node<'_, '_>, errors: &mut Errors) {
    let lists = [subset.child("addresses"), subset.child("notReadyAddresses")];
    if lists.iter().all(Node::is_empty) {
        errors.required(subset, "must specify `addresses` or `notReadyAddresses`");
    }
    for address in lists.iter().flat_map(Node::items) {
        validate_address(&address, errors);
    }
    let ports = subset.child("ports");
    for port in ports.items() {
        validate_port(&port, ports.len() > 1, errors);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateEndpointAddress
fn validate_address(address: &Node<'_, '_>, errors: &mut Errors) {
    let (ip, host, node) = (
        address.child("ip"),
        address.child("hostname"),
        address.child("nodeName"),
    );
    validate_legacy_ip(&ip, &Node::absent(*ip.path()), errors);
    if !host.as_text().is_empty() {
        errors.invalid_each(&host, &dns1123_label(host.as_text()));
    }
    if node.is_set() {
        errors.invalid_each(&node, &subdomain_name(node.as_text(), false));
    }
    validate_endpoint_ip(&ip, errors);
}

// Upstream: pkg/apis/core/validation/validation.go, validateEndpointPort
fn validate_port(port: &Node<'_, '_>, requires_name: bool, errors: &mut Errors) {
    let (name, number) = (port.child("name"), port.child("port"));
    if !name.as_text().is_empty() {
        errors.invalid_each(&name, &dns1123_label(name.as_text()));
    } else if requires_name {
        errors.required(name, "");
    }
    if let Some(message) = port_number(number.int()) {
        errors.invalid(number, number.int(), &message);
    }
    errors.required_enum(&port.child("protocol"), PROTOCOLS);
    let application = port.child("appProtocol");
    if application.is_set() {
        errors.invalid_each(&application, &qualified_name(application.as_text()));
    }
}
