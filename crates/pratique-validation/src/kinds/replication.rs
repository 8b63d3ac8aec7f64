//! ReplicationControllers.

use super::apps::validate_replica_set_status;
use super::pods::template_options;
use super::{KindRules, Request};
use crate::errors::Errors;
use crate::messages::subdomain_name;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};
use crate::pod::validate_pod_template;

pub(super) const KINDS: &[KindRules] = &[KindRules {
    group: "",
    kind: "ReplicationController",
    is_namespaced: true,
    create: validate_new,
    update: |request, errors| {
        // Upstream: pkg/registry/core/replicationcontroller/strategy.go, ValidateUpdate: twice before 1.35.
        if !errors.release().at_least(1, 35) {
            validate_new(request, errors);
        }
        let (object, old) = (&request.object, &request.old);
        validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
        validate_controller(request, errors);
        validate_convertible(request, errors);
    },
    subresources: &[("status", validate_replica_set_status)],
}];

fn validate_new(request: &Request<'_>, errors: &mut Errors) {
    let metadata = request.object.child("metadata");
    // Upstream: pkg/apis/core/validation/validation.go, ValidateReplicationController: since 1.37, a declarative rule says the same of the
    // name. What is wrong with a prefix is said of the name that is made with it.
    let has_twin = errors.release().at_least(1, 37);
    let name = metadata.child("name");
    if has_twin && !name.as_text().is_empty() {
        let start = errors.len();
        errors.invalid_each(&name, &subdomain_name(name.as_text(), false));
        errors.cover_from(start, "format=k8s-long-name");
    }
    let name_messages = |name: &str, is_prefix: bool| {
        if has_twin {
            Vec::new()
        } else {
            subdomain_name(name, is_prefix)
        }
    };
    validate_core_meta(&metadata, true, name_messages, errors);
    validate_controller(request, errors);
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateReplicationControllerSpec
fn validate_controller(request: &Request<'_>, errors: &mut Errors) {
    let (spec, old) = (request.object.child("spec"), request.old.child("spec"));
    let (selector, replicas) = (spec.child("selector"), spec.child("replicas"));
    // Upstream: pkg/apis/core/validation/validation.go, ValidateReplicationControllerSpec: since 1.38, declarative rules alone
    // validate the numbers.
    let is_by_hand = !errors.release().at_least(1, 38);
    if is_by_hand {
        let start = errors.len();
        errors.nonnegative(&spec.child("minReadySeconds"));
        errors.cover_from(start, "minimum");
    }
    if selector.is_empty() {
        errors.required(selector, "");
    }
    if is_by_hand {
        let start = errors.len();
        if replicas.is_set() {
            errors.nonnegative(&replicas);
        } else {
            errors.required(replicas, "");
        }
        errors.cover_from(start, "minimum");
    }
    let template = spec.child("template");
    if !template.is_set() {
        errors.required(template, "");
        return;
    }
    let metadata = template.child("metadata");
    let labels = metadata.child("labels");
    let matches = selector
        .entries()
        .all(|(key, value)| labels.key(key).is_set() && labels.key(key).as_text() == value.as_text());
    if !matches {
        errors.invalid_value(&labels, "`selector` does not match template `labels`");
    }
    validate_pod_template(
        &template,
        None,
        template_options(&old.child("template"), request.settings.gates),
        errors,
    );
    let pod = template.child("spec");
    let policy = pod.child("restartPolicy");
    if policy.as_text() != "Always" {
        errors.not_supported(&policy, &["Always"]);
    }
    if pod.child("activeDeadlineSeconds").is_set() {
        errors.forbidden(
            pod.child("activeDeadlineSeconds"),
            "activeDeadlineSeconds in ReplicationController is not Supported",
        );
    }
}

/// Fields of an old controller that could not be converted may not change.
// Upstream: pkg/registry/core/replicationcontroller/strategy.go, ValidateUpdate
fn validate_convertible(request: &Request<'_>, errors: &mut Errors) {
    let metadata = request.old.child("metadata");
    for (key, value) in metadata.child("annotations").entries() {
        let Some(("non-convertible.kubernetes.io", name)) = key.split_once('/') else {
            continue;
        };
        let (spec, old) = (request.object.child("spec"), request.old.child("spec"));
        let (selector, old_selector) = (spec.child("selector"), old.child("selector"));
        // It is a map here: an empty one is none.
        let are_empty = selector.is_empty() && old_selector.is_empty();
        if !name.contains("selector") {
            errors.not_found(name, value.as_text());
        } else if !are_empty && !selector.is_same(&old_selector) {
            errors.invalid_value(&selector, "cannot update non-convertible selector");
        }
    }
}
