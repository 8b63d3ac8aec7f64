//! Jobs that leave it to a Workload how their Pods are scheduled, by annotations or by a group. All of it since 1.38.

use pratique_types::field::BadValue;

use crate::errors::Errors;
use crate::node::Node;

/// The annotations that name a template of a Workload.
// Upstream: pkg/apis/scheduling/annotation_key_constants.go
const ANNOTATIONS: [&str; 2] = [
    "scheduling.k8s.io/workload-name",
    "scheduling.k8s.io/group-template-name",
];

/// A Job with a group for its Pods says nothing of their scheduling, unless it did before.
// Upstream: pkg/apis/batch/validation/validation.go, validateSchedulingAndSchedulingGroup
pub(super) fn validate_group(spec: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    let has_both = |spec: &Node<'_, '_>| {
        let template = spec.child("template");
        let pod = template.child("spec");
        spec.child("scheduling").is_set() && pod.child("schedulingGroup").is_set()
    };
    if errors.release().at_least(1, 38) && has_both(spec) && !has_both(old) {
        errors.invalid(
            spec.child("scheduling"),
            BadValue::Omitted,
            "must not be set together with template.spec.schedulingGroup",
        );
    }
}

/// A Job, or the template of one, beside the old one.
// Upstream: pkg/apis/batch/validation/validation.go, validateSchedulingAndDelegationAnnotations, validateDelegationAnnotations
pub(super) fn validate_delegation((job, old): (&Node<'_, '_>, &Node<'_, '_>), errors: &mut Errors) {
    if !errors.release().at_least(1, 38) {
        return;
    }
    let (metadata, old_metadata) = (job.child("metadata"), old.child("metadata"));
    let (annotations, old_annotations) = (metadata.child("annotations"), old_metadata.child("annotations"));
    let (spec, old_spec) = (job.child("spec"), old.child("spec"));
    let scheduling = spec.child("scheduling");
    if scheduling.is_set() {
        let had_scheduling = old_spec.child("scheduling").is_set();
        let is_new = |key: &&str| {
            annotations.key(key).is_set() && !(had_scheduling && old_annotations.key(key).is_set())
        };
        if let Some(key) = ANNOTATIONS.iter().find(|key| is_new(key)) {
            let detail = format!("must not be set together with the {key} annotation");
            errors.invalid(scheduling, BadValue::Omitted, &detail);
        }
    }
    let is_absent = ANNOTATIONS.iter().all(|key| !annotations.key(key).is_set());
    let is_same = |key: &&str| annotations.key(key).value() == old_annotations.key(key).value();
    if is_absent || (old.is_set() && ANNOTATIONS.iter().all(is_same)) {
        return;
    }
    for key in ANNOTATIONS {
        let annotation = annotations.key(key);
        if annotation.as_text().is_empty() {
            let [workload, template] = ANNOTATIONS;
            let detail = format!("must be set to a non-empty value when {workload} or {template} is set");
            errors.required(annotation, &detail);
        }
    }
}
