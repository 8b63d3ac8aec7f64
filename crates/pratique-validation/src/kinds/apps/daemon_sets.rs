//! DaemonSets.

use super::rolling_updates::{int_or_percent, printed, validate_at_most_all, validate_int_or_percent};
use super::{
    is_empty_selector, validate_annotated_number, validate_collision_count, validate_counts,
    validate_metadata_update, validate_runs_forever, validate_template_labels,
};
use crate::errors::Errors;
use crate::internal::internal_json;
use crate::kinds::Request;
use crate::kinds::pods::template_options;
use crate::node::Node;
use crate::pod::validate_pod_template;
use crate::selector::{has_invalid_values, is_selector, validate_selector};

// Upstream: pkg/apis/apps/validation/validation.go, ValidateDaemonSetSpec
pub(super) fn validate_daemon_set(request: &Request<'_>, errors: &mut Errors) {
    let (spec, old) = (request.object.child("spec"), request.old.child("spec"));
    let mut options = template_options(&old.child("template"), request.settings.gates);
    options.invalid_selector_values |= has_invalid_values(&old.child("selector"));
    let selector = spec.child("selector");
    validate_selector(&selector, options.invalid_selector_values, errors);
    if is_selector(&selector) {
        validate_template_labels(&spec, errors);
    }
    if selector.is_set() && is_empty_selector(&selector) {
        errors.invalid(
            selector,
            internal_json(errors.release(), "*metav1.LabelSelector", selector.value()),
            "empty selector is invalid for daemonset",
        );
    }
    let template = spec.child("template");
    validate_pod_template(&template, None, options, errors);
    validate_runs_forever(&template, "DaemonSet", true, errors);
    errors.nonnegative(&spec.child("minReadySeconds"));
    validate_annotated_number(
        &request.object,
        "deprecated.daemonset.template.generation",
        "spec.templateGeneration",
        errors,
    );
    validate_strategy(&spec.child("updateStrategy"), errors);
    errors.nonnegative(&spec.child("revisionHistoryLimit"));
}

// Upstream: pkg/apis/apps/validation/validation.go, ValidateDaemonSetUpdateStrategy
fn validate_strategy(strategy: &Node<'_, '_>, errors: &mut Errors) {
    let update = strategy.child("rollingUpdate");
    match strategy.child("type").as_text() {
        "OnDelete" => {}
        "RollingUpdate" if !update.is_set() => errors.required(update, ""),
        "RollingUpdate" => validate_rolling_update(&update, errors),
        _ => errors.push(pratique_types::field::Error::not_supported(
            strategy,
            internal_json(errors.release(), "apps.DaemonSetUpdateStrategy", strategy.value()),
            ["RollingUpdate", "OnDelete"],
        )),
    }
}

// Upstream: pkg/apis/apps/validation/validation.go, ValidateRollingUpdateDaemonSet
fn validate_rolling_update(update: &Node<'_, '_>, errors: &mut Errors) {
    let (unavailable, surge) = (update.child("maxUnavailable"), update.child("maxSurge"));
    validate_int_or_percent(&unavailable, errors);
    validate_int_or_percent(&surge, errors);
    validate_at_most_all(&unavailable, errors);
    validate_at_most_all(&surge, errors);
    match (int_or_percent(&unavailable) != 0, int_or_percent(&surge) != 0) {
        (true, true) => errors.invalid(
            surge,
            printed(&surge),
            "may not be set when maxUnavailable is non-zero",
        ),
        (false, false) => errors.required(unavailable, "cannot be 0 when maxSurge is 0"),
        _ => {}
    }
}

// Upstream: pkg/apis/apps/validation/validation.go, ValidateDaemonSetStatusUpdate
pub(super) fn validate_daemon_set_status(request: &Request<'_>, errors: &mut Errors) {
    validate_metadata_update(request, errors);
    validate_counts(
        &request.object.child("status"),
        &[
            "currentNumberScheduled",
            "numberMisscheduled",
            "desiredNumberScheduled",
            "numberReady",
            "observedGeneration",
            "updatedNumberScheduled",
            "numberAvailable",
            "numberUnavailable",
            "collisionCount",
        ],
        errors,
    );
    validate_collision_count(request, errors);
}
