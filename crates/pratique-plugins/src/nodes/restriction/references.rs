//! The API objects that a pod refers to.

use pratique_gotext::strconv::quote;
use pratique_json::Value;

use crate::object::{elements, text};
use crate::pods::{references_config_maps, references_secrets};

/// Sources of volumes that need nothing of the API.
const FREE: [&str; 22] = [
    "awsElasticBlockStore",
    "azureDisk",
    "cephfs",
    "cinder",
    "downwardAPI",
    "emptyDir",
    "fc",
    "flexVolume",
    "flocker",
    "gcePersistentDisk",
    "gitRepo",
    "hostPath",
    "image",
    "iscsi",
    "nfs",
    "photonPersistentDisk",
    "portworxVolume",
    "quobyte",
    "rbd",
    "scaleIO",
    "storageos",
    "vsphereVolume",
];

/// Sources of volumes that need the API, with what they refer to.
const BOUND: [(&str, &str); 7] = [
    ("configMap", "configmaps (via configmap volumes)"),
    ("secret", "secrets (via secret volumes)"),
    ("csi", "csidrivers (via CSI volumes)"),
    ("glusterfs", "endpoints (via glusterFS volumes)"),
    ("persistentVolumeClaim", "persistentvolumeclaims"),
    ("ephemeral", "persistentvolumeclaims (via ephemeral volumes)"),
    ("azureFile", "secrets (via azureFile volumes)"),
];

/// The same for the sources of projected volumes.
const PROJECTED: [(&str, &str); 5] = [
    ("configMap", "configmaps (via projected volumes)"),
    ("secret", "secrets (via projected volumes)"),
    ("serviceAccountToken", "serviceaccounts (via projected volumes)"),
    ("clusterTrustBundle", "clustertrustbundles"),
    ("podCertificate", "podcertificates"),
];

/// What a pod refers to first, if anything.
///
/// # Errors
/// A volume of a type that is not known.
// Upstream: pkg/api/pod/util.go, HasAPIObjectReference
pub(super) fn referenced(pod: &Value<'_>) -> Result<Option<&'static str>, String> {
    if !text(pod, &["spec", "serviceAccountName"]).is_empty() {
        return Ok(Some("serviceaccounts"));
    }
    if references_secrets(pod) {
        return Ok(Some("secrets"));
    }
    if references_config_maps(pod) {
        return Ok(Some("configmaps"));
    }
    if !elements(pod, &["spec", "resourceClaims"]).is_empty() {
        return Ok(Some("resourceclaims"));
    }
    for volume in elements(pod, &["spec", "volumes"]) {
        if FREE.iter().any(|source| volume.get(source).is_some()) {
            continue;
        }
        if let Some((_, what)) = BOUND.iter().find(|(source, _)| volume.get(source).is_some()) {
            return Ok(Some(what));
        }
        let shown = || quote(text(volume, &["name"]));
        if volume.get("projected").is_none() {
            return Err(format!("unknown volume type for volume  {}", shown()));
        }
        for source in elements(volume, &["projected", "sources"]) {
            if let Some((_, what)) = PROJECTED.iter().find(|(field, _)| source.get(field).is_some()) {
                return Ok(Some(what));
            }
            if source.get("downwardAPI").is_none() {
                return Err(format!("unknown source for projected volume {}", shown()));
            }
        }
    }
    Ok(None)
}
