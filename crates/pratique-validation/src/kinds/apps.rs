//! Workloads of the group `apps`, and ControllerRevisions.

mod daemon_sets;
mod deployments;
mod rolling_updates;
mod stateful_sets;

pub(super) use deployments::validate_replica_set_status;
pub(super) use rolling_updates::{validate_at_most_all, validate_int_or_percent};

use pratique_json::escape_html;
use pratique_types::field::BadValue;

use super::{KindRules, Request};
use crate::errors::Errors;
use crate::internal::internal_json;
use crate::messages::{label_name, subdomain_name};
use crate::node::Node;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};
use crate::selector::{is_selector, matches_labels, validate_selector};

pub(super) const KINDS: &[KindRules] = &[
    KindRules {
        group: "apps",
        kind: "ControllerRevision",
        is_namespaced: true,
        create: validate_controller_revision_create,
        update: validate_controller_revision_update,
        subresources: &[],
    },
    KindRules {
        group: "apps",
        kind: "Deployment",
        is_namespaced: true,
        create: |request, errors| {
            validate_name(request, errors);
            deployments::validate_deployment(request, errors);
        },
        update: |request, errors| {
            validate_metadata_update(request, errors);
            deployments::validate_deployment(request, errors);
            validate_same_selector(request, errors);
        },
        subresources: &[("status", deployments::validate_deployment_status)],
    },
    KindRules {
        group: "apps",
        kind: "ReplicaSet",
        is_namespaced: true,
        create: |request, errors| {
            validate_name(request, errors);
            deployments::validate_replica_set(request, errors);
        },
        update: |request, errors| {
            validate_metadata_update(request, errors);
            deployments::validate_replica_set(request, errors);
            validate_same_selector(request, errors);
        },
        subresources: &[("status", deployments::validate_replica_set_status)],
    },
    KindRules {
        group: "apps",
        kind: "DaemonSet",
        is_namespaced: true,
        create: |request, errors| {
            validate_name(request, errors);
            daemon_sets::validate_daemon_set(request, errors);
        },
        update: |request, errors| {
            validate_metadata_update(request, errors);
            validate_same_selector(request, errors);
            daemon_sets::validate_daemon_set(request, errors);
        },
        subresources: &[("status", daemon_sets::validate_daemon_set_status)],
    },
    KindRules {
        group: "apps",
        kind: "StatefulSet",
        is_namespaced: true,
        create: |request, errors| {
            validate_core_meta(&request.object.child("metadata"), true, label_name, errors);
            stateful_sets::validate_stateful_set(request, errors);
        },
        update: |request, errors| {
            validate_metadata_update(request, errors);
            stateful_sets::validate_stateful_set_update(request, errors);
        },
        subresources: &[("status", stateful_sets::validate_stateful_set_status)],
    },
];

fn validate_name(request: &Request<'_>, errors: &mut Errors) {
    validate_core_meta(&request.object.child("metadata"), true, subdomain_name, errors);
}

fn validate_metadata_update(request: &Request<'_>, errors: &mut Errors) {
    let (metadata, old) = (request.object.child("metadata"), request.old.child("metadata"));
    validate_core_meta_update(&metadata, &old, errors);
}

fn validate_same_selector(request: &Request<'_>, errors: &mut Errors) {
    let (spec, old) = (request.object.child("spec"), request.old.child("spec"));
    validate_unchanged_selector(&spec.child("selector"), &old.child("selector"), errors);
}

/// A selector that stays as it is.
fn validate_unchanged_selector(field: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    if !field.is_same(old) {
        let selector = internal_json(errors.release(), "*metav1.LabelSelector", field.value());
        errors.invalid(field, selector, crate::errors::IMMUTABLE);
    }
}

/// A selector that has to be there and to say something.
fn validate_required_selector(spec: &Node<'_, '_>, workload: &str, errors: &mut Errors) {
    let selector = spec.child("selector");
    if !selector.is_set() {
        // Since 1.38, a declarative rule requires that of a StatefulSet, too.
        errors.required_covered(selector, "");
        return;
    }
    validate_selector(&selector, false, errors);
    if is_empty_selector(&selector) {
        errors.invalid(
            selector,
            internal_json(errors.release(), "*metav1.LabelSelector", selector.value()),
            &format!("empty selector is invalid for {workload}"),
        );
    }
}

fn is_empty_selector(selector: &Node<'_, '_>) -> bool {
    selector.child("matchLabels").len() + selector.child("matchExpressions").len() == 0
}

/// A number of the internal form that this version has in an annotation; whoever decoded it saw that it is one.
// Upstream: pkg/apis/apps/v1/conversion.go
fn validate_annotated_number(object: &Node<'_, '_>, annotation: &str, path: &str, errors: &mut Errors) {
    let metadata = object.child("metadata");
    let number: i64 = metadata
        .child("annotations")
        .key(annotation)
        .as_text()
        .parse()
        .unwrap_or_default();
    if number < 0 {
        errors.invalid(path, number, crate::errors::NEGATIVE);
    }
}

/// The labels of a template, which its selector has to match.
fn validate_template_labels(spec: &Node<'_, '_>, errors: &mut Errors) {
    let (selector, template) = (spec.child("selector"), spec.child("template"));
    let metadata = template.child("metadata");
    let labels = metadata.child("labels");
    if !matches_labels(&selector, &labels) {
        errors.invalid_value(&labels, "`selector` does not match template `labels`");
    }
}

/// Workloads that run for ever restart their containers always.
fn validate_runs_forever(template: &Node<'_, '_>, workload: &str, is_plain: bool, errors: &mut Errors) {
    let spec = template.child("spec");
    let policy = spec.child("restartPolicy");
    if policy.as_text() != "Always" && (is_plain || !policy.as_text().is_empty() || policy.is_set()) {
        errors.not_supported(&policy, &["Always"]);
    }
    if spec.child("activeDeadlineSeconds").is_set() {
        errors.forbidden(
            spec.child("activeDeadlineSeconds"),
            &format!("activeDeadlineSeconds in {workload} is not Supported"),
        );
    }
}

/// Numbers of a status, in the order in which they are looked at.
fn validate_counts(status: &Node<'_, '_>, names: &[&str], errors: &mut Errors) {
    for name in names {
        errors.nonnegative(&status.child(name));
    }
}

/// Numbers that may not be greater than another.
fn validate_not_greater(
    status: &Node<'_, '_>,
    names: &[&str],
    limit: &str,
    detail: &str,
    errors: &mut Errors,
) {
    for name in names {
        let field = status.child(name);
        if field.int() > status.child(limit).int() {
            errors.invalid(field, field.int(), detail);
        }
    }
}

// Upstream: pkg/apis/core/validation/validation.go, IsDecremented
fn validate_collision_count(request: &Request<'_>, errors: &mut Errors) {
    let (status, old) = (request.object.child("status"), request.old.child("status"));
    let (count, old) = (status.child("collisionCount"), old.child("collisionCount"));
    let is_decremented = old.is_set() && (!count.is_set() || count.int() < old.int());
    if is_decremented {
        errors.invalid(count, count.int(), "cannot be decremented");
    }
}

/// A selector that was checked before, but from which none can be made.
fn can_select(spec: &Node<'_, '_>, detail: &str, errors: &mut Errors) -> bool {
    let selector = spec.child("selector");
    let is_usable = is_selector(&selector);
    if !is_usable {
        errors.invalid(
            selector,
            internal_json(errors.release(), "*metav1.LabelSelector", selector.value()),
            detail,
        );
    }
    is_usable
}

// Upstream: pkg/apis/apps/validation/validation.go, validateControllerRevision
fn validate_controller_revision(request: &Request<'_>, errors: &mut Errors) {
    validate_name(request, errors);
    errors.nonnegative(&request.object.child("revision"));
}

// Upstream: pkg/apis/apps/validation/validation.go, ValidateControllerRevisionCreate
fn validate_controller_revision_create(request: &Request<'_>, errors: &mut Errors) {
    validate_controller_revision(request, errors);
    let data = request.object.child("data");
    if !data.is_set() {
        errors.required(data, "data is mandatory");
    } else if data.value().as_object().is_none() {
        errors.required(data, "data must be a valid JSON object");
    }
}

// Upstream: pkg/apis/apps/validation/validation.go, ValidateControllerRevisionUpdate
fn validate_controller_revision_update(request: &Request<'_>, errors: &mut Errors) {
    validate_metadata_update(request, errors);
    validate_controller_revision(request, errors);
    let (data, old) = (request.object.child("data"), request.old.child("data"));
    if data.value() != old.value() {
        let data_text = escape_html(&data.value().to_string()).into_owned();
        errors.invalid(
            data,
            BadValue::Prepared(data_text.into()),
            crate::errors::IMMUTABLE,
        );
    }
}
