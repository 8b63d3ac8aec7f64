//! ResourcePoolStatusRequests, of which declarative rules say nearly all.

use crate::conditions::validate_conditions;
use crate::errors::{Errors, IMMUTABLE};
use crate::internal::internal_json;
use crate::messages::subdomain_name;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};
use crate::rules::Request;

// Upstream: pkg/apis/resource/validation/validation_resourcepoolstatusrequest.go, ValidateResourcePoolStatusRequest
pub(super) fn validate_request(request: &Request<'_>, errors: &mut Errors) {
    validate_core_meta(&request.object.child("metadata"), false, subdomain_name, errors);
}

// Upstream: pkg/apis/resource/validation/validation_resourcepoolstatusrequest.go, ValidateResourcePoolStatusRequestUpdate
pub(super) fn validate_request_update(request: &Request<'_>, errors: &mut Errors) {
    let (metadata, old) = (request.object.child("metadata"), request.old.child("metadata"));
    validate_core_meta_update(&metadata, &old, errors);
}

// Upstream: pkg/apis/resource/validation/validation_resourcepoolstatusrequest.go, ValidateResourcePoolStatusRequestStatusUpdate
pub(super) fn validate_request_status(request: &Request<'_>, errors: &mut Errors) {
    validate_request_update(request, errors);
    let (status, old) = (request.object.child("status"), request.old.child("status"));
    if !old.is_set() {
        validate_conditions(&status.child("conditions"), errors);
    } else if !status.is_same(&old) {
        let value = internal_json(
            errors.release(),
            "*resource.ResourcePoolStatusRequestStatus",
            status.value(),
        );
        errors.invalid(status, value, IMMUTABLE);
    }
}
