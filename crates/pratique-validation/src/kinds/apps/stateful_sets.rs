//! StatefulSets.

use pratique_gotext::validation::dns1123_label;

use super::rolling_updates::{int_or_percent, printed, validate_at_most_all, validate_int_or_percent};
use super::{
    can_select, is_empty_selector, validate_collision_count, validate_counts, validate_metadata_update,
    validate_not_greater, validate_required_selector, validate_runs_forever, validate_template_labels,
};
use crate::claims::{ClaimOptions, validate_claim_spec};
use crate::errors::Errors;
use crate::internal::internal_json;
use crate::kinds::Request;
use crate::kinds::pods::template_options;
use crate::node::Node;
use crate::pod::{PodOptions, validate_pod_template, validate_template_texts};

/// What is left out when a set changes.
// Upstream: pkg/apis/apps/validation/validation.go, StatefulSetValidationOptions
#[derive(Clone, Copy, Default)]
struct SetOptions {
    is_update: bool,
    skips_template: bool,
    allows_recreate: bool,
}

pub(super) fn validate_stateful_set(request: &Request<'_>, errors: &mut Errors) {
    validate_spec(
        &request.object.child("spec"),
        PodOptions::default().with_gates(request.settings.gates),
        SetOptions {
            allows_recreate: request.settings.gates.recreates_sets,
            ..SetOptions::default()
        },
        errors,
    );
}

// Upstream: pkg/apis/apps/validation/validation.go, ValidateStatefulSetUpdate
pub(super) fn validate_stateful_set_update(request: &Request<'_>, errors: &mut Errors) {
    let (spec, old) = (request.object.child("spec"), request.old.child("spec"));
    let options = template_options(&old.child("template"), request.settings.gates);
    let strategy = old.child("updateStrategy");
    let mut set_options = SetOptions {
        is_update: true,
        allows_recreate: request.settings.gates.recreates_sets
            || strategy.child("type").as_text() == "Recreate",
        ..SetOptions::default()
    };
    let mut old_errors = Errors::of_gates(errors.gates());
    validate_spec(&old, options, set_options, &mut old_errors);
    set_options.skips_template = !old_errors.is_empty();
    validate_spec(&spec, options, set_options, errors);
    // Upstream: pkg/apis/apps/validation/validation.go, ValidateStatefulSetUpdate: before 1.37, one error says what may change.
    if !errors.release().at_least(1, 37) {
        validate_mutable_fields(&spec, &old, errors);
        return;
    }
    let start = errors.len();
    super::validate_unchanged_selector(&spec.child("selector"), &old.child("selector"), errors);
    let (templates, old_templates) = (
        spec.child("volumeClaimTemplates"),
        old.child("volumeClaimTemplates"),
    );
    if !templates.is_same(&old_templates) {
        errors.invalid(
            templates,
            internal_json(
                errors.release(),
                "[]core.PersistentVolumeClaim",
                templates.value(),
            ),
            crate::errors::IMMUTABLE,
        );
    }
    let (service, old_service) = (spec.child("serviceName"), old.child("serviceName"));
    if service.as_text() != old_service.as_text() {
        errors.invalid_or_empty(&service, crate::errors::IMMUTABLE);
    }
    let (management, old_management) = (
        spec.child("podManagementPolicy"),
        old.child("podManagementPolicy"),
    );
    if management.as_text() != old_management.as_text() {
        errors.invalid_name(&management, crate::errors::IMMUTABLE);
    }
    errors.cover_from(start, "immutable");
}

/// Nothing changes but for some fields.
fn validate_mutable_fields(spec: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    const MUTABLE: &[&str] = &[
        "replicas",
        "ordinals",
        "template",
        "updateStrategy",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
        "minReadySeconds",
    ];
    let mut names = spec.entries().chain(old.entries()).map(|(name, _)| name);
    if names.any(|name| !MUTABLE.contains(&name) && !spec.child(name).is_same(&old.child(name))) {
        errors.forbidden(
            spec,
            "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', \
             'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
        );
    }
}

// Upstream: pkg/apis/apps/validation/validation.go, ValidateStatefulSetSpec
fn validate_spec(spec: &Node<'_, '_>, options: PodOptions, set_options: SetOptions, errors: &mut Errors) {
    let management = spec.child("podManagementPolicy");
    match management.as_text() {
        "" => errors.required(management, ""),
        "OrderedReady" | "Parallel" => {}
        _ => errors.invalid_name(&management, "must be 'OrderedReady' or 'Parallel'"),
    }
    validate_strategy(&spec.child("updateStrategy"), set_options, errors);
    let retention = spec.child("persistentVolumeClaimRetentionPolicy");
    if retention.is_set() {
        for name in ["whenDeleted", "whenScaled"] {
            let policy = retention.child(name);
            if !["Retain", "Delete"].contains(&policy.as_text()) {
                errors.not_supported(&policy, &["Retain", "Delete"]);
            }
        }
    }
    let claims = spec.child("volumeClaimTemplates");
    if !set_options.is_update {
        for claim in claims.items() {
            validate_claim_spec(&claim.child("spec"), ClaimOptions::default(), errors);
        }
    }
    errors.nonnegative(&spec.child("replicas"));
    errors.nonnegative(&spec.child("minReadySeconds"));
    let ordinals = spec.child("ordinals");
    if ordinals.is_set() {
        let start = ordinals.child("start");
        errors.nonnegative(&Node::with_path(
            start.value(),
            spec.path().child("ordinals.start"),
        ));
    }
    let service = spec.child("serviceName");
    if !set_options.is_update && !service.as_text().is_empty() {
        errors.invalid_each(&service, &dns1123_label(service.as_text()));
    }
    validate_required_selector(spec, "statefulset", errors);
    let template = spec.child("template");
    if can_select(spec, "", errors) {
        let selector = spec.child("selector");
        if !selector.is_set() || !is_empty_selector(&selector) {
            validate_template_labels(spec, errors);
        }
        if !set_options.skips_template {
            validate_pod_template(&template, Some(&claims), options, errors);
        }
        validate_template_texts(&template, options, errors);
    }
    validate_runs_forever(&template, "StatefulSet", true, errors);
}

fn validate_strategy(strategy: &Node<'_, '_>, set_options: SetOptions, errors: &mut Errors) {
    let (kind, update) = (strategy.child("type"), strategy.child("rollingUpdate"));
    let is_known = ["RollingUpdate", "OnDelete"].contains(&kind.as_text())
        || (set_options.allows_recreate && kind.as_text() == "Recreate");
    if kind.as_text().is_empty() {
        errors.required(strategy, "");
    } else if !is_known {
        let detail = if set_options.allows_recreate {
            "must be 'RollingUpdate', 'OnDelete', or 'Recreate'"
        } else {
            "must be 'RollingUpdate' or 'OnDelete'"
        };
        let value = internal_json(
            errors.release(),
            "apps.StatefulSetUpdateStrategy",
            strategy.value(),
        );
        errors.invalid(strategy, value, detail);
    } else if update.is_set() && kind.as_text() != "RollingUpdate" {
        let value = internal_json(
            errors.release(),
            "apps.RollingUpdateStatefulSetStrategy",
            update.value(),
        );
        errors.invalid(update, value, "only allowed for updateStrategy 'RollingUpdate'");
    } else if update.is_set() {
        errors.nonnegative(&update.child("partition"));
        let unavailable = update.child("maxUnavailable");
        if unavailable.is_set() {
            validate_int_or_percent(&unavailable, errors);
            if int_or_percent(&unavailable) == 0 {
                errors.invalid(unavailable, printed(&unavailable), "cannot be 0");
            }
            validate_at_most_all(&unavailable, errors);
        }
    }
}

// Upstream: pkg/apis/apps/validation/validation.go, ValidateStatefulSetStatusUpdate
pub(super) fn validate_stateful_set_status(request: &Request<'_>, errors: &mut Errors) {
    let status = request.object.child("status");
    validate_counts(
        &status,
        &[
            "replicas",
            "readyReplicas",
            "currentReplicas",
            "updatedReplicas",
            "availableReplicas",
            "observedGeneration",
            "collisionCount",
        ],
        errors,
    );
    validate_not_greater(
        &status,
        &[
            "readyReplicas",
            "currentReplicas",
            "updatedReplicas",
            "availableReplicas",
        ],
        "replicas",
        "cannot be greater than status.replicas",
        errors,
    );
    let detail = "cannot be greater than status.readyReplicas";
    validate_not_greater(&status, &["availableReplicas"], "readyReplicas", detail, errors);
    validate_metadata_update(request, errors);
    validate_collision_count(request, errors);
}
