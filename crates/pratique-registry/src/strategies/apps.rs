//! `apps`.
// Upstream: pkg/registry/apps/*/strategy.go

use pratique_json::Value;

use crate::edited_object::EditedObject;
use crate::gated_fields::GatedFields;
use crate::object::{self, FieldPath};
use crate::strategy::{GatedField, PartEndpoint, ResourceStrategy, StrategyContext};

const TEMPLATE: FieldPath<'static> = &["spec", "template"];
const POD: &[GatedField] = &[GatedField::Pod(TEMPLATE)];
// Upstream: pkg/registry/apps/statefulset/strategy.go, dropStatefulSetDisabledFields
const MAX_UNAVAILABLE: GatedFields = GatedFields::graduated(
    "MaxUnavailableStatefulSet",
    &[&["spec", "updateStrategy", "rollingUpdate", "maxUnavailable"]],
);

pub(super) const STRATEGIES: &[ResourceStrategy] = &[
    ResourceStrategy::new("apps", "ControllerRevision"),
    ResourceStrategy::new("apps", "DaemonSet")
        .generation(&[&["spec"]])
        .status(PartEndpoint::STATUS)
        .gated(POD)
        .prepare(create_daemon_set, update_daemon_set),
    ResourceStrategy::new("apps", "Deployment")
        .generation(&[&["spec"], &["metadata", "annotations"]])
        .status(PartEndpoint {
            reset: &[&["spec"], &["metadata", "labels"]],
            kept: &[&["spec"], &["metadata", "labels"]],
            update: drop_terminating_replicas,
        })
        .gated(POD),
    ResourceStrategy::new("apps", "ReplicaSet")
        .generation(&[&["spec"]])
        .status(PartEndpoint::STATUS.and(drop_terminating_replicas))
        .gated(POD),
    ResourceStrategy::new("apps", "StatefulSet")
        .generation(&[&["spec"]])
        .status(PartEndpoint::STATUS)
        .gated(&[GatedField::Pod(TEMPLATE), GatedField::Feature(MAX_UNAVAILABLE)]),
];

// Upstream: pkg/registry/apps/deployment/strategy.go, dropDisabledStatusFields; pkg/registry/apps/replicaset/strategy.go
fn drop_terminating_replicas<'v>(
    context: &mut StrategyContext<'_>,
    object: &mut EditedObject<'v>,
    old: &Value<'v>,
) {
    const FEATURE: GatedFields = GatedFields::graduated(
        "DeploymentReplicaSetTerminatingReplicas",
        &[&["status", "terminatingReplicas"]],
    );
    context.dropper.drop_unused((object, &[]), Some(old), FEATURE);
}

/// Where `apps/v1` keeps the number that its type has no field for.
const TEMPLATE_GENERATION: FieldPath<'static> = &[
    "metadata",
    "annotations",
    "deprecated.daemonset.template.generation",
];

fn create_daemon_set(_: &mut StrategyContext<'_>, object: &mut EditedObject<'_>) {
    if template_generation(object) < 1 {
        object::set(object, TEMPLATE_GENERATION, "1");
    }
}

fn update_daemon_set<'v>(_: &mut StrategyContext<'_>, object: &mut EditedObject<'v>, old: &Value<'v>) {
    let old_generation = template_generation(old);
    let generation = if object::same(object, old, TEMPLATE) {
        old_generation
    } else {
        old_generation.saturating_add(1)
    };
    object::set(object, TEMPLATE_GENERATION, generation.to_string());
}

fn template_generation(object: &Value<'_>) -> i64 {
    object::text(object, TEMPLATE_GENERATION)
        .parse()
        .unwrap_or_default()
}
