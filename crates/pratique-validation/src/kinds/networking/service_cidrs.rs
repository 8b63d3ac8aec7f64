//! ServiceCIDRs.

use crate::addresses::{is_ipv6_network, validate_cidr};
use crate::errors::{Errors, IMMUTABLE};
use crate::internal::internal_json;
use crate::kinds::Request;
use crate::messages::subdomain_name;
use crate::node::Node;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};

// Upstream: pkg/apis/networking/validation/validation.go, ValidateServiceCIDR
pub(super) fn validate_service_cidr(request: &Request<'_>, errors: &mut Errors) {
    validate_core_meta(&request.object.child("metadata"), false, subdomain_name, errors);
    validate_networks(&request.object.child("spec"), errors);
}

// Upstream: pkg/apis/networking/validation/validation.go, validateServiceCIDRSpec
fn validate_networks(spec: &Node<'_, '_>, errors: &mut Errors) {
    let networks = spec.child("cidrs");
    if networks.is_empty() {
        errors.required(networks, "at least one CIDR required");
        return;
    }
    if networks.len() > 2 {
        let value = internal_json(errors.release(), "networking.ServiceCIDRSpec", spec.value());
        errors.invalid(networks, value, "may only hold up to 2 values");
        return;
    }
    for network in networks.items() {
        validate_cidr(&network, errors);
    }
    let mut families = networks.items().map(|network| is_ipv6_network(network.as_text()));
    if let (Some(Some(first)), Some(Some(second))) = (families.next(), families.next())
        && first == second
    {
        errors.invalid_value(
            &networks,
            "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64",
        );
    }
}

/// One network may be added to one of the other family; nothing else may change.
// Upstream: pkg/apis/networking/validation/validation.go, ValidateServiceCIDRUpdate
pub(super) fn validate_service_cidr_update(request: &Request<'_>, errors: &mut Errors) {
    validate_status_update(request, errors);
    let (spec, old_spec) = (request.object.child("spec"), request.old.child("spec"));
    let (networks, old) = (spec.child("cidrs"), old_spec.child("cidrs"));
    let is_grown = (old.len(), networks.len()) == (1, 2);
    if networks.len() != old.len() && !is_grown {
        errors.invalid_value(&networks, IMMUTABLE);
        return;
    }
    for (network, old) in networks.items().zip(old.items()) {
        if network.as_text() != old.as_text() {
            errors.invalid_or_empty(&network, IMMUTABLE);
        }
    }
    if is_grown {
        validate_networks(&spec, errors);
    }
}

// Upstream: pkg/apis/networking/validation/validation.go, ValidateServiceCIDRStatusUpdate
pub(super) fn validate_status_update(request: &Request<'_>, errors: &mut Errors) {
    let (object, old) = (&request.object, &request.old);
    validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
}
