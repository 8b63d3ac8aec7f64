//! DeviceClasses.

use super::configuration::validate_configuration;
use super::expressions::validate_selectors;
use super::limits::{ListLimit, validate_list};
use crate::declarative::long_name;
use crate::errors::Errors;
use crate::messages::subdomain_name;
use crate::node::Node;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};
use crate::quantities::is_extended_resource;
use crate::rules::Request;

// Upstream: pkg/apis/resource/validation/validation.go, ValidateDeviceClass
pub(super) fn validate_class(request: &Request<'_>, errors: &mut Errors) {
    let metadata = request.object.child("metadata");
    validate_class_meta(&metadata, errors);
    validate_spec(request, errors);
}

/// A prefix of a name is not validated since 1.35.
fn validate_class_meta(metadata: &Node<'_, '_>, errors: &mut Errors) {
    let start = errors.len();
    let is_by_hand = !errors.release().at_least(1, 35);
    let rule = |name: &str, is_prefix: bool| {
        if is_by_hand {
            subdomain_name(name, is_prefix)
        } else if is_prefix {
            Vec::new()
        } else {
            long_name(name)
        }
    };
    validate_core_meta(metadata, false, rule, errors);
    errors.cover_from(start, "format=k8s-long-name");
}

// Upstream: pkg/apis/resource/validation/validation.go, ValidateDeviceClassUpdate
pub(super) fn validate_class_update(request: &Request<'_>, errors: &mut Errors) {
    let (metadata, old) = (request.object.child("metadata"), request.old.child("metadata"));
    validate_class_meta(&metadata, errors);
    // Upstream: pkg/registry/resource/deviceclass/strategy.go, ValidateUpdate: before 1.35, it was validated twice.
    if !errors.release().at_least(1, 35) {
        let request = Request {
            old: Node::absent(*request.old.path()),
            ..*request
        };
        validate_spec(&request, errors);
    }
    validate_core_meta_update(&metadata, &old, errors);
    validate_spec(request, errors);
}

// Upstream: pkg/apis/resource/validation/validation.go, validateDeviceClassSpec
fn validate_spec(request: &Request<'_>, errors: &mut Errors) {
    let (spec, old) = (request.object.child("spec"), request.old.child("spec"));
    // Any change makes all of them new ones.
    let is_stored = |name: &str| request.old.is_set() && spec.child(name).is_same(&old.child(name));
    validate_selectors(request, &spec.child("selectors"), is_stored("selectors"), errors);
    let are_stored = is_stored("config");
    validate_list(
        &spec.child("config"),
        ListLimit::Covered(32),
        errors,
        |of, errors| {
            validate_configuration(of, are_stored, errors);
        },
    );
    let resource = spec.child("extendedResourceName");
    if resource.is_set() && !is_extended_resource(resource.as_text()) {
        let start = errors.len();
        errors.invalid(
            resource,
            resource.as_text(),
            "must be a valid extended resource name",
        );
        errors.cover_from(start, "format=k8s-extended-resource-name");
    }
}
