//! Deployments and ReplicaSets.

use super::rolling_updates::{int_or_percent, printed, validate_at_most_all, validate_int_or_percent};
use super::{
    can_select, validate_annotated_number, validate_collision_count, validate_counts,
    validate_metadata_update, validate_not_greater, validate_required_selector, validate_runs_forever,
    validate_template_labels,
};
use crate::errors::Errors;
use crate::internal::internal_json;
use crate::kinds::Request;
use crate::kinds::pods::template_options;
use crate::node::Node;
use crate::pod::validate_pod_template;

// Upstream: pkg/apis/apps/validation/validation.go, ValidateDeploymentSpec
pub(super) fn validate_deployment(request: &Request<'_>, errors: &mut Errors) {
    let spec = request.object.child("spec");
    errors.nonnegative(&spec.child("replicas"));
    validate_required_selector(&spec, "deployment", errors);
    validate_template(request, &spec, errors);
    validate_strategy(&spec.child("strategy"), errors);
    errors.nonnegative(&spec.child("minReadySeconds"));
    errors.nonnegative(&spec.child("revisionHistoryLimit"));
    validate_annotated_number(
        &request.object,
        "deprecated.deployment.rollback.to",
        "spec.rollback.version",
        errors,
    );
    let deadline = spec.child("progressDeadlineSeconds");
    if deadline.is_set() {
        errors.nonnegative(&deadline);
        if deadline.int() <= spec.child("minReadySeconds").int() {
            errors.invalid(deadline, deadline.int(), "must be greater than minReadySeconds");
        }
    }
}

// Upstream: pkg/apis/apps/validation/validation.go, ValidateReplicaSetSpec
pub(super) fn validate_replica_set(request: &Request<'_>, errors: &mut Errors) {
    let spec = request.object.child("spec");
    errors.nonnegative(&spec.child("replicas"));
    errors.nonnegative(&spec.child("minReadySeconds"));
    // It says so of ReplicaSets, too.
    validate_required_selector(&spec, "deployment", errors);
    validate_template(request, &spec, errors);
}

// Upstream: pkg/apis/apps/validation/validation.go, ValidatePodTemplateSpecForReplicaSet
fn validate_template(request: &Request<'_>, spec: &Node<'_, '_>, errors: &mut Errors) {
    if !can_select(spec, "invalid label selector", errors) {
        return;
    }
    let selector = spec.child("selector");
    if !selector.is_set() || !super::is_empty_selector(&selector) {
        validate_template_labels(spec, errors);
    }
    let (template, old) = (spec.child("template"), request.old.child("spec"));
    validate_pod_template(
        &template,
        None,
        template_options(&old.child("template"), request.settings.gates),
        errors,
    );
    validate_runs_forever(&template, "ReplicaSet", true, errors);
}

// Upstream: pkg/apis/apps/validation/validation.go, ValidateDeploymentStrategy
fn validate_strategy(strategy: &Node<'_, '_>, errors: &mut Errors) {
    let update = strategy.child("rollingUpdate");
    match strategy.child("type").as_text() {
        "Recreate" => {
            if update.is_set() {
                errors.forbidden(update, "may not be specified when strategy `type` is 'Recreate'");
            }
        }
        "RollingUpdate" if !update.is_set() => {
            errors.required(update, "this should be defaulted and never be nil");
        }
        "RollingUpdate" => validate_rolling_update(&update, errors),
        _ => errors.push(pratique_types::field::Error::not_supported(
            strategy,
            internal_json(errors.release(), "apps.DeploymentStrategy", strategy.value()),
            ["Recreate", "RollingUpdate"],
        )),
    }
}

// Upstream: pkg/apis/apps/validation/validation.go, ValidateRollingUpdateDeployment
fn validate_rolling_update(update: &Node<'_, '_>, errors: &mut Errors) {
    let (unavailable, surge) = (update.child("maxUnavailable"), update.child("maxSurge"));
    validate_int_or_percent(&unavailable, errors);
    validate_int_or_percent(&surge, errors);
    if int_or_percent(&unavailable) == 0 && int_or_percent(&surge) == 0 {
        errors.invalid(
            unavailable,
            printed(&unavailable),
            "may not be 0 when `maxSurge` is 0",
        );
    }
    validate_at_most_all(&unavailable, errors);
}

// Upstream: pkg/apis/apps/validation/validation.go, ValidateDeploymentStatusUpdate
pub(super) fn validate_deployment_status(request: &Request<'_>, errors: &mut Errors) {
    validate_metadata_update(request, errors);
    let status = request.object.child("status");
    validate_counts(
        &status,
        &[
            "observedGeneration",
            "replicas",
            "updatedReplicas",
            "readyReplicas",
            "availableReplicas",
            "unavailableReplicas",
            "terminatingReplicas",
            "collisionCount",
        ],
        errors,
    );
    validate_not_greater(
        &status,
        &["updatedReplicas", "readyReplicas", "availableReplicas"],
        "replicas",
        "cannot be greater than status.replicas",
        errors,
    );
    validate_available(&status, errors);
    validate_collision_count(request, errors);
}

fn validate_available(status: &Node<'_, '_>, errors: &mut Errors) {
    let detail = "cannot be greater than readyReplicas";
    validate_not_greater(status, &["availableReplicas"], "readyReplicas", detail, errors);
}

// Upstream: pkg/apis/apps/validation/validation.go, ValidateReplicaSetStatusUpdate
pub(crate) fn validate_replica_set_status(request: &Request<'_>, errors: &mut Errors) {
    validate_metadata_update(request, errors);
    let status = request.object.child("status");
    validate_counts(
        &status,
        &[
            "replicas",
            "fullyLabeledReplicas",
            "readyReplicas",
            "availableReplicas",
            "observedGeneration",
            "terminatingReplicas",
        ],
        errors,
    );
    validate_not_greater(
        &status,
        &["fullyLabeledReplicas", "readyReplicas", "availableReplicas"],
        "replicas",
        "cannot be greater than status.replicas",
        errors,
    );
    validate_available(&status, errors);
}
