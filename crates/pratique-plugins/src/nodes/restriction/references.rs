//! The API objects that a pod refers to.

use pratique_gotext::strconv::quote;
use pratique_json::Value;

use crate::object::{elements, text};
use crate::pods::{references_config_maps, references_secrets};

/// Sources of volumes without references to the API.
const WITHOUT_REFERENCE: [&str; 22] = [
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

/// Sources of volumes with the resources that they refer to.
const WITH_REFERENCE: [(&str, &str); 7] = [
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

/// A volume of an unknown type.
#[derive(Debug, thiserror::Error)]
pub(super) enum VolumeError {
    #[error("unknown volume type for volume  {}", quote(.0))]
    Type(String),
    #[error("unknown source for projected volume {}", quote(.0))]
    ProjectedSource(String),
}

/// The first resource that a pod refers to, if any.
// Upstream: pkg/api/pod/util.go, HasAPIObjectReference
pub(super) fn referenced(pod: &Value<'_>) -> Result<Option<&'static str>, VolumeError> {
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
        if WITHOUT_REFERENCE
            .iter()
            .any(|source| volume.get(source).is_some())
        {
            continue;
        }
        if let Some((_, resource)) = WITH_REFERENCE
            .iter()
            .find(|(source, _)| volume.get(source).is_some())
        {
            return Ok(Some(resource));
        }
        let name = || text(volume, &["name"]).to_owned();
        if volume.get("projected").is_none() {
            return Err(VolumeError::Type(name()));
        }
        for source in elements(volume, &["projected", "sources"]) {
            if let Some((_, resource)) = PROJECTED.iter().find(|(field, _)| source.get(field).is_some()) {
                return Ok(Some(resource));
            }
            if source.get("downwardAPI").is_none() {
                return Err(VolumeError::ProjectedSource(name()));
            }
        }
    }
    Ok(None)
}
