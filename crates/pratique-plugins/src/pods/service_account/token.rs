//! The volume with the token of a service account.

use std::borrow::Cow;
use std::sync::LazyLock;

use pratique_json::Value;
use pratique_plugin::MutableAttributes;

use crate::object::{descend_mut, elements, object, push, text};

/// Where containers find the token.
const MOUNT_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// The prefix of the volume's name.
const VOLUME_PREFIX: &str = "kube-api-access-";

/// The lifetime of tokens: an hour, and seven seconds by which the server recognises tokens that it requested itself.
const EXPIRATION_SECONDS: i64 = 3607;

/// Mounts the token in all containers that mount nothing else at its place, from a volume that is there or made for it.
// Upstream: plugin/pkg/admission/serviceaccount/admission.go, mountServiceAccountToken
pub(super) fn mount(attributes: &mut MutableAttributes<'_, '_>, suffix: &str) {
    let Some(spec) = attributes.object().get("spec") else {
        return;
    };
    let mut all = LISTS.iter().flat_map(|list| elements(spec, &[list]));
    if !all.any(lacks_mount) {
        return;
    }
    let volumes = elements(spec, &["volumes"]).iter();
    let existing = volumes
        .map(|volume| text(volume, &["name"]))
        .find(|name| name.starts_with(VOLUME_PREFIX))
        .map(str::to_owned);
    let has_volume = existing.is_some();
    let volume = existing.unwrap_or_else(|| [VOLUME_PREFIX, suffix].concat());
    let Some(spec) = descend_mut(attributes.object_mut(), &["spec"]) else {
        return;
    };
    for list in LISTS {
        if let Some(Value::Array(containers)) = spec.get_mut(list) {
            for container in containers.iter_mut().filter(|container| lacks_mount(container)) {
                mount_in(container, &volume);
            }
        }
    }
    if !has_volume {
        let volume = object([
            ("name", Value::String(Cow::Owned(volume))),
            ("projected", TOKEN_SOURCE.clone()),
        ]);
        push(spec, "volumes", volume);
    }
}

/// The lists of the containers that get the token.
const LISTS: [&str; 2] = ["initContainers", "containers"];

/// Whether a container mounts nothing at the place of the token.
fn lacks_mount(container: &Value<'_>) -> bool {
    let mut mounts = elements(container, &["volumeMounts"]).iter();
    !mounts.any(|mount| text(mount, &["mountPath"]) == MOUNT_PATH)
}

fn mount_in(container: &mut Value<'_>, volume: &str) {
    if let Value::Object(container) = container {
        let mount = object([
            ("mountPath", MOUNT_PATH.into()),
            ("name", Value::String(Cow::Owned(volume.to_owned()))),
            ("readOnly", true.into()),
        ]);
        push(container, "volumeMounts", mount);
    }
}

/// The source of the volume, which is the same for all pods.
static TOKEN_SOURCE: LazyLock<Value<'static>> = LazyLock::new(token_source);

// Upstream: plugin/pkg/admission/serviceaccount/admission.go, TokenVolumeSource
fn token_source() -> Value<'static> {
    let token = object([
        ("expirationSeconds", EXPIRATION_SECONDS.into()),
        ("path", "token".into()),
    ]);
    let certificate = object([("key", "ca.crt".into()), ("path", "ca.crt".into())]);
    let certificates = object([
        ("items", vec![certificate].into()),
        ("name", "kube-root-ca.crt".into()),
    ]);
    let field = object([
        ("apiVersion", "v1".into()),
        ("fieldPath", "metadata.namespace".into()),
    ]);
    let namespace = object([("fieldRef", field), ("path", "namespace".into())]);
    let fields = object([("items", vec![namespace].into())]);
    object([
        ("defaultMode", 0o644.into()),
        (
            "sources",
            vec![
                object([("serviceAccountToken", token)]),
                object([("configMap", certificates)]),
                object([("downwardAPI", fields)]),
            ]
            .into(),
        ),
    ])
}
