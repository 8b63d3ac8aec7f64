//! The core group.
// Upstream: pkg/registry/core/*/strategy.go

use pratique_json::{Object, Value};

use super::{persistent_volume_claims, pods, services};
use crate::edited_object::EditedObject;
use crate::object::{self, FieldPath};
use crate::strategy::{GatedField, PartEndpoint, ResourceStrategy, StatusHandling, StrategyContext};

pub(super) const STRATEGIES: &[ResourceStrategy] = &[
    ResourceStrategy::new("", "ConfigMap"),
    ResourceStrategy::new("", "Endpoints").creates_on_update(),
    ResourceStrategy::new("", "Event").creates_on_update(),
    ResourceStrategy::new("", "LimitRange")
        .creates_on_update()
        .prepare(name_limit_range, |_, _, _| {}),
    ResourceStrategy {
        canonicalize: |object| {
            let name = object::text(object, &["metadata", "name"]).to_owned();
            object::set(
                object,
                &["metadata", "labels", "kubernetes.io/metadata.name"],
                name,
            );
        },
        endpoints: &[("finalize", FINALIZE)],
        ..ResourceStrategy::new("", "Namespace")
            .status(PartEndpoint::STATUS)
            .prepare(create_namespace, |_, object, old| {
                object::copy(object, old, &["spec", "finalizers"]);
            })
    },
    ResourceStrategy {
        status: StatusHandling::ResetOnUpdate,
        ..ResourceStrategy::new("", "Node")
            .status(PartEndpoint::STATUS.and(update_node_status))
            .gated(&[
                // A gate of the past: no server has the feature.
                GatedField::Field("DynamicKubeletConfig", &["spec", "configSource"]),
                GatedField::Field(
                    "InPlacePodVerticalScalingSchedulerPreemption",
                    &["spec", "podPreemptionPolicy"],
                ),
                GatedField::Field("DynamicKubeletConfig", &["status", "config"]),
                GatedField::Field("NodeDeclaredFeatures", &["status", "declaredFeatures"]),
            ])
    },
    ResourceStrategy::new("", "PersistentVolume")
        .status(PartEndpoint::STATUS.and(update_volume_status))
        .prepare(create_volume, |_, _, _| {}),
    persistent_volume_claims::STRATEGY,
    pods::STRATEGY,
    ResourceStrategy::new("", "PodTemplate")
        .generation(&[&["template"]])
        .gated(&[GatedField::Pod(&["template"])]),
    ResourceStrategy::new("", "ReplicationController")
        .generation(&[&["spec"]])
        .status(PartEndpoint::STATUS)
        .gated(&[GatedField::Pod(&["spec", "template"])]),
    ResourceStrategy::new("", "ResourceQuota").status(PartEndpoint::STATUS),
    ResourceStrategy::new("", "Secret").prepare(
        |_, _| {},
        |_, object, old| {
            if object::text(object, &["type"]).is_empty() {
                object::copy(object, old, &["type"]);
            }
        },
    ),
    services::STRATEGY,
    ResourceStrategy::new("", "ServiceAccount").prepare(
        |_, object| clean_secret_references(object),
        |_, object, _| clean_secret_references(object),
    ),
];

const FINALIZE: PartEndpoint = PartEndpoint {
    reset: &[&["status"]],
    kept: &[&["status"]],
    ..PartEndpoint::STATUS
};

fn name_limit_range(context: &mut StrategyContext<'_>, object: &mut EditedObject<'_>) {
    if object::text(object, &["metadata", "name"]).is_empty() {
        object::set(object, &["metadata", "name"], context.placeholders.uid.clone());
    }
}

fn create_namespace(_: &mut StrategyContext<'_>, object: &mut EditedObject<'_>) {
    object::set(object, &["status", "phase"], "Active");
    let path: FieldPath<'_> = &["spec", "finalizers"];
    let mut finalizers = object::list(object, path).to_vec();
    if !finalizers.iter().any(|name| name.as_str() == Some("kubernetes")) {
        finalizers.push("kubernetes".into());
        object::set(object, path, finalizers);
    }
}

fn update_node_status<'v>(_: &mut StrategyContext<'_>, object: &mut EditedObject<'v>, old: &Value<'v>) {
    if !object::has(old, &["status", "config"]) {
        object::remove(object, &["status", "config"]);
    }
}

const LAST_TRANSITION: FieldPath<'static> = &["status", "lastPhaseTransitionTime"];

fn create_volume(context: &mut StrategyContext<'_>, object: &mut EditedObject<'_>) {
    object::set(object, &["status", "phase"], "Pending");
    object::set(object, LAST_TRANSITION, context.placeholders.time.clone());
}

fn update_volume_status<'v>(
    context: &mut StrategyContext<'_>,
    object: &mut EditedObject<'v>,
    old: &Value<'v>,
) {
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
fn clean_secret_references(object: &mut EditedObject<'_>) {
    for secret in object::list_mut(object, &["secrets"]) {
        let mut cleaned = Object::new();
        let name = object::text(secret, &["name"]);
        if !name.is_empty() {
            cleaned.insert("name", name.to_owned());
        }
        *secret = cleaned.into();
    }
}
