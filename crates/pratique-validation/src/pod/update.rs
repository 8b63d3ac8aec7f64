//! Changes of a Pod: what may change once it exists.

use std::borrow::Cow;

use pratique_json::Value;

use super::annotations::validate_annotation_updates;
use super::options::PodOptions;
use super::tolerations::validate_tolerations;
use super::validate_metadata_and_spec;
use crate::errors::Errors;
use crate::gates::FeatureSet;
use crate::internal::{internal_json, internal_text};
use crate::messages::inclusive_range;
use crate::node::{Node, is_same};
use crate::object_meta::validate_core_meta_update;

const UPDATABLE: &str = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,\
    `spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

const UPDATABLE_WHILE_GATED: &str = ",`spec.schedulingGates` (only deletions of existing scheduling gates),\
    `spec.nodeSelector` (only additions, and only while the pod has scheduling gates),\
    `spec.affinity.nodeAffinity` (only while the pod has scheduling gates)";

/// A changed Pod.
// Upstream: pkg/apis/core/validation/validation.go, ValidatePodUpdate
pub(crate) fn validate_pod_update(
    pod: &Node<'_, '_>,
    old: &Node<'_, '_>,
    gates: FeatureSet,
    errors: &mut Errors,
) {
    let (metadata, old_metadata) = (pod.child("metadata"), old.child("metadata"));
    let (spec, old_spec) = (pod.child("spec"), old.child("spec"));
    let options = PodOptions::from_old(&old_spec, &old_metadata.child("annotations"))
        .with_gates(gates)
        .of_pod();
    validate_core_meta_update(&metadata, &old_metadata, errors);
    validate_metadata_and_spec(pod, options, errors);
    let annotations = metadata.child("annotations");
    validate_annotation_updates(&annotations, &old_metadata.child("annotations"), errors);
    super::validate_pod_annotations(&annotations, &spec, options, errors);
    for list in ["containers", "initContainers"] {
        if !validate_images(&spec.child(list), &old_spec.child(list), errors) {
            return;
        }
    }
    if !validate_deadline(&spec, &old_spec, errors) {
        return;
    }
    let (tolerations, old_tolerations) = (spec.child("tolerations"), old_spec.child("tolerations"));
    if keeps_tolerations(&tolerations, &old_tolerations) {
        validate_tolerations(&tolerations, options, errors);
    } else {
        errors.forbidden(
            tolerations,
            "existing toleration can not be modified except its tolerationSeconds",
        );
    }
    validate_gates(&spec, &old_spec, errors);
    if spec.is_same(&old_spec) {
        return;
    }
    let mut allowed = allowed_spec(&spec, &old_spec);
    if !old_spec.child("schedulingGates").is_empty() {
        validate_gated(&spec, &old_spec, &mut allowed, errors);
    }
    if !is_same(&allowed, old_spec.value()) {
        let diff = crate::diff::json_diff(
            &internal_text(errors.release(), "core.PodSpec", old_spec.value()),
            &internal_text(errors.release(), "core.PodSpec", &allowed),
        );
        // Upstream: pkg/apis/core/validation/validation.go, updatablePodSpecFields: three more were named in 1.38.
        let others = if errors.release().at_least(1, 38) {
            UPDATABLE_WHILE_GATED
        } else {
            ""
        };
        errors.forbidden(
            spec,
            &format!("pod updates may not change fields other than {UPDATABLE}{others}\n{diff}"),
        );
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateContainerUpdates
fn validate_images(containers: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) -> bool {
    if containers.len() != old.len() {
        errors.forbidden(containers, "pod updates may not add or remove containers");
        return false;
    }
    for container in containers.items() {
        if container.child("image").as_text().is_empty() {
            errors.required(container.child("image"), "");
        }
        super::validate_image_whitespace(&container, errors);
    }
    true
}

fn validate_deadline(spec: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) -> bool {
    let (deadline, old) = (
        spec.child("activeDeadlineSeconds"),
        old.child("activeDeadlineSeconds"),
    );
    let max = i64::from(i32::MAX);
    match (deadline.some_int(), old.some_int()) {
        (Some(seconds), _) if !(0..=max).contains(&seconds) => {
            errors.invalid(deadline, seconds, &inclusive_range(0, max));
            false
        }
        (Some(seconds), Some(old_seconds)) if old_seconds < seconds => {
            errors.invalid(deadline, seconds, "must be less than or equal to previous value");
            false
        }
        (None, Some(_)) => {
            errors.invalid_value(&deadline, "must not update from a positive integer to nil value");
            true
        }
        _ => true,
    }
}

/// Whether all tolerations are still there, but for how long they last.
// Upstream: pkg/apis/core/validation/validation.go, validateOnlyAddedTolerations
fn keeps_tolerations(tolerations: &Node<'_, '_>, old: &Node<'_, '_>) -> bool {
    old.items().all(|old| {
        tolerations.items().any(|new| {
            ["key", "operator", "value", "effect"]
                .iter()
                .all(|name| new.child(name).as_text() == old.child(name).as_text())
        })
    })
}

// Upstream: pkg/apis/core/validation/validation.go, validateOnlyDeletedSchedulingGates
fn validate_gates(spec: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    let old = old.child("schedulingGates");
    for gate in spec.child("schedulingGates").items() {
        let name = gate.child("name");
        if !old
            .items()
            .any(|old| old.child("name").as_text() == name.as_text())
        {
            let detail = format!(
                "only deletion is allowed, but found new scheduling gate '{}'",
                name.as_text()
            );
            errors.forbidden(name, &detail);
        }
    }
}

/// The new specification with the old values of all that may change.
fn allowed_spec(spec: &Node<'_, '_>, old: &Node<'_, '_>) -> Value<'static> {
    let mut allowed = spec.value().owned_within("");
    for list in ["containers", "initContainers"] {
        let old = old.child(list);
        let images: Vec<Value<'static>> = old
            .items()
            .map(|container| container.child("image").value().owned_within(""))
            .collect();
        match allowed.get_mut(list) {
            // The server makes the list anew of its containers, and nil of none.
            Some(Value::Array(containers)) if containers.is_empty() => set(&mut allowed, list, Value::Null),
            Some(Value::Array(containers)) => {
                for (container, image) in containers.iter_mut().zip(images) {
                    set(container, "image", image);
                }
            }
            _ => {}
        }
    }
    for name in ["activeDeadlineSeconds", "schedulingGates", "tolerations"] {
        set(&mut allowed, name, old.child(name).value().owned_within(""));
    }
    let period = "terminationGracePeriodSeconds";
    if old.child(period).int() < 0 && spec.child(period).int() == 1 {
        set(&mut allowed, period, old.child(period).value().owned_within(""));
    }
    allowed
}

/// Sets a member, or removes it.
pub(super) fn set(object: &mut Value<'static>, name: &'static str, value: Value<'static>) {
    let Value::Object(members) = object else {
        return;
    };
    if value.is_null() {
        members.remove(name);
    } else {
        members.insert(Cow::Borrowed(name), value);
    }
}

/// A Pod that waits for its gates may be narrowed to fewer nodes.
fn validate_gated(
    spec: &Node<'_, '_>,
    old: &Node<'_, '_>,
    allowed: &mut Value<'static>,
    errors: &mut Errors,
) {
    let (selector, old_selector) = (spec.child("nodeSelector"), old.child("nodeSelector"));
    if !selector.is_same(&old_selector) {
        validate_selector_additions(&selector, &old_selector, errors);
        set(allowed, "nodeSelector", old_selector.value().owned_within(""));
    }
    let (affinity, old_affinity) = (spec.child("affinity"), old.child("affinity"));
    let (nodes, old_nodes) = (affinity.child("nodeAffinity"), old_affinity.child("nodeAffinity"));
    if nodes.is_same(&old_nodes) {
        return;
    }
    validate_affinity_additions(&nodes, &old_nodes, errors);
    let others = ["podAffinity", "podAntiAffinity"];
    if !old_affinity.is_set() && !others.iter().any(|name| affinity.child(name).is_set()) {
        set(allowed, "affinity", Value::Null);
    } else if !affinity.is_set() {
        let mut kept = pratique_json::Object::new();
        kept.insert("nodeAffinity", old_nodes.value().owned_within(""));
        set(allowed, "affinity", kept.into());
    } else if let Some(affinity) = allowed.get_mut("affinity") {
        set(affinity, "nodeAffinity", old_nodes.value().owned_within(""));
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateNodeSelectorMutation
fn validate_selector_additions(selector: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    let keeps = old
        .entries()
        .all(|(key, value)| selector.key(key).is_set() && selector.key(key).as_text() == value.as_text());
    if !keeps {
        errors.invalid_value(
            selector,
            "only additions to spec.nodeSelector are allowed (no mutations or deletions)",
        );
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateNodeAffinityMutation
fn validate_affinity_additions(nodes: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    let old_required = old.child(REQUIRED);
    if !old_required.is_set() {
        return;
    }
    let (terms, required) = (old_required.child("nodeSelectorTerms"), nodes.child(REQUIRED));
    if !required.is_set() {
        errors.invalid(
            required.path().child("nodeSelectorTerms"),
            internal_json(
                errors.release(),
                "[]core.NodeSelectorTerm",
                required.child("nodeSelectorTerms").value(),
            ),
            "no additions/deletions to non-empty NodeSelectorTerms list are allowed",
        );
        return;
    }
    let new_terms = required.child("nodeSelectorTerms");
    if !terms.is_empty() && terms.len() != new_terms.len() {
        errors.invalid(
            new_terms,
            internal_json(errors.release(), "[]core.NodeSelectorTerm", new_terms.value()),
            "no additions/deletions to non-empty NodeSelectorTerms list are allowed",
        );
        return;
    }
    for (new, old) in new_terms.items().zip(terms.items()) {
        if !has_only_additions(&new, &old) {
            errors.invalid(
                new,
                internal_json(errors.release(), "core.NodeSelectorTerm", new.value()),
                "only additions are allowed (no mutations or deletions)",
            );
        }
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateNodeSelectorTermHasOnlyAdditions
fn has_only_additions(new: &Node<'_, '_>, old: &Node<'_, '_>) -> bool {
    let lists = ["matchExpressions", "matchFields"];
    let is_empty = lists.iter().all(|name| old.child(name).is_empty());
    let adds = lists.iter().any(|name| !new.child(name).is_empty());
    if is_empty && adds {
        return false;
    }
    lists.iter().all(|name| {
        let (new, old) = (new.child(name), old.child(name));
        new.len() >= old.len() && new.items().zip(old.items()).all(|(new, old)| new.is_same(&old))
    })
}
