//! What containers mount.

use std::collections::{HashMap, HashSet};

use super::context::PodContext;
use super::paths::{has_backsteps, validate_descending};
use crate::errors::Errors;
use crate::node::Node;
use crate::seen_texts::SeenTexts;

// Upstream: pkg/apis/core/validation/validation.go, ValidateVolumeMounts
pub(super) fn validate_mounts(container: &Node<'_, '_>, pod: &PodContext<'_, '_, '_>, errors: &mut Errors) {
    let (mounts, devices) = (container.child("volumeMounts"), container.child("volumeDevices"));
    let devices = texts(&devices, "name", "devicePath");
    let mut paths = SeenTexts::default();
    for mount in mounts.items() {
        let (name, path) = (mount.child("name"), mount.child("mountPath"));
        if name.as_text().is_empty() {
            errors.required(name, "");
        }
        if !pod.volumes.contains(name.as_text()) {
            errors.not_found(name, name.as_text());
        }
        if path.as_text().is_empty() {
            errors.required(path, "");
        }
        if !paths.insert(path.as_text()) {
            errors.invalid_or_empty(&path, "must be unique");
        }
        if devices.has_name(name.as_text()) {
            errors.invalid_or_empty(&name, "must not already exist in volumeDevices");
        }
        if devices.has_path(path.as_text()) {
            errors.invalid_or_empty(&path, "must not already exist as a path in volumeDevices");
        }
        let (sub_path, expression) = (mount.child("subPath").as_text(), mount.child("subPathExpr"));
        if !sub_path.is_empty() {
            validate_descending(sub_path, &mounts.child("subPath"), errors);
        }
        if !expression.as_text().is_empty() {
            if !sub_path.is_empty() {
                errors.invalid_value(&expression, "subPathExpr and subPath are mutually exclusive");
            }
            validate_descending(expression.as_text(), &mounts.child("subPathExpr"), errors);
        }
        validate_propagation(&mount, &mounts, container, errors);
        validate_recursive_read_only(&mount, &mounts, errors);
    }
}

/// Names and paths of what a container mounts in the other way; the last one of a name counts.
#[derive(Default)]
struct MountedNames<'v> {
    by_name: HashMap<&'v str, &'v str>,
    paths: HashSet<&'v str>,
}

fn texts<'v>(list: &Node<'_, 'v>, name: &str, path: &str) -> MountedNames<'v> {
    if list.is_empty() {
        return MountedNames::default();
    }
    let text = |item: &Node<'_, 'v>, name: &str| {
        let text = item.value().get(name).and_then(|text| text.as_str());
        text.unwrap_or_default()
    };
    let by_name: HashMap<&str, &str> = list
        .items()
        .map(|item| (text(&item, name), text(&item, path)))
        .collect();
    let paths = by_name.values().copied().collect();
    MountedNames { by_name, paths }
}

impl MountedNames<'_> {
    fn has_name(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    fn has_path(&self, path: &str) -> bool {
        self.paths.contains(path)
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateMountPropagation
fn validate_propagation(
    mount: &Node<'_, '_>,
    mounts: &Node<'_, '_>,
    container: &Node<'_, '_>,
    errors: &mut Errors,
) {
    const SUPPORTED: &[&str] = &["Bidirectional", "HostToContainer", "None"];
    let propagation = mount.child("mountPropagation");
    if !propagation.is_set() {
        return;
    }
    // The path is that of the list.
    let printed_propagation = Node::with_path(propagation.value(), mounts.path().child("mountPropagation"));
    if !SUPPORTED.contains(&propagation.as_text()) {
        errors.not_supported(&printed_propagation, SUPPORTED);
    }
    let is_privileged = container.child("securityContext").child("privileged").is_true();
    if propagation.as_text() == "Bidirectional" && !is_privileged {
        errors.forbidden(
            printed_propagation,
            "Bidirectional mount propagation is available only to privileged containers",
        );
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateMountRecursiveReadOnly
fn validate_recursive_read_only(mount: &Node<'_, '_>, mounts: &Node<'_, '_>, errors: &mut Errors) {
    let mode = mount.child("recursiveReadOnly");
    if !mode.is_set() {
        return;
    }
    let printed_mode = Node::with_path(mode.value(), mounts.path().child("recursiveReadOnly"));
    match mode.as_text() {
        "Disabled" => {}
        "Enabled" | "IfPossible" => {
            if !mount.child("readOnly").is_true() {
                errors.forbidden(printed_mode, "may only be specified when readOnly is true");
            }
            let propagation = mount.child("mountPropagation");
            if propagation.is_set() && propagation.as_text() != "None" {
                errors.forbidden(
                    printed_mode,
                    "may only be specified when mountPropagation is None or not specified",
                );
            }
        }
        _ => errors.not_supported(&printed_mode, &["Disabled", "Enabled", "IfPossible"]),
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateVolumeDevices
pub(super) fn validate_devices(container: &Node<'_, '_>, pod: &PodContext<'_, '_, '_>, errors: &mut Errors) {
    let devices = container.child("volumeDevices");
    if devices.is_empty() {
        return;
    }
    let mounts = texts(&container.child("volumeMounts"), "name", "mountPath");
    let (mut paths, mut names) = (SeenTexts::default(), SeenTexts::default());
    for device in devices.items() {
        let (name, path) = (device.child("name"), device.child("devicePath"));
        if name.as_text().is_empty() {
            errors.required(name, "");
        }
        if names.contains(name.as_text()) {
            errors.invalid_or_empty(&name, "must be unique");
        }
        match pod.volumes.is_claim(name.as_text()) {
            Some(true) => {}
            Some(false) => errors.invalid_or_empty(
                &name,
                "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode",
            ),
            None => errors.not_found(name, name.as_text()),
        }
        if path.as_text().is_empty() {
            errors.required(path, "");
        }
        if paths.contains(path.as_text()) {
            errors.invalid_or_empty(&path, "must be unique");
        }
        if has_backsteps(path.as_text()) {
            errors.invalid_value(&path, "can not contain backsteps ('..')");
        } else {
            paths.insert(path.as_text());
        }
        if mounts.has_name(name.as_text()) {
            errors.invalid_or_empty(&name, "must not already exist in volumeMounts");
        }
        if mounts.has_path(path.as_text()) {
            errors.invalid_or_empty(&path, "must not already exist as a path in volumeMounts");
        }
        if !name.as_text().is_empty() {
            names.insert(name.as_text());
        }
    }
}
