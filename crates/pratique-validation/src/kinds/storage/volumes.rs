//! PersistentVolumes.

use pratique_gotext::validation::{dns1123_label, dns1123_subdomain};
use pratique_json::{Object, Value};
use pratique_types::field::Error;

use crate::claims::{validate_access_modes, validate_class};
use crate::diff::json_diff;
use crate::errors::{Errors, IMMUTABLE};
use crate::internal::{internal_json, internal_text};
use crate::kinds::Request;
use crate::messages::{label_name, subdomain_name};
use crate::node::{Node, is_same};
use crate::object_meta::{validate_core_meta, validate_core_meta_update};
use crate::pod::validate_node_selector;
use crate::pod::volume_sources::{
    require, validate_azure_disk, validate_disk, validate_driver_name, validate_fibre_channel, validate_flex,
    validate_flocker, validate_host_path, validate_iscsi_names, validate_nfs, validate_quobyte,
};
use crate::pod::{has_backsteps, has_invalid_term_values};
use crate::quantities::{validate_basic_amount, validate_positive};

/// The sources in the order in which a server looks for them, with how errors about them name them, and how those about one
/// too many do.
const SOURCES: &[(&str, &str, &str)] = &[
    ("hostPath", "hostPath", "hostPath"),
    ("gcePersistentDisk", "persistentDisk", "gcePersistentDisk"),
    (
        "awsElasticBlockStore",
        "awsElasticBlockStore",
        "awsElasticBlockStore",
    ),
    ("glusterfs", "glusterfs", "glusterfs"),
    ("flocker", "flocker", "flocker"),
    ("nfs", "nfs", "nfs"),
    ("rbd", "rbd", "rbd"),
    ("quobyte", "quobyte", "quobyte"),
    ("cephfs", "cephfs", "cephFS"),
    ("iscsi", "iscsi", "iscsi"),
    ("cinder", "cinder", "cinder"),
    ("fc", "fc", "fc"),
    ("flexVolume", "flexVolume", "flexVolume"),
    ("azureFile", "azureFile", "azureFile"),
    ("vsphereVolume", "vsphereVolume", "vsphereVolume"),
    (
        "photonPersistentDisk",
        "photonPersistentDisk",
        "photonPersistentDisk",
    ),
    ("portworxVolume", "portworxVolume", "portworxVolume"),
    ("azureDisk", "azureDisk", "azureDisk"),
    ("scaleIO", "scaleIO", "scaleIO"),
    ("local", "local", "local"),
    ("storageos", "storageos", "storageos"),
    ("csi", "csi", "csi"),
];

// Upstream: pkg/apis/core/validation/validation.go, ValidatePersistentVolume
pub(super) fn validate_volume(request: &Request<'_>, errors: &mut Errors) {
    let metadata = request.object.child("metadata");
    validate_core_meta(&metadata, false, subdomain_name, errors);
    let (spec, old) = (request.object.child("spec"), request.old.child("spec"));
    validate_modes(&spec, errors);
    validate_capacity(&spec.child("capacity"), errors);
    let reclaim = spec.child("persistentVolumeReclaimPolicy");
    let policies = ["Delete", "Recycle", "Retain"];
    if !reclaim.as_text().is_empty() && !policies.contains(&reclaim.as_text()) {
        errors.not_supported(&reclaim, &policies);
    }
    let affinity = spec.child("nodeAffinity");
    let required = affinity.child("required");
    if required.is_set() {
        let old_affinity = old.child("nodeAffinity");
        let allows_invalid = has_invalid_term_values(&old_affinity.child("required"));
        validate_node_selector(&required, allows_invalid, errors);
    } else if affinity.is_set() {
        errors.required(required, "must specify required node constraints");
    }
    validate_sources(&spec, metadata.child("name").as_text(), affinity.is_set(), errors);
    validate_recycling(&spec, errors);
    validate_classes(&spec, errors);
}

fn validate_modes(spec: &Node<'_, '_>, errors: &mut Errors) {
    let modes = spec.child("accessModes");
    if modes.is_empty() {
        errors.required(modes, "");
    }
    validate_access_modes(&modes, errors);
}

/// What an attachment says of a volume that no PersistentVolume describes.
// Upstream: pkg/apis/core/validation/validation.go, ValidatePersistentVolumeSpec
pub(super) fn validate_inline_spec(spec: &Node<'_, '_>, errors: &mut Errors) {
    const INLINE: &str = "may not be specified in the context of inline volumes";
    let (claim, capacity) = (spec.child("claimRef"), spec.child("capacity"));
    if claim.is_set() {
        errors.forbidden(claim, INLINE);
    }
    if !capacity.is_empty() {
        errors.forbidden(capacity, INLINE);
    }
    if !spec.child("csi").is_set() {
        errors.required(
            spec.child("csi"),
            "has to be specified in the context of inline volumes",
        );
    }
    validate_modes(spec, errors);
    let reclaim = spec.child("persistentVolumeReclaimPolicy");
    if !matches!(reclaim.as_text(), "" | "Retain") {
        errors.forbidden(reclaim, "may only be Retain in the context of inline volumes");
    }
    let affinity = spec.child("nodeAffinity");
    if affinity.is_set() {
        errors.forbidden(affinity, INLINE);
    }
    validate_sources(spec, "", false, errors);
    validate_recycling(spec, errors);
    let class = spec.child("storageClassName");
    if !class.as_text().is_empty() {
        errors.forbidden(class, INLINE);
    }
    let mode = spec.child("volumeMode");
    if mode.is_set() && mode.as_text() != "Filesystem" {
        errors.forbidden(
            mode,
            "may not specify volumeMode other than Filesystem in the context of inline volumes",
        );
    }
}

fn validate_recycling(spec: &Node<'_, '_>, errors: &mut Errors) {
    let (host, reclaim) = (
        spec.child("hostPath"),
        spec.child("persistentVolumeReclaimPolicy"),
    );
    if host.is_set() && is_root(host.child("path").as_text()) && reclaim.as_text() == "Recycle" {
        errors.forbidden(reclaim, "may not be 'recycle' for a hostPath mount of '/'");
    }
}

fn validate_classes(spec: &Node<'_, '_>, errors: &mut Errors) {
    validate_class(&spec.child("storageClassName"), errors);
    let mode = spec.child("volumeMode");
    if mode.is_set() && !["Block", "Filesystem"].contains(&mode.as_text()) {
        errors.not_supported(&mode, &["Block", "Filesystem"]);
    }
    let class = spec.child("volumeAttributesClassName");
    if class.is_set() {
        if class.as_text().is_empty() {
            errors.required(class, "an empty string is disallowed");
        }
        validate_class(&class, errors);
        if !spec.child("csi").is_set() {
            errors.required(
                spec.child("csi"),
                "has to be specified when using volumeAttributesClassName",
            );
        }
    }
}

/// Whether a path is that of the root once it is cleaned.
fn is_root(path: &str) -> bool {
    let mut depth = 0usize;
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => depth = depth.saturating_sub(1),
            _ => depth += 1,
        }
    }
    path.starts_with('/') && depth == 0
}

fn validate_capacity(capacity: &Node<'_, '_>, errors: &mut Errors) {
    if capacity.is_empty() {
        errors.required(capacity, "");
    }
    if !capacity.key("storage").is_set() || capacity.len() > 1 {
        let value = internal_json(errors.release(), "core.ResourceList", capacity.value());
        errors.push(Error::not_supported(capacity, value, ["storage"]));
    }
    for (_, value) in capacity.entries() {
        validate_basic_amount(&value, errors);
        validate_positive(&value, errors);
    }
}

fn validate_sources(spec: &Node<'_, '_>, name: &str, has_affinity: bool, errors: &mut Errors) {
    let mut count = 0;
    for (source, printed_name, forbidden) in SOURCES {
        let value = spec.child_as(source, printed_name);
        if !value.is_set() {
            continue;
        }
        count += 1;
        // A driver beside another source is let through.
        if count > 1 && *source != "flexVolume" {
            errors.forbidden(spec.child(forbidden), "may not specify more than 1 volume type");
            continue;
        }
        validate_source(source, &value, name, errors);
        if *source == "local" && !has_affinity {
            errors.required(spec.child("nodeAffinity"), "Local volume requires node affinity");
        }
    }
    if count == 0 {
        errors.required(spec, "must specify a volume type");
    }
}

fn validate_source(name: &str, source: &Node<'_, '_>, volume: &str, errors: &mut Errors) {
    match name {
        "hostPath" => validate_host_path(source, errors),
        "gcePersistentDisk" => validate_disk(source, "pdName", errors),
        "awsElasticBlockStore" => validate_disk(source, "volumeID", errors),
        "glusterfs" => validate_gluster(source, errors),
        "flocker" => validate_flocker(source, errors),
        "nfs" => validate_nfs(source, errors),
        "rbd" => require(source, &["monitors", "image"], errors),
        "quobyte" => validate_quobyte(source, errors),
        "cephfs" => require(source, &["monitors"], errors),
        "iscsi" => validate_iscsi(source, volume, errors),
        "cinder" => {
            require(source, &["volumeID"], errors);
            require_secret(source, errors);
        }
        "fc" => validate_fibre_channel(source, errors),
        "flexVolume" => validate_flex(source, errors),
        "azureFile" => {
            require(source, &["secretName", "shareName"], errors);
            let namespace = source.child("secretNamespace");
            if namespace.is_set() && namespace.as_text().is_empty() {
                errors.required(namespace, "");
            }
        }
        "vsphereVolume" => require(source, &["volumePath"], errors),
        "photonPersistentDisk" => require(source, &["pdID"], errors),
        "portworxVolume" => require(source, &["volumeID"], errors),
        "azureDisk" => validate_azure_disk(source, errors),
        "scaleIO" => require(source, &["gateway", "system", "volumeName"], errors),
        "local" => {
            let path = source.child("path");
            if path.as_text().is_empty() {
                errors.required(path, "");
            } else if has_backsteps(path.as_text()) {
                errors.invalid_value(&path, "must not contain '..'");
            }
        }
        "storageos" => validate_storage_os(source, errors),
        _ => validate_csi(source, errors),
    }
}

fn require_secret(source: &Node<'_, '_>, errors: &mut Errors) {
    let secret = source.child("secretRef");
    if secret.is_set() {
        require(&secret, &["name", "namespace"], errors);
    }
}

fn validate_gluster(source: &Node<'_, '_>, errors: &mut Errors) {
    require(source, &["endpoints", "path"], errors);
    let namespace = source.child("endpointsNamespace");
    if !namespace.is_set() {
        return;
    }
    if namespace.as_text().is_empty() {
        errors.invalid_or_empty(
            &namespace,
            "if the endpointnamespace is set, it must be a valid namespace name",
        );
    } else {
        errors.invalid_each(&namespace, &label_name(namespace.as_text(), false));
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateISCSIPersistentVolumeSource
fn validate_iscsi(source: &Node<'_, '_>, volume: &str, errors: &mut Errors) {
    require(source, &["targetPortal"], errors);
    let portal = source.child_as("targetPortal", "targetportal");
    if source.child("initiatorName").is_set() && volume.len() + 1 + portal.as_text().len() > 64 {
        errors.invalid_or_empty(
            &portal,
            "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is \
             specified.",
        );
    }
    validate_iscsi_names(source, "must be valid format", true, errors);
}

fn validate_storage_os(source: &Node<'_, '_>, errors: &mut Errors) {
    let (name, namespace) = (source.child("volumeName"), source.child("volumeNamespace"));
    if name.as_text().is_empty() {
        errors.required(name, "");
    } else {
        errors.invalid_each(&name, &dns1123_label(name.as_text()));
    }
    if !namespace.as_text().is_empty() {
        errors.invalid_each(&namespace, &dns1123_label(namespace.as_text()));
    }
    require_secret(source, errors);
}

// Upstream: pkg/apis/core/validation/validation.go, validateCSIPersistentVolumeSource
fn validate_csi(source: &Node<'_, '_>, errors: &mut Errors) {
    validate_driver_name(&source.child("driver"), errors);
    require(source, &["volumeHandle"], errors);
    for name in [
        "controllerPublishSecretRef",
        "controllerExpandSecretRef",
        "nodePublishSecretRef",
        "nodeExpandSecretRef",
    ] {
        let secret = source.child(name);
        if !secret.is_set() {
            continue;
        }
        let (name, namespace) = (secret.child("name"), secret.child("namespace"));
        if name.as_text().is_empty() {
            errors.required(name, "");
        } else {
            errors.invalid_each(&name, &dns1123_subdomain(name.as_text()));
        }
        if namespace.as_text().is_empty() {
            errors.required(namespace, "");
        } else {
            errors.invalid_each(&namespace, &dns1123_label(namespace.as_text()));
        }
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidatePersistentVolumeUpdate
pub(super) fn validate_volume_update(request: &Request<'_>, errors: &mut Errors) {
    validate_volume(request, errors);
    // Upstream: pkg/registry/core/persistentvolume/strategy.go, ValidateUpdate: twice, of which before 1.37 both are told.
    if !errors.release().at_least(1, 37) {
        validate_volume(request, errors);
    }
    let (spec, old) = (request.object.child("spec"), request.old.child("spec"));
    let (mut new_source, old_source) = (source_of(&spec), source_of(&old));
    // A secret for growing may be added later.
    let old_csi = old.child("csi");
    if old_csi.is_set()
        && !old_csi.child("controllerExpandSecretRef").is_set()
        && let Some(Value::Object(csi)) = new_source.get_mut("csi")
    {
        csi.remove("controllerExpandSecretRef");
    }
    if !is_same(&new_source, &old_source) {
        let diff = json_diff(
            &internal_text(errors.release(), "core.PersistentVolumeSource", &old_source),
            &internal_text(errors.release(), "core.PersistentVolumeSource", &new_source),
        );
        errors.forbidden(
            spec.path().child("persistentvolumesource"),
            &format!("spec.persistentvolumesource is immutable after creation\n{diff}"),
        );
    }
    let mode = spec.child("volumeMode");
    if mode.value() != old.child("volumeMode").value() {
        let value = internal_json(errors.release(), "*core.PersistentVolumeMode", mode.value());
        errors.invalid("volumeMode", value, IMMUTABLE);
    }
    let (affinity, old_affinity) = (spec.child("nodeAffinity"), old.child("nodeAffinity"));
    let may_move = request.settings.gates.moves_volumes;
    if !may_move && old_affinity.is_set() && !keeps_affinity(affinity.value(), old_affinity.value()) {
        let value = internal_json(errors.release(), "*core.VolumeNodeAffinity", affinity.value());
        errors.invalid(
            "nodeAffinity",
            value,
            "field is immutable, except for updating from beta label to GA",
        );
    }
    let class = spec.child("volumeAttributesClassName");
    if old.child("volumeAttributesClassName").is_set() && !class.is_set() {
        errors.forbidden(class, "update from non-nil value to nil is forbidden");
    }
}

/// Whether two values are the same but for labels of nodes that have got their final names.
// Upstream: pkg/apis/core/validation/validation.go, getMaskNodeSelectorLabelChangeEqualities
fn keeps_affinity(new: &Value<'_>, old: &Value<'_>) -> bool {
    const LABELS: &[(&str, &str)] = &[
        (
            "failure-domain.beta.kubernetes.io/zone",
            "topology.kubernetes.io/zone",
        ),
        (
            "failure-domain.beta.kubernetes.io/region",
            "topology.kubernetes.io/region",
        ),
        ("beta.kubernetes.io/os", "kubernetes.io/os"),
        ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
        (
            "beta.kubernetes.io/instance-type",
            "node.kubernetes.io/instance-type",
        ),
    ];
    match (new, old) {
        (Value::Object(one), Value::Object(other)) if one.len() == other.len() => one
            .iter()
            .all(|(name, value)| other.get(name).is_some_and(|other| keeps_affinity(value, other))),
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => one
            .iter()
            .zip(other)
            .all(|(one, other)| keeps_affinity(one, other)),
        (Value::String(new), Value::String(old)) => {
            new == old || LABELS.contains(&(old.as_ref(), new.as_ref()))
        }
        (one, other) => is_same(one, other),
    }
}

/// The members of a specification that are sources.
fn source_of(spec: &Node<'_, '_>) -> Value<'static> {
    let mut members = Object::new();
    for (name, ..) in SOURCES {
        let source = spec.child(name);
        if source.is_set() {
            members.insert(*name, source.value().owned_within(""));
        }
    }
    members.into()
}

// Upstream: pkg/apis/core/validation/validation.go, ValidatePersistentVolumeStatusUpdate
pub(super) fn validate_status(request: &Request<'_>, errors: &mut Errors) {
    let metadata = request.object.child("metadata");
    validate_core_meta_update(&metadata, &request.old.child("metadata"), errors);
    if metadata.child("resourceVersion").as_text().is_empty() {
        errors.required("resourceVersion", "");
    }
}
