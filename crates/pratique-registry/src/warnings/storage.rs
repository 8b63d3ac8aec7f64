//! Warnings about claims, volumes and what they are made of.

use std::fmt::Display;

use pratique_gotext::strconv::quote;
use pratique_json::{Object, Value};

use super::pod_spec::{is_fractional_text, of_expressions, of_label, of_volume_source};
use crate::object;

const CLASS_ANNOTATION: &str = "volume.beta.kubernetes.io/storage-class";
const CLASS_MESSAGE: &str = "deprecated since v1.8; use \"storageClassName\" attribute instead";

// Upstream: pkg/api/persistentvolumeclaim/util.go, GetWarningsForPersistentVolumeClaim
pub(super) fn claim(object: &Value<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    if object::has(object, &["metadata", "annotations", CLASS_ANNOTATION]) {
        warnings.push(format!(
            "metadata.annotations[{CLASS_ANNOTATION}]: {CLASS_MESSAGE}"
        ));
    }
    warnings.extend(of_claim_amounts(object, "spec"));
    warnings
}

/// The warnings about the amounts of a claim, whose spec is shown at a path.
// Upstream: pkg/api/persistentvolumeclaim/util.go, GetWarningsForPersistentVolumeClaimSpec
pub(super) fn of_claim_amounts(claim: &Value<'_>, path: impl Display) -> Vec<String> {
    let mut warnings = Vec::new();
    for kind in ["requests", "limits"] {
        let amount = object::text(claim, &["spec", "resources", kind, "storage"]);
        if is_fractional_text(amount) {
            let amount = quote(amount);
            warnings.push(format!(
                "{path}.resources.{kind}[storage]: fractional byte value {amount} is invalid, must be an integer"
            ));
        }
    }
    warnings
}

/// The warnings about the templates of claims that a StatefulSet has.
// Upstream: pkg/registry/apps/statefulset/strategy.go, WarningsOnCreate, WarningsOnUpdate
pub(super) fn claim_templates(object: &Value<'_>, is_update: bool) -> Vec<String> {
    // The server's path of an update ends so.
    let spec = if is_update { ".Spec" } else { "" };
    let claims = object::list(object, &["spec", "volumeClaimTemplates"]);
    let claims = claims.iter().enumerate();
    let warnings = claims.flat_map(|(at, claim)| {
        of_claim_amounts(claim, format_args!("spec.volumeClaimTemplates[{at}]{spec}"))
    });
    warnings.collect()
}

// Upstream: pkg/api/persistentvolume/util.go, GetWarningsForPersistentVolume
pub(super) fn volume(object: &Value<'_>) -> Vec<String> {
    const ANNOTATIONS: [(&str, &str); 2] = [
        (CLASS_ANNOTATION, CLASS_MESSAGE),
        (
            "volume.beta.kubernetes.io/mount-options",
            "deprecated since v1.31; use \"mountOptions\" attribute instead",
        ),
    ];
    const SOURCES: [&str; 6] = [
        "cephfs",
        "photonPersistentDisk",
        "scaleIO",
        "storageos",
        "glusterfs",
        "rbd",
    ];
    let mut warnings = Vec::new();
    for (name, message) in ANNOTATIONS {
        if object::has(object, &["metadata", "annotations", name]) {
            warnings.push(format!("metadata.annotations[{name}]: {message}"));
        }
    }
    if object::text(object, &["spec", "persistentVolumeReclaimPolicy"]) == "Recycle" {
        warnings.push(
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended \
             approach is to use dynamic provisioning."
                .to_owned(),
        );
    }
    let terms = object::list(object, &["spec", "nodeAffinity", "required", "nodeSelectorTerms"]);
    for (at, term) in terms.iter().enumerate() {
        let path = format!("spec.nodeAffinity.required.nodeSelectorTerms[{at}]");
        warnings.extend(of_expressions(term, &path));
    }
    let sources = SOURCES
        .into_iter()
        .filter(|source| object::has(object, &["spec", source]));
    warnings.extend(sources.filter_map(|source| of_volume_source("spec", source)));
    warnings
}

// Upstream: pkg/api/storage/util.go, GetWarningsForStorageClass
pub(super) fn storage_class(object: &Value<'_>) -> Vec<String> {
    let topologies = object::list(object, &["allowedTopologies"]).iter().enumerate();
    let warnings = topologies.flat_map(|(at, topology)| {
        let expressions = object::list(topology, &["matchLabelExpressions"])
            .iter()
            .enumerate();
        expressions.filter_map(move |(index, expression)| {
            let message = of_label(object::text(expression, &["key"]))?;
            Some(format!(
                "allowedTopologies[{at}].matchLabelExpressions[{index}].key: {message}"
            ))
        })
    });
    warnings.collect()
}

/// The warning about tokens that a driver is given where they can be logged; not where they were before.
// Upstream: pkg/registry/storage/csidriver/strategy.go, WarningsOnCreate, WarningsOnUpdate
pub(super) fn driver(object: &Value<'_>, old: Option<&Value<'_>>) -> Option<String> {
    const REQUESTS: &[&str] = &["spec", "tokenRequests"];
    let is_old = old.is_some_and(|old| object::same(object, old, REQUESTS));
    let is_told = !is_old
        && !object::list(object, REQUESTS).is_empty()
        && !object::has(object, &["spec", "serviceAccountTokenInSecrets"]);
    is_told.then(|| {
        "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging \
         of tokens in volume attributes"
            .to_owned()
    })
}

// Upstream: pkg/api/storage/util.go, GetWarningsForCSIStorageCapacity
pub(super) fn storage_capacity(object: &Value<'_>) -> Vec<String> {
    let Some(selector) = object.get("nodeTopology") else {
        return Vec::new();
    };
    let mut warnings = of_expressions(selector, "nodeTopology");
    let labels = selector.get("matchLabels").and_then(Value::as_object);
    let labels = labels.into_iter().flat_map(Object::iter);
    warnings
        .extend(labels.filter_map(|(label, _)| {
            Some(format!("nodeTopology.matchLabels.{label}: {}", of_label(label)?))
        }));
    warnings
}
