//! RuntimeClasses.

use std::collections::HashSet;

use pratique_gotext::validation::dns1123_label;

use super::{KindRules, Request};
use crate::errors::Errors;
use crate::internal::internal_json;
use crate::messages::subdomain_name;
use crate::node::Node;
use crate::object_meta::{validate_object_meta, validate_object_meta_update};
use crate::pod::{PodOptions, validate_overhead, validate_tolerations};
use crate::selector::validate_labels;

pub(super) const KINDS: &[KindRules] = &[KindRules {
    group: "node.k8s.io",
    kind: "RuntimeClass",
    is_namespaced: false,
    create: validate_class,
    // Upstream: pkg/registry/node/runtimeclass/strategy.go, ValidateUpdate
    update: |request, errors| {
        validate_class(request, errors);
        let (object, old) = (&request.object, &request.old);
        validate_object_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
        let handler = object.child("handler");
        if handler.as_text() != old.child("handler").as_text() {
            errors.immutable_by_hand(handler, handler.as_text());
        }
    },
    subresources: &[],
}];

/// A class; that its handler does not change is a declarative rule.
// Upstream: pkg/apis/node/validation/validation.go, ValidateRuntimeClass
fn validate_class(request: &Request<'_>, errors: &mut Errors) {
    let object = &request.object;
    validate_object_meta(&object.child("metadata"), false, subdomain_name, errors);
    let handler = object.child("handler");
    let start = errors.len();
    // Upstream: pkg/apis/node/validation/validation.go, ValidateRuntimeClass: an absent one is missing since 1.36; since 1.38,
    // only declarative rules validate it.
    if handler.as_text().is_empty() && errors.release().at_least(1, 36) {
        errors.required_until(38, handler, "");
    } else if !errors.release().at_least(1, 38) {
        for message in dns1123_label(handler.as_text()) {
            errors.invalid_or_empty(&handler, &message);
        }
    }
    errors.cover_from(start, "format=k8s-short-name");
    let (overhead, scheduling) = (object.child("overhead"), object.child("scheduling"));
    // The paths are without the name of the list.
    let fixed = Node::with_path(overhead.child("podFixed").value(), *overhead.path());
    validate_overhead(&fixed, PodOptions::default(), errors);
    validate_labels(&scheduling.child("nodeSelector"), errors);
    let tolerations = scheduling.child("tolerations");
    // Before 1.35, the path named the list twice.
    if errors.release().at_least(1, 35) {
        validate_tolerations(&tolerations, PodOptions::default(), errors);
    } else {
        let path = tolerations.path().child("tolerations");
        let tolerations = Node::with_path(tolerations.value(), path);
        validate_tolerations(&tolerations, PodOptions::default(), errors);
    }
    let mut seen = HashSet::new();
    for toleration in tolerations.items() {
        // Their seconds do not matter.
        let parts = ["key", "operator", "value", "effect"].map(|name| toleration.child(name).as_text());
        if !seen.insert(parts) {
            let value = internal_json(errors.release(), "core.Toleration", toleration.value());
            errors.duplicate(toleration, value);
        }
    }
}
