//! Parameters for drivers.

use pratique_json::Value;

use super::names::validate_covered_driver;
use crate::errors::Errors;
use crate::node::Node;

const MAX_PARAMETERS: usize = 10 << 10;

/// A stored one may be longer than a new one.
// Upstream: pkg/apis/resource/validation/validation.go, validateDeviceConfiguration
pub(super) fn validate_configuration(configuration: &Node<'_, '_>, is_stored: bool, errors: &mut Errors) {
    let opaque = configuration.child("opaque");
    if !opaque.is_set() {
        errors.required(opaque, "");
        return;
    }
    validate_covered_driver(&opaque.child("driver"), errors);
    validate_raw(&opaque.child("parameters"), is_stored, errors);
}

/// Data of any form that is a JSON object.
// Upstream: pkg/apis/resource/validation/validation.go, validateRawExtension
pub(super) fn validate_raw(data: &Node<'_, '_>, is_stored: bool, errors: &mut Errors) {
    if !data.is_set() {
        errors.required(data, "");
    } else if !is_stored && data.value().to_string().len() > MAX_PARAMETERS {
        errors.too_long(data, MAX_PARAMETERS as i64);
    } else if !matches!(data.value(), Value::Object(_)) {
        errors.invalid(data, "<value omitted>", "must be a valid JSON object");
    }
}
