//! The secrets and config maps that a pod refers to.

use pratique_json::Value;

use crate::object::{elements, name, text};
use crate::pods::{CONTAINER_LISTS, containers};

/// Whether a pod refers to a secret by a name.
// Upstream: pkg/api/pod/util.go, VisitPodSecretNames
pub(crate) fn references_secrets(pod: &Value<'_>) -> bool {
    let named = |value: &Value<'_>, path: &[&str]| !text(value, path).is_empty();
    let mut pulls = elements(pod, &["spec", "imagePullSecrets"]).iter();
    pulls.any(|reference| named(reference, &["name"]))
        || references_in_env(pod, "secretRef", "secretKeyRef")
        || elements(pod, &["spec", "volumes"])
            .iter()
            .any(volume_references_secret)
}

/// Whether a pod refers to a config map by a name.
// Upstream: pkg/api/pod/util.go, VisitPodConfigmapNames
pub(crate) fn references_config_maps(pod: &Value<'_>) -> bool {
    references_in_env(pod, "configMapRef", "configMapKeyRef")
        || elements(pod, &["spec", "volumes"]).iter().any(|volume| {
            let mut sources = elements(volume, &["projected", "sources"]).iter();
            match volume.get("projected") {
                Some(_) => sources.any(|source| !text(source, &["configMap", "name"]).is_empty()),
                None => !text(volume, &["configMap", "name"]).is_empty(),
            }
        })
}

/// The sources of volumes that may have a secret, in the order in which the first counts, with the path of its name.
const SECRETS_OF_VOLUMES: [(&str, &[&str]); 11] = [
    ("azureFile", &["secretName"]),
    ("cephfs", &["secretRef", "name"]),
    ("cinder", &["secretRef", "name"]),
    ("flexVolume", &["secretRef", "name"]),
    ("projected", &[]),
    ("rbd", &["secretRef", "name"]),
    ("secret", &["secretName"]),
    ("scaleIO", &["secretRef", "name"]),
    ("iscsi", &["secretRef", "name"]),
    ("storageos", &["secretRef", "name"]),
    ("csi", &["nodePublishSecretRef", "name"]),
];

fn volume_references_secret(volume: &Value<'_>) -> bool {
    let mut sources = SECRETS_OF_VOLUMES.iter();
    let volume_source =
        sources.find_map(|(source, path)| volume.get(source).map(|value| (*source, value, *path)));
    match volume_source {
        None => false,
        Some(("projected", source, _)) => {
            let mut sources = elements(source, &["sources"]).iter();
            sources.any(|source| !text(source, &["secret", "name"]).is_empty())
        }
        Some((_, source, path)) => !text(source, path).is_empty(),
    }
}

fn references_in_env(pod: &Value<'_>, of_all: &str, of_key: &str) -> bool {
    let mut containers = CONTAINER_LISTS.into_iter().flat_map(|list| containers(pod, list));
    containers.any(|container| {
        let mut all = elements(container, &["envFrom"]).iter();
        let mut keys = elements(container, &["env"]).iter();
        all.any(|source| !text(source, &[of_all, "name"]).is_empty())
            || keys.any(|env| !text(env, &["valueFrom", of_key, "name"]).is_empty())
    })
}

/// A secret that a pod refers to and its service account does not.
#[derive(Debug, thiserror::Error)]
pub(super) enum SecretError {
    #[error("{reference} is not allowed because service account {account} does not reference that secret")]
    Secret {
        /// The part of the pod, and how it refers to the secret.
        reference: String,
        account: String,
    },
    #[error(
        "imagePullSecrets[{index}].name=\"{secret}\" is not allowed because service account {account} does not \
         reference that imagePullSecret"
    )]
    ImagePullSecret {
        index: usize,
        secret: String,
        account: String,
    },
}

/// Checks that a pod uses only secrets that its account lists.
// Upstream: plugin/pkg/admission/serviceaccount/admission.go, limitSecretReferences
pub(super) fn check_secrets(account: &Value<'_>, pod: &Value<'_>) -> Result<(), SecretError> {
    for volume in elements(pod, &["spec", "volumes"]) {
        if let Some(source) = volume.get("secret") {
            let secret = text(source, &["secretName"]);
            check_secret(account, secret, || {
                format!("volume with secret.secretName=\"{secret}\"")
            })?;
        }
    }
    check_containers(account, pod, "initContainers", "init container")?;
    check_containers(account, pod, "containers", "container")?;
    let references = elements(pod, &["spec", "imagePullSecrets"]).iter();
    for (index, reference) in references.enumerate() {
        let secret = text(reference, &["name"]);
        if !is_listed(account, "imagePullSecrets", secret) {
            return Err(SecretError::ImagePullSecret {
                index,
                secret: secret.to_owned(),
                account: name(account).to_owned(),
            });
        }
    }
    Ok(())
}

/// Checks that ephemeral containers use only secrets that the account lists.
// Upstream: plugin/pkg/admission/serviceaccount/admission.go, limitEphemeralContainerSecretReferences
pub(super) fn check_ephemeral(account: &Value<'_>, pod: &Value<'_>) -> Result<(), SecretError> {
    check_containers(account, pod, "ephemeralContainers", "ephemeral container")
}

fn check_containers(
    account: &Value<'_>,
    pod: &Value<'_>,
    list: &str,
    label: &str,
) -> Result<(), SecretError> {
    for container in containers(pod, list) {
        let container_name = text(container, &["name"]);
        for env in elements(container, &["env"]) {
            if let Some(reference) = env.at(&["valueFrom", "secretKeyRef"]) {
                let (env, secret) = (text(env, &["name"]), text(reference, &["name"]));
                check_secret(account, secret, || {
                    format!(
                        "{label} {container_name} with envVar {env} referencing secret.secretName=\"{secret}\""
                    )
                })?;
            }
        }
        for source in elements(container, &["envFrom"]) {
            if let Some(reference) = source.get("secretRef") {
                let secret = text(reference, &["name"]);
                check_secret(account, secret, || {
                    format!(
                        "{label} {container_name} with envFrom referencing secret.secretName=\"{secret}\""
                    )
                })?;
            }
        }
    }
    Ok(())
}

/// Checks that an account lists a secret; `reference` describes how the pod refers to it.
fn check_secret(
    account: &Value<'_>,
    secret: &str,
    reference: impl FnOnce() -> String,
) -> Result<(), SecretError> {
    if is_listed(account, "secrets", secret) {
        Ok(())
    } else {
        Err(SecretError::Secret {
            reference: reference(),
            account: name(account).to_owned(),
        })
    }
}

fn is_listed(account: &Value<'_>, list: &str, secret: &str) -> bool {
    elements(account, &[list])
        .iter()
        .any(|listed| text(listed, &["name"]) == secret)
}
