//! Pods, and the templates of Pods that workloads have.

mod affinity;
mod annotations;
mod container_statuses;
mod containers;
mod context;
mod env;
mod ephemeral;
mod images;
mod internal;
mod mounts;
mod network;
mod old_spec;
mod options;
mod paths;
mod probes;
mod projected_volumes;
mod quality_of_service;
mod resize;
mod resource_claims;
mod resources;
mod restart_rules;
mod security_context;
mod spec;
mod status;
mod tolerations;
mod topology;
mod update;
pub(crate) mod volume_sources;
mod volumes;
mod windows;

pub(crate) use affinity::{has_invalid_term_values, validate_node_selector};
use annotations::{validate_annotations_match, validate_pod_annotations};
use containers::validate_image_whitespace;
pub(crate) use ephemeral::validate_ephemeral_update;
pub(crate) use network::validate_ip;
pub(crate) use options::PodOptions;
pub(crate) use paths::has_backsteps;
pub(crate) use probes::validate_port;
pub(crate) use resize::validate_pod_resize;
pub(crate) use resources::{validate_container_resource_name, validate_overhead, validate_resource_name};
pub(crate) use spec::validate_preemption_policy;
use spec::{SpecOrigin, validate_pod_spec};
pub(crate) use status::validate_pod_status;
pub(crate) use tolerations::validate_tolerations;
pub(crate) use update::validate_pod_update;
pub(crate) use volume_sources::validate_driver_name;

use crate::errors::Errors;
use crate::gates::FeatureSet;
use crate::member_index::MemberIndex;
use crate::messages::subdomain_name;
use crate::node::Node;
use crate::object_meta::{validate_annotations, validate_core_meta};
use crate::selector::validate_labels;

/// The lists of containers in the order in which a server visits them.
// Upstream: pkg/apis/core/pods/helpers.go, VisitContainersWithPath
pub(crate) const CONTAINER_LISTS: &[&str] = &["initContainers", "containers", "ephemeralContainers"];

/// A new Pod.
// Upstream: pkg/apis/core/validation/validation.go, ValidatePodCreate
pub(crate) fn validate_pod_create(pod: &Node<'_, '_>, gates: FeatureSet, errors: &mut Errors) {
    let options = PodOptions::default().with_gates(gates).of_pod();
    validate_metadata_and_spec(pod, options, errors);
    let spec = pod.child("spec");
    if !spec.child("ephemeralContainers").is_empty() {
        errors.forbidden(spec.child("ephemeralContainers"), "cannot be set on create");
    }
    if !spec.child("nodeName").as_text().is_empty() && !spec.child("schedulingGates").is_empty() {
        errors.forbidden(
            spec.child("nodeName"),
            "cannot be set until all schedulingGates have been cleared",
        );
    }
    validate_annotations_match(&pod.child("metadata"), &spec, errors);
}

// Upstream: pkg/apis/core/validation/validation.go, validatePodMetadataAndSpec
fn validate_metadata_and_spec(pod: &Node<'_, '_>, options: PodOptions, errors: &mut Errors) {
    let (metadata, spec) = (pod.child("metadata"), pod.child("spec"));
    let (metadata_index, index) = (MemberIndex::new(metadata.value()), MemberIndex::new(spec.value()));
    let (metadata, spec) = (metadata.with_index(&metadata_index), spec.with_index(&index));
    validate_core_meta(&metadata, true, subdomain_name, errors);
    validate_pod_annotations(&metadata.child("annotations"), &spec, options, errors);
    let origin = SpecOrigin {
        metadata: Some(&metadata),
        claim_templates: None,
    };
    validate_pod_spec(&spec, origin, options, errors);
    if spec.child("serviceAccountName").as_text().is_empty() {
        validate_no_tokens(&spec, errors);
    }
    // Upstream: pkg/apis/core/validation/validation.go, validatePodMetadataAndSpec: since 1.37.
    if errors.release().at_least(1, 37) {
        errors.nonnegative(&spec.child("terminationGracePeriodSeconds"));
    }
    for list in ["containers", "initContainers"] {
        for container in spec.child(list).items() {
            validate_image_whitespace(&container, errors);
        }
    }
}

fn validate_no_tokens(spec: &Node<'_, '_>, errors: &mut Errors) {
    for volume in spec.child("volumes").items() {
        let projected = volume.child("projected");
        for source in projected.child("sources").items() {
            let token = source.child("serviceAccountToken");
            if token.is_set() {
                errors.forbidden(token, "must not be specified when serviceAccountName is not set");
            }
        }
    }
}

/// The template of a workload's Pods.
// Upstream: pkg/apis/core/validation/validation.go, ValidatePodTemplateSpec
pub(crate) fn validate_pod_template<'v>(
    template: &Node<'_, 'v>,
    claim_templates: Option<&Node<'_, 'v>>,
    options: PodOptions,
    errors: &mut Errors,
) {
    let (metadata, spec) = (template.child("metadata"), template.child("spec"));
    let index = MemberIndex::new(spec.value());
    let spec = spec.with_index(&index);
    validate_template_texts(template, options, errors);
    let origin = SpecOrigin {
        metadata: None,
        claim_templates,
    };
    validate_pod_spec(&spec, origin, options, errors);
    validate_annotations_match(&metadata, &spec, errors);
    if !spec.child("ephemeralContainers").is_empty() {
        errors.forbidden(
            spec.child("ephemeralContainers"),
            "ephemeral containers not allowed in pod template",
        );
    }
}

/// Labels and annotations of a template, whose paths leave out `metadata`.
pub(crate) fn validate_template_texts(template: &Node<'_, '_>, options: PodOptions, errors: &mut Errors) {
    let (metadata, spec) = (template.child("metadata"), template.child("spec"));
    let printed_child =
        |name: &'static str| Node::with_path(metadata.child(name).value(), template.path().child(name));
    validate_labels(&printed_child("labels"), errors);
    validate_annotations(&printed_child("annotations"), errors);
    validate_pod_annotations(&printed_child("annotations"), &spec, options, errors);
}
