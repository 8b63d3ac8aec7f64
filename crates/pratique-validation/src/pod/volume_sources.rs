//! The sources of volumes, each with its rules.

use pratique_gotext::validation::{dns1123_label, dns1123_subdomain};
use pratique_types::field::BadValue;

use super::env::{FILE_FIELDS, validate_field_ref, validate_resource_ref};
use super::images::validate_pull_policy;
use super::options::PodOptions;
use super::paths::{validate_descending, validate_local_path, validate_no_backsteps};
use super::projected_volumes::validate_projected;
use super::security_context::validate_user;
use crate::claims::{ClaimOptions, validate_claim_template};
use crate::errors::Errors;
use crate::messages::{inclusive_range, subdomain_name};
use crate::node::Node;
use crate::quantities::quantity;

/// A source of volumes, and how errors name it.
pub(super) struct VolumeSource {
    pub(super) name: &'static str,
    pub(super) printed_name: &'static str,
    pub(super) shown_if_forbidden: &'static str,
}

const fn source(name: &'static str) -> VolumeSource {
    renamed(name, name, name)
}

const fn renamed(
    name: &'static str,
    printed_name: &'static str,
    shown_if_forbidden: &'static str,
) -> VolumeSource {
    VolumeSource {
        name,
        printed_name,
        shown_if_forbidden,
    }
}

/// All sources in the order in which a server looks for them.
// Upstream: pkg/apis/core/validation/validation.go, validateVolumeSource
pub(super) const SOURCES: &[VolumeSource] = &[
    source("emptyDir"),
    source("hostPath"),
    source("gitRepo"),
    renamed("gcePersistentDisk", "persistentDisk", "gcePersistentDisk"),
    source("awsElasticBlockStore"),
    source("secret"),
    source("nfs"),
    source("iscsi"),
    source("glusterfs"),
    source("flocker"),
    source("persistentVolumeClaim"),
    source("rbd"),
    source("cinder"),
    renamed("cephfs", "cephfs", "cephFS"),
    source("quobyte"),
    renamed("downwardAPI", "downwardAPI", "downwarAPI"),
    source("fc"),
    source("flexVolume"),
    source("configMap"),
    source("azureFile"),
    source("vsphereVolume"),
    source("photonPersistentDisk"),
    source("portworxVolume"),
    source("azureDisk"),
    source("storageos"),
    source("projected"),
    source("scaleIO"),
    source("csi"),
    source("ephemeral"),
    source("image"),
];

pub(super) const FILE_MODE: &str = "must be a number between 0 and 0777 (octal), both inclusive";

/// A source of a volume by its name.
pub(super) fn validate_source(name: &str, source: &Node<'_, '_>, options: PodOptions, errors: &mut Errors) {
    match name {
        "emptyDir" => validate_empty_dir(source, errors),
        "hostPath" => validate_host_path(source, errors),
        "gitRepo" => {
            require(source, &["repository"], errors);
            let directory = source.child("directory");
            validate_descending(directory.as_text(), &directory, errors);
        }
        "gcePersistentDisk" => validate_disk(source, "pdName", errors),
        "awsElasticBlockStore" => validate_disk(source, "volumeID", errors),
        "secret" => validate_files(source, "secretName", errors),
        "configMap" => validate_files(source, "name", errors),
        "nfs" => validate_nfs(source, errors),
        "iscsi" => validate_iscsi(source, errors),
        "glusterfs" => require(source, &["endpoints", "path"], errors),
        "flocker" => validate_flocker(source, errors),
        "persistentVolumeClaim" => require(source, &["claimName"], errors),
        "rbd" => require(source, &["monitors", "image"], errors),
        "cinder" => {
            require(source, &["volumeID"], errors);
            require_secret_name(source, errors);
        }
        "cephfs" => require(source, &["monitors"], errors),
        "quobyte" => validate_quobyte(source, errors),
        "downwardAPI" => validate_downward_api(source, errors),
        "fc" => validate_fibre_channel(source, errors),
        "flexVolume" => validate_flex(source, errors),
        "azureFile" => require(source, &["secretName", "shareName"], errors),
        "vsphereVolume" => require(source, &["volumePath"], errors),
        "photonPersistentDisk" => require(source, &["pdID"], errors),
        "portworxVolume" => require(source, &["volumeID"], errors),
        "azureDisk" => validate_azure_disk(source, errors),
        "storageos" => validate_storage_os(source, errors),
        "projected" => validate_projected(source, options, errors),
        "scaleIO" => require(source, &["gateway", "system", "volumeName"], errors),
        "csi" => validate_csi(source, errors),
        "ephemeral" => validate_ephemeral(source, errors),
        _ => {
            // Upstream: pkg/apis/core/validation/validation.go, validateImageVolumeSource: before 1.37, only Pods need one.
            let is_required = if errors.release().at_least(1, 37) {
                !options.empty_image_reference
            } else {
                options.is_pod
            };
            if is_required {
                require(source, &["reference"], errors);
            }
            validate_pull_policy(&source.child("pullPolicy"), errors);
        }
    }
}

/// Fields that may not be empty.
pub(crate) fn require(source: &Node<'_, '_>, names: &[&str], errors: &mut Errors) {
    for name in names {
        if source.child(name).is_empty() {
            errors.required(source.child(name), "");
        }
    }
}

fn require_secret_name(source: &Node<'_, '_>, errors: &mut Errors) {
    let secret = source.child("secretRef");
    if secret.is_set() {
        require(&secret, &["name"], errors);
    }
}

fn validate_empty_dir(source: &Node<'_, '_>, errors: &mut Errors) {
    let (limit, mode) = (source.child("sizeLimit"), source.child("mode"));
    if limit.is_set() && quantity(&limit).signum() < 0 {
        errors.forbidden(limit, "SizeLimit field must be a valid resource quantity");
    }
    if mode.is_set() && !(0..=0o1777).contains(&mode.int()) {
        errors.invalid(
            mode,
            mode.int(),
            "must be a number between 0 and 01777 (octal), both inclusive",
        );
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateHostPathVolumeSource
pub(crate) fn validate_host_path(source: &Node<'_, '_>, errors: &mut Errors) {
    const TYPES: &[&str] = &[
        "",
        "BlockDevice",
        "CharDevice",
        "Directory",
        "DirectoryOrCreate",
        "File",
        "FileOrCreate",
        "Socket",
    ];
    let (path, kind) = (source.child("path"), source.child("type"));
    if path.as_text().is_empty() {
        errors.required(path, "");
        return;
    }
    validate_no_backsteps(&path, &path, errors);
    if kind.is_set() && !TYPES.contains(&kind.as_text()) {
        errors.not_supported(&kind, TYPES);
    }
}

/// A disk of a cloud, with a partition.
pub(crate) fn validate_disk(source: &Node<'_, '_>, name: &str, errors: &mut Errors) {
    require(source, &[name], errors);
    let partition = source.child("partition");
    if !(0..=255).contains(&partition.int()) {
        errors.invalid(partition, partition.int(), &inclusive_range(1, 255));
    }
}

pub(super) fn validate_mode(mode: &Node<'_, '_>, errors: &mut Errors) {
    if mode.is_set() && !(0..=0o777).contains(&mode.int()) {
        errors.invalid(mode, mode.int(), FILE_MODE);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateSecretVolumeSource, validateConfigMapVolumeSource
fn validate_files(source: &Node<'_, '_>, name: &str, errors: &mut Errors) {
    require(source, &[name], errors);
    validate_mode(&source.child("defaultMode"), errors);
    validate_user(&source.child("defaultUser"), errors);
    for item in source.child("items").items() {
        validate_key_to_path(&item, errors);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateKeyToPath
pub(super) fn validate_key_to_path(item: &Node<'_, '_>, errors: &mut Errors) {
    require(item, &["key", "path"], errors);
    validate_local_path(&item.child("path"), &item.child("path"), errors);
    validate_mode(&item.child("mode"), errors);
    validate_user(&item.child("user"), errors);
}

// Upstream: pkg/apis/core/validation/validation.go, validateNFSVolumeSource
pub(crate) fn validate_nfs(source: &Node<'_, '_>, errors: &mut Errors) {
    require(source, &["server", "path"], errors);
    let path = source.child("path");
    if !path.as_text().starts_with('/') {
        errors.invalid_or_empty(&path, "must be an absolute path");
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateISCSIVolumeSource
fn validate_iscsi(source: &Node<'_, '_>, errors: &mut Errors) {
    const PREFIX: &str = "must be valid format starting with iqn, eui, or naa";
    require(source, &["targetPortal"], errors);
    validate_iscsi_names(source, PREFIX, false, errors);
}

/// What is said of names of targets and initiators; volumes and persistent volumes word it in different ways.
pub(crate) fn validate_iscsi_names(
    source: &Node<'_, '_>,
    prefix_detail: &str,
    needs_secret_name: bool,
    errors: &mut Errors,
) {
    let target = source.child("iqn");
    if target.as_text().is_empty() {
        errors.required(target, "");
    } else {
        validate_iscsi_name(&target, prefix_detail, errors);
    }
    let unit = source.child("lun");
    if !(0..=255).contains(&unit.int()) {
        errors.invalid(unit, unit.int(), &inclusive_range(0, 255));
    }
    let uses_chap = ["chapAuthDiscovery", "chapAuthSession"]
        .iter()
        .any(|name| source.child(name).is_true());
    let secret = source.child("secretRef");
    if uses_chap && !secret.is_set() {
        errors.required(secret, "");
    }
    if needs_secret_name && secret.is_set() {
        require(&secret, &["name"], errors);
    }
    let initiator = source.child_as("initiatorName", "initiatorname");
    if initiator.is_set() {
        validate_iscsi_name(&initiator, prefix_detail, errors);
    }
}

fn validate_iscsi_name(name: &Node<'_, '_>, prefix_detail: &str, errors: &mut Errors) {
    let text = name.as_text();
    let is_code = |text: &str, length: usize| {
        text.len() == 4 + length && text.bytes().skip(4).all(|byte| byte.is_ascii_alphanumeric())
    };
    let is_valid = match text.get(..3) {
        Some("iqn") => is_qualified_name(text),
        Some("eui") => is_code(text, 16),
        Some("naa") => is_code(text, 32),
        _ => {
            errors.invalid_or_empty(name, prefix_detail);
            return;
        }
    };
    if !is_valid {
        errors.invalid_or_empty(name, "must be valid format");
    }
}

/// `iqn.2001-04.com.example:storage`
// Upstream: pkg/apis/core/validation/validation.go, iscsiInitiatorIqnRegex
fn is_qualified_name(text: &str) -> bool {
    let is_match = |text: &str| {
        let bytes = text.as_bytes();
        let is_date = bytes.len() > 8
            && bytes.iter().take(4).all(u8::is_ascii_digit)
            && bytes.get(4) == Some(&b'-')
            && bytes.iter().skip(5).take(2).all(u8::is_ascii_digit)
            && bytes.get(7) == Some(&b'.');
        let Some((authority, name)) = text.get(8..).and_then(|rest| rest.split_once(':')) else {
            return false;
        };
        is_date
            && !authority.is_empty()
            && authority
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte))
            && !name.is_empty()
            && !name.contains([',', ';', '*', '&', '$', '|'])
            && !name.contains([' ', '\t', '\n', '\u{c}', '\r'])
    };
    text.match_indices("iqn.")
        .any(|(at, prefix)| text.get(at + prefix.len()..).is_some_and(is_match))
}

// Upstream: pkg/apis/core/validation/validation.go, validateFlockerVolumeSource
pub(crate) fn validate_flocker(source: &Node<'_, '_>, errors: &mut Errors) {
    let (name, uuid) = (source.child("datasetName"), source.child("datasetUUID"));
    if name.as_text().is_empty() && uuid.as_text().is_empty() {
        errors.required(source, "one of datasetName and datasetUUID is required");
    }
    if !name.as_text().is_empty() && !uuid.as_text().is_empty() {
        let value = BadValue::Text("resource".into());
        errors.invalid(
            source,
            value,
            "datasetName and datasetUUID can not be specified simultaneously",
        );
    }
    if name.as_text().contains('/') {
        errors.invalid_value(&name, "must not contain '/'");
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateQuobyteVolumeSource
pub(crate) fn validate_quobyte(source: &Node<'_, '_>, errors: &mut Errors) {
    const DETAIL: &str = "must be a host:port pair or multiple pairs separated by commas";
    let (registry, tenant) = (source.child("registry"), source.child("tenant"));
    if registry.as_text().is_empty() {
        errors.required(registry, DETAIL);
    } else if tenant.as_text().len() >= 65 {
        errors.required(
            tenant,
            "must be a UUID and may not exceed a length of 64 characters",
        );
    } else {
        let is_pair = |pair: &&str| !is_host_port(pair);
        for _ in registry.as_text().split(',').filter(is_pair) {
            errors.invalid_value(&registry, DETAIL);
        }
    }
    require(source, &["volume"], errors);
}

/// Whether a text is a host and a port.
// Upstream: net/ipsock.go, SplitHostPort
fn is_host_port(pair: &str) -> bool {
    let Some((host, port)) = pair.rsplit_once(':') else {
        return false;
    };
    match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(host) => !host.contains(['[', ']']) && !port.contains(['[', ']']),
        None => !host.contains([':', '[', ']']) && !port.contains(['[', ']']),
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateDownwardAPIVolumeSource
fn validate_downward_api(source: &Node<'_, '_>, errors: &mut Errors) {
    validate_mode(&source.child("defaultMode"), errors);
    validate_user(&source.child("defaultUser"), errors);
    for file in source.child("items").items() {
        // Errors name the source, not the item.
        validate_downward_file(&Node::with_path(file.value(), *source.path()), errors);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateDownwardAPIVolumeFile
pub(super) fn validate_downward_file(file: &Node<'_, '_>, errors: &mut Errors) {
    require(file, &["path"], errors);
    validate_local_path(&file.child("path"), &file.child("path"), errors);
    let (field, resource) = (file.child("fieldRef"), file.child("resourceFieldRef"));
    if field.is_set() {
        validate_field_ref(&field, FILE_FIELDS, errors);
        if resource.is_set() {
            let value = BadValue::Text("resource".into());
            errors.invalid(
                file,
                value,
                "fieldRef and resourceFieldRef can not be specified simultaneously",
            );
        }
    } else if resource.is_set() {
        validate_resource_ref(&resource, true, errors);
    } else {
        errors.required(file, "one of fieldRef and resourceFieldRef is required");
    }
    validate_mode(&file.child("mode"), errors);
    validate_user(&file.child("user"), errors);
}

// Upstream: pkg/apis/core/validation/validation.go, validateFCVolumeSource
pub(crate) fn validate_fibre_channel(source: &Node<'_, '_>, errors: &mut Errors) {
    let (names, ids, unit) = (
        source.child("targetWWNs"),
        source.child("wwids"),
        source.child("lun"),
    );
    if names.is_empty() && ids.is_empty() {
        errors.required(names, "must specify either targetWWNs or wwids, but not both");
    }
    if !names.is_empty() && !ids.is_empty() {
        errors.invalid_value(&names, "targetWWNs and wwids can not be specified simultaneously");
    }
    if !names.is_empty() {
        match unit.some_int() {
            None => errors.required(unit, "lun is required if targetWWNs is specified"),
            Some(number) if !(0..=255).contains(&number) => {
                errors.invalid(unit, number, &inclusive_range(0, 255));
            }
            Some(_) => {}
        }
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateFlexVolumeSource
pub(crate) fn validate_flex(source: &Node<'_, '_>, errors: &mut Errors) {
    require(source, &["driver"], errors);
    for (key, option) in source.child("options").entries() {
        let domain = key.split_once('/').map_or(key, |(domain, _)| domain);
        let domain = format!(".{}", domain.to_lowercase());
        if domain.ends_with(".kubernetes.io") || domain.ends_with(".k8s.io") {
            errors.invalid(option, key, "kubernetes.io and k8s.io namespaces are reserved");
        }
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateAzureDisk
pub(crate) fn validate_azure_disk(source: &Node<'_, '_>, errors: &mut Errors) {
    const MANAGED: &str =
        "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
    const BLOB: &str = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";
    require(source, &["diskName", "diskURI"], errors);
    let (caching, kind, uri) = (
        source.child("cachingMode"),
        source.child("kind"),
        source.child("diskURI"),
    );
    if caching.is_set() && !["None", "ReadOnly", "ReadWrite"].contains(&caching.as_text()) {
        errors.not_supported(&caching, &["None", "ReadOnly", "ReadWrite"]);
    }
    if !kind.is_set() {
        return;
    }
    if !["Dedicated", "Managed", "Shared"].contains(&kind.as_text()) {
        errors.not_supported(&kind, &["Dedicated", "Managed", "Shared"]);
    }
    if kind.as_text() == "Managed" && !uri.as_text().starts_with("/subscriptions/") {
        errors.unsupported_text(&uri, &[MANAGED]);
    }
    if kind.as_text() != "Managed" && !uri.as_text().starts_with("https://") {
        errors.unsupported_text(&uri, &[BLOB]);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateStorageOSVolumeSource
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
    require_secret_name(source, errors);
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateCSIDriverName
pub(crate) fn validate_driver_name(driver: &Node<'_, '_>, errors: &mut Errors) {
    if driver.as_text().is_empty() {
        errors.required(driver, "");
        // Before 1.35, an absent one was also validated as a name.
        if errors.release().at_least(1, 35) {
            return;
        }
    }
    if driver.as_text().len() > 63 {
        errors.too_long(driver, 63);
    }
    for message in dns1123_subdomain(&driver.as_text().to_lowercase()) {
        errors.invalid_or_empty(driver, &message);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateCSIVolumeSource
fn validate_csi(source: &Node<'_, '_>, errors: &mut Errors) {
    validate_driver_name(&source.child("driver"), errors);
    let secret = source.child("nodePublishSecretRef");
    if !secret.is_set() {
        return;
    }
    let name = secret.child("name").as_text();
    if name.is_empty() {
        errors.required(secret.child("name"), "");
    }
    for message in subdomain_name(name, false)
        .into_iter()
        .filter(|_| !name.is_empty())
    {
        errors.invalid(source.path().child("name"), name, &message);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateEphemeralVolumeSource
fn validate_ephemeral(source: &Node<'_, '_>, errors: &mut Errors) {
    let template = source.child("volumeClaimTemplate");
    if template.is_set() {
        validate_claim_template(&template, ClaimOptions::default(), errors);
    } else {
        errors.required(template, "");
    }
}
