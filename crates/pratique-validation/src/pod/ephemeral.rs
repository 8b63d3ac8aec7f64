//! Ephemeral containers, which are added to a Pod that runs.

use super::options::PodOptions;
use super::validate_metadata_and_spec;
use crate::diff::json_diff;
use crate::errors::Errors;
use crate::gates::FeatureSet;
use crate::internal::internal_text;
use crate::node::Node;
use crate::object_meta::validate_core_meta_update;

/// The annotation of Pods that stand for those of a node's files.
pub(super) const MIRROR: &str = "kubernetes.io/config.mirror";

/// How Go prints a path without a name.
pub(super) const NO_PATH: &str = "[]";

// Upstream: pkg/apis/core/validation/validation.go, ValidatePodEphemeralContainersUpdate
pub(crate) fn validate_ephemeral_update(
    pod: &Node<'_, '_>,
    old: &Node<'_, '_>,
    gates: FeatureSet,
    errors: &mut Errors,
) {
    let (metadata, old_metadata) = (pod.child("metadata"), old.child("metadata"));
    let (spec, old_spec) = (pod.child("spec"), old.child("spec"));
    let old_annotations = old_metadata.child("annotations");
    if old_annotations.key(MIRROR).is_set() {
        errors.forbidden(NO_PATH, "static pods do not support ephemeral containers");
        return;
    }
    let options = PodOptions::from_old(&old_spec, &old_annotations)
        .with_gates(gates)
        .of_pod();
    validate_core_meta_update(&metadata, &old_metadata, errors);
    validate_metadata_and_spec(pod, options, errors);
    let annotations = metadata.child("annotations");
    super::annotations::validate_annotation_updates(&annotations, &old_annotations, errors);
    super::validate_pod_annotations(&annotations, &spec, options, errors);
    let containers = spec.child("ephemeralContainers");
    for old in old_spec.child("ephemeralContainers").items() {
        let name = old.child("name").as_text();
        let quoted = pratique_gotext::strconv::quote(name);
        // Of containers of the same name, the last counts.
        let same = containers
            .items()
            .filter(|container| container.child("name").as_text() == name)
            .last();
        match same {
            None => {
                let detail = format!("existing ephemeral containers {quoted} may not be removed\n");
                errors.forbidden(containers, &detail);
            }
            Some(container) if !container.is_same(&old) => {
                let text = |of: &Node<'_, '_>| {
                    internal_text(errors.release(), "core.EphemeralContainer", of.value())
                };
                let diff = json_diff(&text(&old), &text(&container));
                let detail = format!("existing ephemeral containers {quoted} may not be changed\n{diff}");
                errors.forbidden(containers, &detail);
            }
            Some(_) => {}
        }
    }
}
