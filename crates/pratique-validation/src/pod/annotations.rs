//! Annotations of Pods that mean something, and that agree with the fields that came in their place.

use pratique_gotext::strconv::quote;

use super::CONTAINER_LISTS;
use super::options::PodOptions;
use super::paths::validate_descending;
use super::tolerations::validate_tolerations;
use crate::errors::Errors;
use crate::json_text::parse_json_as;
use crate::node::Node;
use crate::profile_annotations::{APP_ARMOR_CONTAINER, SECCOMP_CONTAINER, SECCOMP_POD};

const MIRROR: &str = "kubernetes.io/config.mirror";
const TOLERATIONS: &str = "scheduler.alpha.kubernetes.io/tolerations";
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

// Upstream: pkg/apis/core/validation/validation.go, ValidatePodSpecificAnnotations
pub(crate) fn validate_pod_annotations(
    annotations: &Node<'_, '_>,
    spec: &Node<'_, '_>,
    options: PodOptions,
    errors: &mut Errors,
) {
    if annotations.key(MIRROR).is_set() && spec.child("nodeName").as_text().is_empty() {
        errors.invalid_or_empty(
            &annotations.key(MIRROR),
            "must set spec.nodeName if mirror pod annotation is set",
        );
    }
    let tolerations = annotations.child(TOLERATIONS);
    if !tolerations.as_text().is_empty() {
        match parse_json_as(tolerations.as_text(), true, "[]core.Toleration", errors.release()) {
            Err(fault) => errors.invalid(annotations, TOLERATIONS, &fault),
            Ok(list) => validate_tolerations(&Node::with_path(&list, *tolerations.path()), options, errors),
        }
    }
    let cost = annotations.key(DELETION_COST);
    if !options.invalid_deletion_cost && cost.is_set() && !is_deletion_cost(cost.as_text()) {
        errors.invalid_or_empty(&cost, "must be a 32bit integer");
    }
    let of_pod = annotations.child(SECCOMP_POD);
    if of_pod.is_set() {
        validate_seccomp(&of_pod, errors);
    }
    for (key, _) in annotations
        .entries()
        .filter(|(key, _)| key.starts_with(SECCOMP_CONTAINER))
    {
        validate_seccomp(&annotations.child(key), errors);
    }
    for (key, profile) in annotations.entries() {
        if let Some(name) = key.strip_prefix(APP_ARMOR_CONTAINER) {
            validate_app_armor(name, &profile, spec, errors);
        }
    }
}

/// Whether a text is a 32-bit integer without a needless sign or zero.
// Upstream: pkg/apis/core/helper/helpers.go, GetDeletionCostFromPodAnnotations
fn is_deletion_cost(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_plain = digits == "0" || !digits.starts_with(['0', '+']);
    is_plain && text != "-0" && text.parse::<i32>().is_ok()
}

pub(super) fn has_invalid_deletion_cost(annotations: &Node<'_, '_>) -> bool {
    let cost = annotations.key(DELETION_COST);
    cost.is_set() && !is_deletion_cost(cost.as_text())
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateSeccompProfile
fn validate_seccomp(profile: &Node<'_, '_>, errors: &mut Errors) {
    let text = profile.as_text();
    if ["runtime/default", "docker/default", "unconfined"].contains(&text) {
        return;
    }
    match text.strip_prefix("localhost/") {
        Some(path) => validate_descending(path, profile, errors),
        None => errors.invalid_or_empty(profile, "must be a valid seccomp profile"),
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateAppArmorPodAnnotations
fn validate_app_armor(name: &str, profile: &Node<'_, '_>, spec: &Node<'_, '_>, errors: &mut Errors) {
    let has_container = CONTAINER_LISTS.iter().any(|list| {
        spec.child(list)
            .items()
            .any(|container| container.child("name").as_text() == name)
    });
    if !has_container {
        errors.invalid(profile, name, "container not found");
    }
    let text = profile.as_text();
    if !["", "runtime/default", "unconfined"].contains(&text) && !text.starts_with("localhost/") {
        errors.invalid_value(
            profile,
            &format!("invalid AppArmor profile name: {}", quote(text)),
        );
    }
}

/// Annotations may not say otherwise than fields.
// Upstream: pkg/apis/core/validation/validation.go, validateSeccompAnnotationsAndFields,
// validateAppArmorAnnotationsAndFieldsMatchOnCreate
pub(crate) fn validate_annotations_match(metadata: &Node<'_, '_>, spec: &Node<'_, '_>, errors: &mut Errors) {
    let annotations = metadata.child("annotations");
    let is_about_profile = |key: &str| {
        key == SECCOMP_POD || key.starts_with(SECCOMP_CONTAINER) || key.starts_with(APP_ARMOR_CONTAINER)
    };
    if !annotations.entries().any(|(key, _)| is_about_profile(key)) {
        return;
    }
    let context = spec.child("securityContext");
    let seccomp = context.child("seccompProfile");
    match_profile(
        &annotations.key(SECCOMP_POD),
        &seccomp,
        &seccomp,
        &SECCOMP_TEXTS,
        errors,
    );
    for list in CONTAINER_LISTS {
        for container in spec.child(list).items() {
            let key = format!("{SECCOMP_CONTAINER}{}", container.child("name").as_text());
            let context = container.child("securityContext");
            let profile = context.child("seccompProfile");
            match_profile(&annotations.key(&key), &profile, &profile, &SECCOMP_TEXTS, errors);
        }
    }
    if spec.child("os").child("name").as_text() == "windows" {
        return;
    }
    let of_pod = context.child("appArmorProfile");
    for list in CONTAINER_LISTS {
        for container in spec.child(list).items() {
            let key = format!("{APP_ARMOR_CONTAINER}{}", container.child("name").as_text());
            let context = container.child("securityContext");
            let own = context.child("appArmorProfile");
            let profile = if own.is_set() { &own } else { &of_pod };
            match_profile(&annotations.key(&key), profile, &own, &APP_ARMOR_TEXTS, errors);
        }
    }
}

/// How annotations and errors write a kind of profile.
struct ProfileTexts {
    runtime_default: &'static [&'static str],
    kind_detail: &'static str,
    file_detail: &'static str,
    /// The kinds that no annotation has.
    unwritten: &'static [&'static str],
}

const SECCOMP_TEXTS: ProfileTexts = ProfileTexts {
    runtime_default: &["runtime/default", "docker/default"],
    kind_detail: "seccomp type in annotation and field must match",
    file_detail: "seccomp profile in annotation and field must match",
    unwritten: &["OCI"],
};

const APP_ARMOR_TEXTS: ProfileTexts = ProfileTexts {
    runtime_default: &["runtime/default"],
    kind_detail: "apparmor type in annotation and field must match",
    file_detail: "apparmor profile in annotation and field must match",
    unwritten: &[],
};

// Upstream: pkg/apis/core/validation/validation.go, validateSeccompAnnotationsAndFieldsMatch
fn match_profile(
    annotation: &Node<'_, '_>,
    profile: &Node<'_, '_>,
    printed_profile: &Node<'_, '_>,
    texts: &ProfileTexts,
    errors: &mut Errors,
) {
    if !annotation.is_set() || !profile.is_set() {
        return;
    }
    let text = annotation.as_text();
    let matches = match profile.child("type").as_text() {
        "Unconfined" => text == "unconfined",
        "RuntimeDefault" => texts.runtime_default.contains(&text),
        "Localhost" => text.starts_with("localhost/"),
        // Upstream: pkg/apis/core/validation/validation.go, validateSeccompAnnotationsAndFieldsMatch: new in 1.38.
        kind if texts.unwritten.contains(&kind) => !errors.release().at_least(1, 38),
        _ => true,
    };
    if !matches {
        errors.forbidden(printed_profile.child("type"), texts.kind_detail);
    } else if profile.child("type").as_text() == "Localhost" {
        let file = profile.child("localhostProfile");
        let same = text.strip_prefix("localhost/") == Some(file.as_text());
        if !file.is_set() || !same {
            errors.forbidden(printed_profile.child("localhostProfile"), texts.file_detail);
        }
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidatePodSpecificAnnotationUpdates
pub(super) fn validate_annotation_updates(
    annotations: &Node<'_, '_>,
    old: &Node<'_, '_>,
    errors: &mut Errors,
) {
    for (key, value) in old.entries() {
        let new = annotations.key(key);
        if new.is_set() && new.as_text() == value.as_text() {
            continue;
        }
        if key.starts_with(APP_ARMOR_CONTAINER) {
            errors.forbidden(new, "may not remove or update AppArmor annotations");
        }
        if key == MIRROR {
            errors.forbidden(new, "may not remove or update mirror pod annotation");
        }
    }
    for (key, value) in annotations.entries().filter(|(key, _)| !old.key(key).is_set()) {
        if key.starts_with(APP_ARMOR_CONTAINER) {
            errors.forbidden(value, "may not add AppArmor annotations");
        }
        if key == MIRROR {
            errors.forbidden(value, "may not add mirror pod annotation");
        }
    }
}
