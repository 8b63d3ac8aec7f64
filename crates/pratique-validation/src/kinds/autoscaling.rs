//! HorizontalPodAutoscalers.

use pratique_gotext::validation::dns1123_label;
use pratique_types::GroupVersion;

use super::{KindRules, Request};
use crate::errors::{Errors, named};
use crate::messages::{path_segment_name, subdomain_name};
use crate::node::Node;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};
use crate::pod::validate_container_resource_name;
use crate::quantities::{quantity, validate_nonnegative};

pub(super) const KINDS: &[KindRules] = &[KindRules {
    group: "autoscaling",
    kind: "HorizontalPodAutoscaler",
    is_namespaced: true,
    create: |request, errors| {
        validate_core_meta(&request.object.child("metadata"), true, subdomain_name, errors);
        validate_spec(request, errors);
    },
    update: |request, errors| {
        validate_metadata_update(request, errors);
        validate_spec(request, errors);
    },
    subresources: &[("status", validate_status)],
}];

fn validate_metadata_update(request: &Request<'_>, errors: &mut Errors) {
    let (object, old) = (&request.object, &request.old);
    validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
}

// Upstream: pkg/apis/autoscaling/validation/validation.go, ValidateHorizontalPodAutoscalerStatusUpdate
fn validate_status(request: &Request<'_>, errors: &mut Errors) {
    validate_metadata_update(request, errors);
    let status = request.object.child("status");
    for condition in status.child("conditions").items() {
        errors.nonnegative(&condition.child("observedGeneration"));
    }
    errors.nonnegative(&status.child("currentReplicas"));
    errors.nonnegative(&status.child("desiredReplicas"));
}

/// Which versions of an API are not validated, or may be those of the core.
#[derive(Clone, Copy, Default)]
struct ReferenceOptions {
    any_version: bool,
    core_group: bool,
}

// Upstream: pkg/apis/autoscaling/validation/validation.go, validateHorizontalPodAutoscalerSpec
fn validate_spec(request: &Request<'_>, errors: &mut Errors) {
    let (spec, old) = (request.object.child("spec"), request.old.child("spec"));
    let (min, max) = (spec.child("minReplicas"), spec.child("maxReplicas"));
    let start = errors.len();
    let lowest = lowest_replicas(request);
    if min.some_int().is_some_and(|min| min < lowest) {
        errors.invalid(
            min,
            min.int(),
            &format!("must be greater than or equal to {lowest}"),
        );
    }
    // Upstream: pkg/apis/autoscaling/validation/validation.go, validateHorizontalPodAutoscalerSpec: changed in 1.36
    if !errors.release().at_least(1, 36) {
        if max.int() < 1 {
            errors.invalid(max, max.int(), "must be greater than 0");
        }
    } else if max.int() == 0 {
        errors.required(max, "must be set and greater than 0");
    } else if max.int() < 0 {
        errors.invalid(max, max.int(), "must be greater than or equal to 1");
    }
    errors.cover_from(start, "minimum");
    if min.is_set() && max.int() < min.int() {
        errors.invalid(max, max.int(), "must be greater than or equal to `minReplicas`");
    }
    let (target, old_target) = (spec.child("scaleTargetRef"), old.child("scaleTargetRef"));
    let is_same = |name: &str| target.child(name).as_text() == old_target.child(name).as_text();
    let is_old = old.is_set() && is_same("apiVersion") && is_same("kind");
    let options = ReferenceOptions {
        any_version: is_old,
        core_group: !is_old && target.child("kind").as_text() == "ReplicationController",
    };
    validate_reference(&target, options, errors);
    let metrics = spec.child("metrics");
    let of_objects = ReferenceOptions {
        any_version: has_invalid_object_version(&old.child("metrics")),
        core_group: true,
    };
    for metric in metrics.items() {
        validate_metric(&metric, of_objects, errors);
    }
    let is_zero = min.some_int() == Some(0);
    let scales_from_zero = metrics
        .items()
        .any(|metric| ["Object", "External"].contains(&metric.child("type").as_text()));
    if is_zero && !scales_from_zero {
        errors.forbidden(
            metrics,
            "must specify at least one Object or External metric to support scaling to zero replicas",
        );
    }
    let behavior = spec.child("behavior");
    for name in ["scaleUp", "scaleDown"] {
        validate_scaling_rules(&behavior.child(name), errors);
    }
}

/// An autoscaler may scale to zero where the feature is on, and where it could before.
// Upstream: pkg/registry/autoscaling/horizontalpodautoscaler/strategy.go, validationOptionsForHorizontalPodAutoscaler
fn lowest_replicas(request: &Request<'_>) -> i64 {
    let old = request.old.child("spec").child("minReplicas").some_int();
    i64::from(!request.settings.gates.scales_to_zero && old != Some(0))
}

fn has_invalid_object_version(metrics: &Node<'_, '_>) -> bool {
    let mut errors = Errors::default();
    let options = ReferenceOptions {
        any_version: false,
        core_group: true,
    };
    for metric in metrics
        .items()
        .filter(|metric| metric.child("type").as_text() == "Object")
    {
        let object = metric.child("object");
        if object.is_set() {
            validate_api_version(&object.child("describedObject"), options, &mut errors);
        }
    }
    !errors.is_empty()
}

// Upstream: pkg/apis/autoscaling/validation/validation.go, ValidateCrossVersionObjectReference
fn validate_reference(reference: &Node<'_, '_>, options: ReferenceOptions, errors: &mut Errors) {
    let start = errors.len();
    for name in ["kind", "name"] {
        require_path_segment(&reference.child(name), "", errors);
    }
    // Since 1.38, declarative rules require them of the target, too.
    errors.cover_from(start, "");
    validate_api_version(reference, options, errors);
}

fn require_path_segment(field: &Node<'_, '_>, detail: &str, errors: &mut Errors) {
    if field.as_text().is_empty() {
        errors.required(field, detail);
    } else {
        errors.invalid_each(field, &path_segment_name(field.as_text(), false));
    }
}

fn validate_api_version(reference: &Node<'_, '_>, options: ReferenceOptions, errors: &mut Errors) {
    let field = reference.child("apiVersion");
    if options.any_version {
        return;
    }
    match GroupVersion::parse(field.as_text()) {
        Err(error) => errors.invalid_or_empty(&field, &error.to_string()),
        Ok(version) if version.group.is_empty() && !options.core_group => {
            errors.invalid_or_empty(&field, "apiVersion must specify API group");
        }
        Ok(_) => {}
    }
}

/// The sources of metrics in the order in which a server looks for them, with their types.
const SOURCES: &[(&str, &str)] = &[
    ("Object", "object"),
    ("External", "external"),
    ("Pods", "pods"),
    ("Resource", "resource"),
    ("ContainerResource", "containerResource"),
];

// Upstream: pkg/apis/autoscaling/validation/validation.go, validateMetricSpec
fn validate_metric(metric: &Node<'_, '_>, of_objects: ReferenceOptions, errors: &mut Errors) {
    const TYPES: &[&str] = &["ContainerResource", "External", "Object", "Pods", "Resource"];
    let kind = metric.child("type");
    if kind.as_text().is_empty() {
        errors.required(kind, "must specify a metric source type");
    }
    let expected = SOURCES
        .iter()
        .find(|(name, _)| *name == kind.as_text())
        .map(|(_, field)| *field);
    if expected.is_none() {
        errors.not_supported(&kind, TYPES);
    }
    let mut present = SOURCES.iter().filter(|(_, field)| metric.child(field).is_set());
    if let Some((_, field)) = present.next() {
        validate_source(field, &metric.child(field), of_objects, errors);
    }
    match expected {
        Some(field) if !metric.child(field).is_set() => {
            errors.required(
                metric.child(field),
                "must populate information for the given metric source",
            );
        }
        Some(_) => {}
        None => errors.not_supported(&kind, TYPES),
    }
    let count = SOURCES
        .iter()
        .filter(|(_, field)| metric.child(field).is_set())
        .count();
    if count == 1 {
        return;
    }
    for (_, field) in SOURCES {
        if Some(*field) != expected && metric.child(field).is_set() {
            errors.forbidden(metric.child(field), "must populate the given metric source only");
        }
    }
}

fn validate_source(name: &str, source: &Node<'_, '_>, of_objects: ReferenceOptions, errors: &mut Errors) {
    let target = source.child("target");
    let (value, average) = (target.child("value"), target.child("averageValue"));
    let utilization = target.child("averageUtilization");
    if name == "object" {
        validate_reference(&source.child("describedObject"), of_objects, errors);
    }
    match name {
        "object" | "external" | "pods" => {
            let metric = source.child("metric");
            require_path_segment(&metric.child("name"), "must specify a metric name", errors);
        }
        "containerResource" => {
            let (resource, container) = (source.child("name"), source.child("container"));
            if resource.as_text().is_empty() {
                errors.required(resource, "must specify a resource name");
            } else {
                validate_container_resource_name(resource.as_text(), &resource, errors);
            }
            if container.as_text().is_empty() {
                errors.required(container, "must specify a container");
            } else {
                errors.invalid_each(&container, &dns1123_label(container.as_text()));
            }
        }
        _ => {
            if source.child("name").as_text().is_empty() {
                errors.required(source.child("name"), "must specify a resource name");
            }
        }
    }
    validate_target(&target, errors);
    match name {
        "object" => {
            if !value.is_set() && !average.is_set() {
                errors.required(average, "must set either a target value or averageValue");
            }
        }
        "external" => {
            if !value.is_set() && !average.is_set() {
                errors.required(
                    average,
                    "must set either a target value for metric or a per-pod target",
                );
            }
            if value.is_set() && average.is_set() {
                errors.forbidden(
                    value,
                    "may not set both a target value for metric and a per-pod target",
                );
            }
        }
        "pods" => {
            if !average.is_set() {
                errors.required(average, "must specify a positive target averageValue");
            }
        }
        _ => {
            if !utilization.is_set() && !average.is_set() {
                errors.required(
                    utilization,
                    "must set either a target raw value or a target utilization",
                );
            }
            if utilization.is_set() && average.is_set() {
                errors.forbidden(
                    average,
                    "may not set both a target raw value and a target utilization",
                );
            }
        }
    }
}

// Upstream: pkg/apis/autoscaling/validation/validation.go, validateMetricTarget
fn validate_target(target: &Node<'_, '_>, errors: &mut Errors) {
    let kind = target.child("type");
    if kind.as_text().is_empty() {
        errors.required(kind, "must specify a metric target type");
    }
    if !["Utilization", "Value", "AverageValue"].contains(&kind.as_text()) {
        errors.invalid(
            kind,
            named(kind.as_text()),
            "must be either Utilization, Value, or AverageValue",
        );
    }
    for name in ["value", "averageValue"] {
        let value = target.child(name);
        if value.is_set() && quantity(&value).signum() != 1 {
            errors.invalid(value, named(value.as_text()), "must be positive");
        }
    }
    let utilization = target.child("averageUtilization");
    if utilization.is_set() && utilization.int() < 1 {
        errors.invalid(utilization, utilization.int(), "must be greater than 0");
    }
}

// Upstream: pkg/apis/autoscaling/validation/validation.go, validateScalingRules
fn validate_scaling_rules(rules: &Node<'_, '_>, errors: &mut Errors) {
    const SELECTIONS: &[&str] = &["Disabled", "Max", "Min"];
    const MAX_SECONDS: i64 = 3600;
    const MAX_PERIOD: i64 = 1800;
    if !rules.is_set() {
        return;
    }
    let (window, selection) = (
        rules.child("stabilizationWindowSeconds"),
        rules.child("selectPolicy"),
    );
    if window.int() < 0 {
        errors.invalid(window, window.int(), "must be greater than or equal to zero");
    }
    if window.int() > MAX_SECONDS {
        errors.invalid(window, window.int(), "must be less than or equal to 3600");
    }
    if selection.is_set() && !SELECTIONS.contains(&selection.as_text()) {
        errors.not_supported(&selection, SELECTIONS);
    }
    let policies = rules.child("policies");
    if policies.is_empty() {
        errors.required(policies, "must specify at least one Policy");
    }
    for policy in policies.items() {
        let (kind, value, period) = (
            policy.child("type"),
            policy.child("value"),
            policy.child("periodSeconds"),
        );
        if !["Percent", "Pods"].contains(&kind.as_text()) {
            errors.not_supported(&kind, &["Percent", "Pods"]);
        }
        errors.positive(&value);
        errors.positive(&period);
        if period.int() > MAX_PERIOD {
            errors.invalid(period, period.int(), "must be less than or equal to 1800");
        }
    }
    let tolerance = rules.child("tolerance");
    if tolerance.is_set() {
        validate_nonnegative(&tolerance, errors);
    }
}
