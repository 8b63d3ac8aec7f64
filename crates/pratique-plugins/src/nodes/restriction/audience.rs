//! The tokens that a node requests on behalf of its pods.

use pratique_gotext::strconv::quote;
use pratique_json::Value;
use pratique_plugin::{Rejection, StateKind};
use pratique_types::Operation;

use super::NodeRequest;
use super::permission::NodePermission;
use super::pods::stored;
use crate::answer::{aggregate, not_found_text};
use crate::object::{elements, name, text};

// Upstream: plugin/pkg/admission/noderestriction/admission.go, admitServiceAccount
pub(super) fn check_token(request: &NodeRequest<'_>, restricts_audiences: bool) -> Result<(), Rejection> {
    let is_token = request.attributes.request.sub_resource == "token";
    if request.operation() != Operation::Create || !is_token {
        return Ok(());
    }
    let token = request.object();
    request.require(token, "authentication.k8s.io", "TokenRequest")?;
    let bound = |field: &str| text(token, &["spec", "boundObjectRef", field]);
    if bound("apiVersion") != "v1" || bound("kind") != "Pod" || bound("name").is_empty() {
        return Err(request.forbidden("node requested token not bound to a pod"));
    }
    let uid = bound("uid");
    if uid.is_empty() {
        return Err(request.forbidden("node requested token with a pod binding without a uid"));
    }
    let pod = stored(request, bound("name"))?;
    let stored_uid = text(pod, &["metadata", "uid"]);
    if uid != stored_uid {
        return Err(request.forbidden(format!(
            "the UID in the bound object reference ({uid}) does not match the UID in record. The object might have \
             been deleted and then recreated"
        )));
    }
    if text(pod, &["spec", "nodeName"]) != request.node {
        return Err(request.forbidden("node requested token bound to a pod scheduled on a different node"));
    }
    if restricts_audiences {
        check_audience(request, token, pod)
    } else {
        Ok(())
    }
}

// Upstream: plugin/pkg/admission/noderestriction/admission.go, validateNodeServiceAccountAudience
fn check_audience(request: &NodeRequest<'_>, token: &Value<'_>, pod: &Value<'_>) -> Result<(), Rejection> {
    let audience = match elements(token, &["spec", "audiences"]) {
        [] => "",
        [audience] => audience.as_str().unwrap_or_default(),
        _ => return Err(request.forbidden("node may only request 0 or 1 audiences")),
    };
    if uses_audience(request, pod, audience)? {
        return Ok(());
    }
    let of = request.attributes.request;
    let verb = "request-serviceaccounts-token-audience";
    let permission = request.ask(verb, audience, &of.name)?;
    let (audience, user) = (quote(audience), &of.user_info.username);
    match permission {
        NodePermission::Granted => Ok(()),
        // Upstream: before 1.37, both texts began with the audience.
        NodePermission::Refused if !request.release.at_least(1, 37) => Err(request.forbidden(format!(
            "audience {audience} not found in pod spec volume, {user} is not authorized to request tokens for this \
             audience"
        ))),
        NodePermission::Failed(error) if !request.release.at_least(1, 37) => Err(request.forbidden(format!(
            "audience {audience} not found in pod spec volume, error authorizing {user} to request tokens for this \
             audience: {error}"
        ))),
        NodePermission::Refused => Err(request.forbidden(format!(
            "{user} is not authorized to request tokens for audience {audience}"
        ))),
        NodePermission::Failed(error) => Err(request.forbidden(format!(
            "error authorizing {user} to request tokens for audience {audience}: {error}"
        ))),
    }
}

/// Whether a volume of a pod has tokens for an audience.
// Upstream: plugin/pkg/admission/noderestriction/admission.go, podReferencesAudience
fn uses_audience(request: &NodeRequest<'_>, pod: &Value<'_>, audience: &str) -> Result<bool, Rejection> {
    let mut errors = Vec::new();
    for volume in elements(pod, &["spec", "volumes"]) {
        let mut projected = elements(volume, &["projected", "sources"]).iter();
        let is_projected = projected.any(|source| {
            let token = source.get("serviceAccountToken");
            token.is_some_and(|token| text(token, &["audience"]) == audience)
        });
        if is_projected {
            return Ok(true);
        }
        match driver_of(request, pod, volume)? {
            Ok(driver) if driver.is_empty() => {}
            Ok(driver) => match request.context.state.find(StateKind::CSI_DRIVER, "", &driver)? {
                None => errors.push(DriverError::NotFound("storage.k8s.io", "csidriver", driver)),
                Some(driver) => {
                    let mut tokens = elements(driver, &["spec", "tokenRequests"]).iter();
                    if tokens.any(|token| text(token, &["audience"]) == audience) {
                        return Ok(true);
                    }
                }
            },
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() {
        Ok(false)
    } else {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        let (audience, errors) = (quote(audience), aggregate(&errors));
        Err(request.forbidden(format!("error validating audience {audience}: {errors}")))
    }
}

/// The CSI drivers that took over volumes of older types.
// Upstream: csi-translation-lib plugins
const MIGRATED: [(&str, &str); 7] = [
    ("awsElasticBlockStore", "ebs.csi.aws.com"),
    ("azureDisk", "disk.csi.azure.com"),
    ("azureFile", "file.csi.azure.com"),
    ("cinder", "cinder.csi.openstack.org"),
    ("gcePersistentDisk", "pd.csi.storage.gke.io"),
    ("portworxVolume", "pxd.portworx.com"),
    ("vsphereVolume", "csi.vsphere.vmware.com"),
];

/// Why the CSI driver of a volume is not known.
#[derive(Debug, thiserror::Error)]
enum DriverError {
    /// An object is missing: its group, resource and name.
    #[error("{}", not_found_text(.0, .1, .2))]
    NotFound(&'static str, &'static str, String),
    #[error("could not find a secret namespace in PersistentVolumeSource or ClaimRef")]
    NoSecretNamespace,
    #[error("kind({0}) is not supported in csi migration")]
    UnsupportedKind(String),
}

/// The CSI driver of a volume; empty for a volume without.
fn driver_of(
    request: &NodeRequest<'_>,
    pod: &Value<'_>,
    volume: &Value<'_>,
) -> Result<Result<String, DriverError>, Rejection> {
    if volume.at(&["ephemeral", "volumeClaimTemplate"]).is_some() {
        let claim = format!("{}-{}", name(pod), text(volume, &["name"]));
        return driver_of_claim(request, &claim);
    }
    if volume.get("persistentVolumeClaim").is_some() {
        return driver_of_claim(request, text(volume, &["persistentVolumeClaim", "claimName"]));
    }
    if volume.get("csi").is_some() {
        return Ok(Ok(text(volume, &["csi", "driver"]).to_owned()));
    }
    Ok(migrated(volume))
}

// Upstream: plugin/pkg/admission/noderestriction/admission.go, getCSIFromPVC
fn driver_of_claim(request: &NodeRequest<'_>, claim: &str) -> Result<Result<String, DriverError>, Rejection> {
    let state = request.context.state;
    let namespace = &request.attributes.request.namespace;
    let Some(stored) = state.find(StateKind::PERSISTENT_VOLUME_CLAIM, namespace, claim)? else {
        return Ok(Err(DriverError::NotFound(
            "",
            "persistentvolumeclaim",
            claim.to_owned(),
        )));
    };
    let volume = text(stored, &["spec", "volumeName"]);
    let Some(stored) = state.find(StateKind::PERSISTENT_VOLUME, "", volume)? else {
        return Ok(Err(DriverError::NotFound(
            "",
            "persistentvolume",
            volume.to_owned(),
        )));
    };
    let Some(spec) = stored.get("spec") else {
        return Ok(Ok(String::new()));
    };
    if spec.get("csi").is_some() {
        return Ok(Ok(text(spec, &["csi", "driver"]).to_owned()));
    }
    let has_namespace =
        spec.at(&["azureFile", "secretNamespace"]).is_some() || spec.get("claimRef").is_some();
    match spec.get("azureFile") {
        Some(_) if !has_namespace => Ok(Err(DriverError::NoSecretNamespace)),
        _ => Ok(migrated(spec)),
    }
}

/// The CSI driver that took over a volume of an older type; empty for other volumes.
fn migrated(volume: &Value<'_>) -> Result<String, DriverError> {
    match text(volume, &["azureDisk", "kind"]) {
        "" | "Managed" => {}
        kind => return Err(DriverError::UnsupportedKind(kind.to_owned())),
    }
    let driver = MIGRATED.iter().find(|(source, _)| volume.get(source).is_some());
    Ok(driver.map_or_else(String::new, |(_, driver)| (*driver).to_owned()))
}
