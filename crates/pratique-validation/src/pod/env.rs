//! Environment variables and where their values come from.

use std::cell::LazyCell;
use std::collections::HashMap;

use pratique_gotext::quantity::Quantity;
use pratique_gotext::validation::{dns1123_label, qualified_name};
use pratique_types::field::BadValue;

use crate::claims::template_names;
use crate::errors::Errors;
use crate::messages::{config_map_key, env_var_name, subdomain_name};
use crate::node::Node;
use crate::pod::paths::validate_no_backsteps;

// Upstream: pkg/apis/core/validation/validation.go, ValidateEnv
pub(super) fn validate_env(variables: &Node<'_, '_>, errors: &mut Errors) {
    for variable in variables.items() {
        let name = variable.child("name");
        if name.as_text().is_empty() {
            errors.required(name, "");
        } else {
            errors.invalid_each(&name, &env_var_name(name.as_text()));
        }
        validate_source(&variable, errors);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateEnvVarValueFrom
fn validate_source(variable: &Node<'_, '_>, errors: &mut Errors) {
    let source = variable.child("valueFrom");
    if !source.is_set() {
        return;
    }
    let mut count = 0;
    for name in [
        "fieldRef",
        "resourceFieldRef",
        "configMapKeyRef",
        "secretKeyRef",
        "fileKeyRef",
    ] {
        let reference = source.child(name);
        if !reference.is_set() {
            continue;
        }
        count += 1;
        match name {
            "fieldRef" => validate_field_ref(&reference, ENV_FIELDS, errors),
            "resourceFieldRef" => validate_resource_ref(&reference, false, errors),
            "fileKeyRef" => validate_file_key(&reference, errors),
            _ => validate_key_ref(&reference, errors),
        }
    }
    // Upstream: pkg/apis/core/validation/validation.go, validateEnvVarValueFrom: files are named where they may be there.
    let may_be_file = errors.release().at_least(1, 35) || errors.gates().feature_gates.is_on("EnvFiles");
    let detail = if count == 0 && may_be_file {
        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
    } else if count == 0 {
        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"
    } else if !variable.child("value").as_text().is_empty() {
        "may not be specified when `value` is not empty"
    } else if count > 1 {
        "may not have more than one field specified at a time"
    } else {
        return;
    };
    errors.invalid(source, "", detail);
}

const ENV_FIELDS: &[&str] = &[
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

/// The fields that a file of a volume can have.
pub(super) const FILE_FIELDS: &[&str] = &[
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
];

/// A field of the Pod.
// Upstream: pkg/apis/core/validation/validation.go, validateObjectFieldSelector
pub(super) fn validate_field_ref(reference: &Node<'_, '_>, fields: &[&str], errors: &mut Errors) {
    let (version, path) = (reference.child("apiVersion"), reference.child("fieldPath"));
    if version.as_text().is_empty() {
        errors.required(version, "");
        return;
    }
    if path.as_text().is_empty() {
        errors.required(path, "");
        return;
    }
    let text = match convert_field_label(version.as_text(), path.as_text()) {
        Ok(text) => text,
        Err(why) => {
            errors.invalid_value(&path, &format!("error converting fieldPath: {why}"));
            return;
        }
    };
    match split_subscript(text) {
        Some(("metadata.annotations", key)) => {
            for message in qualified_name(&key.to_lowercase()) {
                errors.invalid(reference, key.to_lowercase(), &message);
            }
        }
        Some((_, key)) => {
            for message in qualified_name(key) {
                errors.invalid(reference, key, &message);
            }
        }
        None if !fields.contains(&text) => {
            errors.push(pratique_types::field::Error::not_supported(path, text, fields));
        }
        None => {}
    }
}

// Upstream: pkg/apis/core/pods/helpers.go, ConvertDownwardAPIFieldLabel
fn convert_field_label<'a>(version: &str, label: &'a str) -> Result<&'a str, String> {
    const LABELS: &[&str] = &[
        "metadata.annotations",
        "metadata.labels",
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.serviceAccountName",
        "spec.schedulerName",
        "status.phase",
        "status.hostIP",
        "status.hostIPs",
        "status.podIP",
        "status.podIPs",
    ];
    if version != "v1" {
        return Err(format!("unsupported pod version: {version}"));
    }
    match split_subscript(label) {
        Some(("metadata.annotations" | "metadata.labels", _)) => Ok(label),
        Some(_) => Err(format!("field label does not support subscript: {label}")),
        None if label == "spec.host" => Ok("spec.nodeName"),
        None if LABELS.contains(&label) => Ok(label),
        None => Err(format!("field label not supported: {label}")),
    }
}

// Upstream: pkg/fieldpath/fieldpath.go, SplitMaybeSubscriptedPath
fn split_subscript(path: &str) -> Option<(&str, &str)> {
    let (path, subscript) = path.strip_suffix("']")?.split_once("['")?;
    (!path.is_empty()).then_some((path, subscript))
}

/// A resource of a container.
// Upstream: pkg/apis/core/validation/validation.go, validateContainerResourceFieldSelector
pub(super) fn validate_resource_ref(reference: &Node<'_, '_>, in_volume: bool, errors: &mut Errors) {
    const RESOURCES: &[&str] = &[
        "limits.cpu",
        "limits.ephemeral-storage",
        "limits.memory",
        "requests.cpu",
        "requests.ephemeral-storage",
        "requests.memory",
    ];
    let resource = reference.child("resource");
    let is_huge_pages = is_huge_pages_ref(resource.as_text());
    if in_volume && reference.child("containerName").as_text().is_empty() {
        errors.required(reference.child("containerName"), "");
    } else if resource.as_text().is_empty() {
        errors.required(resource, "");
    } else if !RESOURCES.contains(&resource.as_text()) && !is_huge_pages {
        errors.unsupported_text(&resource, RESOURCES);
    }
    validate_divisor(reference, errors);
}

fn is_huge_pages_ref(resource: &str) -> bool {
    resource.starts_with("requests.hugepages-") || resource.starts_with("limits.hugepages-")
}

// Upstream: pkg/apis/core/validation/validation.go, validateContainerResourceDivisor
fn validate_divisor(reference: &Node<'_, '_>, errors: &mut Errors) {
    const SIZES: &[&str] = &[
        "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei",
    ];
    let (divisor, resource) = (reference.child("divisor"), reference.child("resource").as_text());
    if Quantity::parse(divisor.as_text()).map_or(true, |quantity| quantity.is_zero()) {
        return;
    }
    let of_sizes = |what: &str| {
        format!(
            "only divisor's values {} are supported with the {what} resource",
            SIZES.join(", ")
        )
    };
    let (is_valid, detail) = match resource {
        "limits.cpu" | "requests.cpu" => (
            ["1m", "1"].contains(&divisor.as_text()),
            "only divisor's values 1m and 1 are supported with the cpu resource".to_owned(),
        ),
        "limits.memory" | "requests.memory" => (SIZES.contains(&divisor.as_text()), of_sizes("memory")),
        "limits.ephemeral-storage" | "requests.ephemeral-storage" => (
            SIZES.contains(&divisor.as_text()),
            of_sizes("local ephemeral storage"),
        ),
        _ if is_huge_pages_ref(resource) => (SIZES.contains(&divisor.as_text()), of_sizes("hugepages")),
        _ => return,
    };
    if !is_valid {
        errors.invalid(divisor, resource, &detail);
    }
}

/// A key of a ConfigMap or a Secret.
// Upstream: pkg/apis/core/validation/validation.go, validateConfigMapKeySelector, validateSecretKeySelector
fn validate_key_ref(reference: &Node<'_, '_>, errors: &mut Errors) {
    let (name, key) = (reference.child("name"), reference.child("key"));
    for message in subdomain_name(name.as_text(), false) {
        errors.invalid(name, name.as_text(), &message);
    }
    if key.as_text().is_empty() {
        errors.required(key, "");
    } else {
        errors.invalid_each(&key, &config_map_key(key.as_text()));
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateFileKeySelector
fn validate_file_key(reference: &Node<'_, '_>, errors: &mut Errors) {
    let (key, volume, path) = (
        reference.child("key"),
        reference.child("volumeName"),
        reference.child("path"),
    );
    if key.as_text().is_empty() {
        errors.required(key, "");
    } else {
        errors.invalid_each(&key, &env_var_name(key.as_text()));
    }
    if volume.as_text().is_empty() {
        errors.required(volume, "");
    } else {
        errors.invalid_each(&volume, &dns1123_label(volume.as_text()));
    }
    if path.as_text().is_empty() {
        errors.required(path, "");
    } else {
        validate_no_backsteps(&path, &path, errors);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateEnvFrom
pub(super) fn validate_env_from(sources: &Node<'_, '_>, errors: &mut Errors) {
    for source in sources.items() {
        let prefix = source.child("prefix");
        if !prefix.as_text().is_empty() {
            errors.invalid_each(&prefix, &env_var_name(prefix.as_text()));
        }
        let mut count = 0;
        for name in ["configMapRef", "secretRef"] {
            let reference = source.child(name);
            if !reference.is_set() {
                continue;
            }
            count += 1;
            let name = reference.child("name");
            if name.as_text().is_empty() {
                errors.required(name, "");
            } else {
                errors.invalid_each(&name, &subdomain_name(name.as_text(), true));
            }
        }
        let empty = BadValue::Text("".into());
        match count {
            0 => errors.invalid(
                sources,
                empty,
                "must specify one of: `configMapRef` or `secretRef`",
            ),
            1 => {}
            _ => errors.invalid(
                sources,
                empty,
                "may not have more than one field specified at a time",
            ),
        }
    }
}

/// Variables from files need volumes that are empty at first. The claims of a StatefulSet are volumes as well, and are not.
// Upstream: pkg/apis/core/validation/validation.go, validateFileKeyRefVolumes
pub(super) fn validate_file_volumes(
    spec: &Node<'_, '_>,
    claim_templates: Option<&Node<'_, '_>>,
    errors: &mut Errors,
) {
    // The last of several volumes with a name counts.
    let is_empty_dir: LazyCell<HashMap<&str, bool>, _> = LazyCell::new(|| {
        let volumes = spec.child("volumes");
        let volumes = volumes
            .items()
            .map(|volume| (volume.child("name").as_text(), volume.child("emptyDir").is_set()));
        volumes.collect()
    });
    let claims = LazyCell::new(|| template_names(claim_templates));
    for list in super::CONTAINER_LISTS {
        for container in spec.child(list).items() {
            for variable in container.child("env").items() {
                let source = variable.child("valueFrom");
                let reference = source.child("fileKeyRef");
                if !reference.is_set() {
                    continue;
                }
                let name = reference.child("volumeName");
                let is_claim = claims.contains(name.as_text());
                match is_empty_dir.get(name.as_text()) {
                    Some(true) if !is_claim => {}
                    None if !is_claim => errors.not_found(name, name.as_text()),
                    _ => errors.invalid_or_empty(&name, "referenced volume must be of type emptyDir"),
                }
            }
        }
    }
}
