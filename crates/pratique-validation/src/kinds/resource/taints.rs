//! Taints of devices, what tolerates them, and the rules that taint devices.

use super::expressions::validate_selectors;
use super::names::{validate_label, validate_label_value, validate_pool_name, validate_subdomain};
use crate::conditions::validate_conditions;
use crate::errors::Errors;
use crate::messages::subdomain_name;
use crate::node::Node;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};
use crate::pod::validate_driver_name;
use crate::rules::Request;
use crate::selector::validate_label_name;

const EFFECTS: &[&str] = &["NoExecute", "NoSchedule", "None"];

// Upstream: pkg/apis/resource/validation/validation.go, validateDeviceToleration
pub(super) fn validate_toleration(toleration: &Node<'_, '_>, errors: &mut Errors) {
    let (key, value) = (toleration.child("key"), toleration.child("value"));
    if !key.as_text().is_empty() {
        let start = errors.len();
        validate_label_name(&key, errors);
        errors.cover_from(start, "format=k8s-label-key");
    }
    let operator = toleration.child("operator");
    match operator.as_text() {
        "Exists" if !value.as_text().is_empty() => {
            errors.invalid(value, value.as_text(), "must be empty for operator `Exists`");
        }
        "Exists" => {}
        "Equal" => validate_label_value(&value, errors),
        _ => {
            let start = errors.len();
            errors.required_enum(&operator, &["Equal", "Exists"]);
            errors.cover_from(start, "");
        }
    }
    let effect = toleration.child("effect");
    if !effect.as_text().is_empty() {
        let start = errors.len();
        errors.required_enum(&effect, effects(errors));
        errors.cover_from(start, "");
    }
}

/// Before 1.35, a taint had some effect.
fn effects(errors: &Errors) -> &'static [&'static str] {
    let count = if errors.release().at_least(1, 35) { 3 } else { 2 };
    EFFECTS.get(..count).unwrap_or_default()
}

/// A taint; an effect that did not change is not validated again.
// Upstream: pkg/apis/resource/validation/validation.go, validateDeviceTaint
pub(super) fn validate_taint(taint: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    validate_label_name(&taint.child("key"), errors);
    let (value, effect) = (taint.child("value"), taint.child("effect"));
    if !value.as_text().is_empty() {
        validate_label_value(&value, errors);
    }
    let is_validated = !errors.release().at_least(1, 35) || !old.is_set();
    if is_validated || old.child("effect").as_text() != effect.as_text() {
        let start = errors.len();
        errors.required_enum(&effect, effects(errors));
        errors.cover_from(start, "");
    }
}

// Upstream: pkg/apis/resource/validation/validation.go, ValidateDeviceTaintRule
pub(super) fn validate_taint_rule(request: &Request<'_>, errors: &mut Errors) {
    validate_core_meta(&request.object.child("metadata"), false, subdomain_name, errors);
    validate_rule_spec(request, errors);
}

// Upstream: pkg/apis/resource/validation/validation.go, ValidateDeviceTaintRuleUpdate
pub(super) fn validate_taint_rule_update(request: &Request<'_>, errors: &mut Errors) {
    let (metadata, old) = (request.object.child("metadata"), request.old.child("metadata"));
    validate_core_meta_update(&metadata, &old, errors);
    validate_rule_spec(request, errors);
}

// Upstream: pkg/apis/resource/validation/validation.go, validateDeviceTaintRuleSpec
fn validate_rule_spec(request: &Request<'_>, errors: &mut Errors) {
    let (spec, old) = (request.object.child("spec"), request.old.child("spec"));
    let selector = spec.child("deviceSelector");
    let (driver, pool, device) = (
        selector.child("driver"),
        selector.child("pool"),
        selector.child("device"),
    );
    let is_latest = errors.release().at_least(1, 35);
    let class = selector.child("deviceClassName");
    if class.is_set() && !is_latest {
        validate_subdomain(&class, errors);
    }
    if driver.is_set() {
        validate_driver_name(&driver, errors);
    }
    if pool.is_set() {
        validate_pool_name(&pool, errors);
    }
    if device.is_set() {
        validate_label(&device, errors);
    }
    // Before 1.35, devices were also selected by their classes and by expressions.
    if !is_latest {
        validate_selectors(request, &selector.child("selectors"), false, errors);
    }
    validate_taint(&spec.child("taint"), &old.child("taint"), errors);
}

// Upstream: pkg/apis/resource/validation/validation.go, ValidateDeviceTaintRuleStatusUpdate
pub(super) fn validate_taint_rule_status(request: &Request<'_>, errors: &mut Errors) {
    const MAX_CONDITIONS: i64 = 8;
    let (metadata, old) = (request.object.child("metadata"), request.old.child("metadata"));
    validate_core_meta_update(&metadata, &old, errors);
    // Before 1.35, the rules had no status.
    if !errors.release().at_least(1, 35) {
        return;
    }
    let status = request.object.child("status");
    let conditions = status.child("conditions");
    validate_conditions(&conditions, errors);
    if conditions.len() > MAX_CONDITIONS as usize {
        errors.too_many(&conditions, MAX_CONDITIONS);
    }
}
