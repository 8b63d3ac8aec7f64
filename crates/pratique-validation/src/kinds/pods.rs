//! Pods and PodTemplates.

use super::{KindRules, Request};
use crate::errors::Errors;
use crate::gates::FeatureSet;
use crate::messages::subdomain_name;
use crate::node::Node;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};
use crate::pod::{
    PodOptions, validate_ephemeral_update, validate_pod_create, validate_pod_resize, validate_pod_status,
    validate_pod_template, validate_pod_update,
};

pub(super) const KINDS: &[KindRules] = &[
    KindRules {
        group: "",
        kind: "Pod",
        is_namespaced: true,
        create: |request, errors| validate_pod_create(&request.object, request.settings.gates, errors),
        update: |request, errors| {
            validate_pod_update(&request.object, &request.old, request.settings.gates, errors)
        },
        subresources: &[
            ("status", |request, errors| {
                validate_pod_status(&request.object, &request.old, request.settings.gates, errors);
            }),
            ("ephemeralcontainers", |request, errors| {
                validate_ephemeral_update(&request.object, &request.old, request.settings.gates, errors);
            }),
            ("resize", |request, errors| {
                validate_pod_resize(&request.object, &request.old, request.settings.gates, errors);
            }),
        ],
    },
    KindRules {
        group: "",
        kind: "PodTemplate",
        is_namespaced: true,
        create: validate_template_create,
        update: validate_template_update,
        subresources: &[],
    },
];

// Upstream: pkg/apis/core/validation/validation.go, ValidatePodTemplate
fn validate_template_create(request: &Request<'_>, errors: &mut Errors) {
    validate_core_meta(&request.object.child("metadata"), true, subdomain_name, errors);
    let template = request.object.child("template");
    let options = PodOptions::default().with_gates(request.settings.gates);
    validate_pod_template(&template, None, options, errors);
}

// Upstream: pkg/apis/core/validation/validation.go, ValidatePodTemplateUpdate
fn validate_template_update(request: &Request<'_>, errors: &mut Errors) {
    let (object, old) = (&request.object, &request.old);
    validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
    let (template, old) = (object.child("template"), old.child("template"));
    validate_pod_template(
        &template,
        None,
        template_options(&old, request.settings.gates),
        errors,
    );
}

/// What a template's old form allows.
pub(super) fn template_options(old: &Node<'_, '_>, gates: FeatureSet) -> PodOptions {
    let metadata = old.child("metadata");
    PodOptions::from_old(&old.child("spec"), &metadata.child("annotations")).with_gates(gates)
}
