//! IPAddresses.

use pratique_gotext::validation::dns1123_subdomain;

use crate::addresses::canonical_ip_messages;
use crate::errors::Errors;
use crate::kinds::Request;
use crate::messages::path_segment_name;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};

/// An address, whose name it is; that it has a parent with a resource and a name is required by declarative rules.
// Upstream: pkg/apis/networking/validation/validation.go, ValidateIPAddress
pub(super) fn validate_ip_address(request: &Request<'_>, errors: &mut Errors) {
    let metadata = request.object.child("metadata");
    validate_core_meta(&metadata, false, |name, _| canonical_ip_messages(name), errors);
    let spec = request.object.child("spec");
    let parent = spec.child("parentRef");
    let group = parent.child("group");
    if !group.text().is_empty() {
        errors.invalid_each(&group, &dns1123_subdomain(group.text()));
    }
    for name in ["resource", "name", "namespace"] {
        let field = parent.child(name);
        errors.invalid_each(&field, &path_segment_name(field.text(), false));
    }
}

// Upstream: pkg/registry/networking/ipaddress/strategy.go, ValidateUpdate
pub(super) fn validate_ip_address_update(request: &Request<'_>, errors: &mut Errors) {
    validate_ip_address(request, errors);
    let (object, old) = (&request.object, &request.old);
    validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
}
