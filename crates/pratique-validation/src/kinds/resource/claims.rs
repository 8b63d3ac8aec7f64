//! ResourceClaims and their templates.

use super::admin_access::authorize_requests;
use super::older_versions::with_newest_form;
use super::requests::validate_device_claim;
use crate::errors::{Errors, IMMUTABLE};
use crate::internal::internal_json;
use crate::messages::subdomain_name;
use crate::object_meta::{validate_core_meta, validate_core_meta_update, validate_template_meta};
use crate::rules::Request;

// Upstream: pkg/apis/resource/validation/validation.go, ValidateResourceClaim
pub(super) fn validate_claim(request: &Request<'_>, errors: &mut Errors) {
    with_newest_form(request, |request| {
        let spec = request.object.child("spec");
        authorize_requests(request, &spec, errors);
        validate_core_meta(&request.object.child("metadata"), true, subdomain_name, errors);
        validate_device_claim(request, &spec.child("devices"), None, errors);
    });
}

// Upstream: pkg/apis/resource/validation/validation.go, ValidateResourceClaimUpdate
pub(super) fn validate_claim_update(request: &Request<'_>, errors: &mut Errors) {
    with_newest_form(request, |request| {
        let (metadata, old) = (request.object.child("metadata"), request.old.child("metadata"));
        validate_core_meta(&metadata, true, subdomain_name, errors);
        let spec = request.object.child("spec");
        // Upstream: pkg/registry/resource/resourceclaim/strategy.go, ValidateUpdate: before 1.35, all was validated, and twice.
        if !errors.release().at_least(1, 35) {
            validate_device_claim(request, &spec.child("devices"), None, errors);
        }
        validate_core_meta_update(&metadata, &old, errors);
        let start = errors.len();
        validate_same_spec(request, "resource.ResourceClaimSpec", errors);
        errors.cover_from(start, "immutable");
        if !errors.release().at_least(1, 35) {
            validate_device_claim(request, &spec.child("devices"), None, errors);
        }
    });
}

fn validate_same_spec(request: &Request<'_>, type_name: &str, errors: &mut Errors) {
    let (spec, old) = (request.object.child("spec"), request.old.child("spec"));
    if !spec.is_same(&old) {
        errors.invalid(
            spec,
            internal_json(errors.release(), type_name, spec.value()),
            IMMUTABLE,
        );
    }
}

// Upstream: pkg/apis/resource/validation/validation.go, ValidateResourceClaimTemplate
pub(super) fn validate_template(request: &Request<'_>, errors: &mut Errors) {
    with_newest_form(request, |request| {
        let template = request.object.child("spec");
        authorize_requests(request, &template.child("spec"), errors);
        validate_template_itself(request, errors);
    });
}

fn validate_template_itself(request: &Request<'_>, errors: &mut Errors) {
    validate_core_meta(&request.object.child("metadata"), true, subdomain_name, errors);
    validate_template_spec(request, errors);
}

fn validate_template_spec(request: &Request<'_>, errors: &mut Errors) {
    let template = request.object.child("spec");
    validate_template_meta(&template.child("metadata"), errors);
    let spec = template.child("spec");
    let old_requests = request.old.value().at(&["spec", "spec", "devices", "requests"]);
    validate_device_claim(request, &spec.child("devices"), old_requests, errors);
}

// Upstream: pkg/registry/resource/resourceclaimtemplate/strategy.go, ValidateUpdate
pub(super) fn validate_template_update(request: &Request<'_>, errors: &mut Errors) {
    with_newest_form(request, |request| {
        validate_template_itself(request, errors);
        let (metadata, old) = (request.object.child("metadata"), request.old.child("metadata"));
        validate_core_meta_update(&metadata, &old, errors);
        validate_same_spec(request, "resource.ResourceClaimTemplateSpec", errors);
        // Upstream: pkg/apis/resource/validation/validation.go, ValidateResourceClaimTemplateUpdate: before 1.35, once more.
        if !errors.release().at_least(1, 35) {
            validate_template_spec(request, errors);
        }
    });
}
