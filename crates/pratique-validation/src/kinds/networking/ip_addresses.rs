//! IPAddresses.

use pratique_gotext::validation::dns1123_subdomain;

use crate::addresses::canonical_ip_messages;
use crate::errors::Errors;
use crate::internal::internal_json;
use crate::kinds::Request;
use crate::messages::path_segment_name;
use crate::node::Node;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};

/// An address, whose name it is; that its parent does not change is a declarative rule.
// Upstream: pkg/apis/networking/validation/validation.go, ValidateIPAddress
pub(super) fn validate_ip_address(request: &Request<'_>, errors: &mut Errors) {
    let metadata = request.object.child("metadata");
    validate_core_meta(&metadata, false, |name, _| canonical_ip_messages(name), errors);
    let spec = request.object.child("spec");
    let parent = spec.child("parentRef");
    if !parent.is_set() {
        require(&parent, errors);
        return;
    }
    let group = parent.child("group");
    if !group.as_text().is_empty() {
        errors.invalid_each(&group, &dns1123_subdomain(group.as_text()));
    }
    for name in ["resource", "name", "namespace"] {
        let field = parent.child(name);
        if field.as_text().is_empty() && name != "namespace" {
            require(&field, errors);
        }
        errors.invalid_each(&field, &path_segment_name(field.as_text(), false));
    }
}

/// A field that a declarative rule requires, too.
fn require(field: &Node<'_, '_>, errors: &mut Errors) {
    let start = errors.len();
    errors.required(field, "");
    errors.cover_from(start, "");
}

// Upstream: pkg/registry/networking/ipaddress/strategy.go, ValidateUpdate
pub(super) fn validate_ip_address_update(request: &Request<'_>, errors: &mut Errors) {
    validate_ip_address(request, errors);
    let (object, old) = (&request.object, &request.old);
    validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
    let (spec, old_spec) = (object.child("spec"), old.child("spec"));
    let (parent, old_parent) = (spec.child("parentRef"), old_spec.child("parentRef"));
    if !parent.is_same(&old_parent) {
        let value = internal_json(errors.release(), "*networking.ParentReference", parent.value());
        errors.immutable_by_hand(parent, value);
    }
}
