//! The core group.
// Upstream: pkg/registry/core/*/strategy.go

use pratique_json::{Object, Value};

use super::{persistent_volume_claims, pods, services};
use crate::object::{self, Path};
use crate::strategy::{Context, Endpoint, Gated, Status, Strategy};

pub(super) const STRATEGIES: &[Strategy] = &[
    Strategy::new("", "ConfigMap"),
    Strategy::new("", "Endpoints").creates_on_update(),
    Strategy::new("", "Event").creates_on_update(),
    Strategy::new("", "LimitRange")
        .creates_on_update()
        .prepare(name_limit_range, |_, _, _| {}),
    Strategy {
        canonicalize: |object| {
            let name = object::text(object, &["metadata", "name"]).to_owned();
            object::set(
                object,
                &["metadata", "labels", "kubernetes.io/metadata.name"],
                name,
            );
        },
        endpoints: &[("finalize", FINALIZE)],
        ..Strategy::new("", "Namespace").status(Endpoint::STATUS).prepare(
            create_namespace,
            |_, object, old| {
                object::copy(object, old, &["spec", "finalizers"]);
            },
        )
    },
    Strategy {
        status: Status::ResetOnUpdate,
        ..Strategy::new("", "Node")
            .status(Endpoint::STATUS.and(update_node_status))
            .gated(&[
                // A gate of the past: no server has the feature.
                Gated::Field("DynamicKubeletConfig", &["spec", "configSource"]),
                Gated::Field(
                    "InPlacePodVerticalScalingSchedulerPreemption",
                    &["spec", "podPreemptionPolicy"],
                ),
                Gated::Field("DynamicKubeletConfig", &["status", "config"]),
                Gated::Field("NodeDeclaredFeatures", &["status", "declaredFeatures"]),
            ])
    },
    Strategy::new("", "PersistentVolume")
        .status(Endpoint::STATUS.and(update_volume_status))
        .prepare(create_volume, |_, _, _| {}),
    persistent_volume_claims::STRATEGY,
    pods::STRATEGY,
    Strategy::new("", "PodTemplate")
        .generation(&[&["template"]])
        .gated(&[Gated::Pod(&["template"])]),
    Strategy::new("", "ReplicationController")
        .generation(&[&["spec"]])
        .status(Endpoint::STATUS)
        .gated(&[Gated::Pod(&["spec", "template"])]),
    Strategy::new("", "ResourceQuota").status(Endpoint::STATUS),
    Strategy::new("", "Secret").prepare(
        |_, _| {},
        |_, object, old| {
            if object::text(object, &["type"]).is_empty() {
                object::copy(object, old, &["type"]);
            }
        },
    ),
    services::STRATEGY,
    Strategy::new("", "ServiceAccount").prepare(
        |_, object| clean_secret_references(object),
        |_, object, _| clean_secret_references(object),
    ),
];

const FINALIZE: Endpoint = Endpoint {
    reset: &[&["status"]],
    kept: &[&["status"]],
    ..Endpoint::STATUS
};

fn name_limit_range(context: &mut Context<'_>, object: &mut Value<'_>) {
    if object::text(object, &["metadata", "name"]).is_empty() {
        object::set(object, &["metadata", "name"], context.placeholders.uid.clone());
    }
}

fn create_namespace(_: &mut Context<'_>, object: &mut Value<'_>) {
    object::set(object, &["status", "phase"], "Active");
    let path: Path<'_> = &["spec", "finalizers"];
    let mut finalizers = object::list(object, path).to_vec();
    if !finalizers.iter().any(|name| name.as_str() == Some("kubernetes")) {
        finalizers.push("kubernetes".into());
        object::set(object, path, finalizers);
    }
}

fn update_node_status<'v>(_: &mut Context<'_>, object: &mut Value<'v>, old: &Value<'v>) {
    if !object::has(old, &["status", "config"]) {
        object::remove(object, &["status", "config"]);
    }
}

const LAST_TRANSITION: Path<'static> = &["status", "lastPhaseTransitionTime"];

fn create_volume(context: &mut Context<'_>, object: &mut Value<'_>) {
    object::set(object, &["status", "phase"], "Pending");
    object::set(object, LAST_TRANSITION, context.placeholders.time.clone());
}

fn update_volume_status<'v>(context: &mut Context<'_>, object: &mut Value<'v>, old: &Value<'v>) {
    let is_set = object::has(object, LAST_TRANSITION);
    if object::same(object, old, &["status", "phase"]) {
        if !is_set {
            object::copy(object, old, LAST_TRANSITION);
        }
    } else if !is_set || object::same(object, old, LAST_TRANSITION) {
        object::set(object, LAST_TRANSITION, context.placeholders.time.clone());
    }
}

/// Of references to secrets only their names are kept.
fn clean_secret_references(object: &mut Value<'_>) {
    for secret in object::list_mut(object, &["secrets"]) {
        let mut cleaned = Object::new();
        let name = object::text(secret, &["name"]);
        if !name.is_empty() {
            cleaned.insert("name", name.to_owned());
        }
        *secret = cleaned.into();
    }
}
