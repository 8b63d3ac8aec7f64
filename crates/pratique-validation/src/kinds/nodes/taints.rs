//! Taints of a Node, in its specification and in the annotation that they once were, and the Pods that it avoids.

use std::collections::HashSet;

use pratique_gotext::validation::label_value;
use pratique_types::field::{Error, ErrorKind};

use crate::errors::Errors;
use crate::internal::internal_json;
use crate::json_text::parse_json_as;
use crate::node::Node;
use crate::selector::validate_label_name;

const TAINTS: &str = "scheduler.alpha.kubernetes.io/taints";
const AVOIDED: &str = "scheduler.alpha.kubernetes.io/preferAvoidPods";

// Upstream: pkg/apis/core/validation/validation.go, validateNodeTaints
pub(super) fn validate_taints(taints: &Node<'_, '_>, errors: &mut Errors) {
    const EFFECTS: &[&str] = &["NoSchedule", "PreferNoSchedule", "NoExecute"];
    let mut seen = HashSet::new();
    for taint in taints.items() {
        let (key, value, effect) = (taint.child("key"), taint.child("value"), taint.child("effect"));
        validate_label_name(&key, errors);
        let messages = label_value(value.as_text());
        if !messages.is_empty() {
            errors.invalid_or_empty(&value, &messages.join(";"));
        }
        errors.required_enum(&effect, EFFECTS);
        if !seen.insert((effect.as_text(), key.as_text())) {
            let printed_taint = internal_json(errors.release(), "core.Taint", taint.value());
            let detail = "taints must be unique by key and effect pair";
            errors.push(Error::new(ErrorKind::Duplicate, taint, &printed_taint, detail));
        }
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateNodeSpecificAnnotations
pub(super) fn validate_node_annotations(annotations: &Node<'_, '_>, errors: &mut Errors) {
    let taints = annotations.child(TAINTS);
    if !taints.as_text().is_empty() {
        match parse_json_as(taints.as_text(), true, "[]core.Taint", errors.release()) {
            Err(fault) => errors.invalid(annotations, TAINTS, &fault),
            Ok(list) => validate_taints(&Node::with_path(&list, *taints.path()), errors),
        }
    }
    let avoided = annotations.child(AVOIDED);
    if !avoided.as_text().is_empty() {
        match parse_json_as(avoided.as_text(), false, "v1.AvoidPods", errors.release()) {
            Err(fault) => errors.invalid(annotations.path().child("AvoidPods"), AVOIDED, &fault),
            Ok(pods) => validate_avoided(&Node::with_path(&pods, *avoided.path()), errors),
        }
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validatePreferAvoidPodsEntry
fn validate_avoided(pods: &Node<'_, '_>, errors: &mut Errors) {
    let entries = pods.child("preferAvoidPods").value();
    for entry in Node::with_path(entries, *pods.path()).items() {
        let signature = entry.child_as("podSignature", "PodSignature");
        let controller = signature.child_as("podController", "PodController");
        if !controller.is_set() {
            errors.required(signature, "");
            continue;
        }
        let points = controller.child_as("controller", "Controller");
        if !points.is_true() {
            errors.invalid(points, false, "must point to a controller");
        }
    }
}
