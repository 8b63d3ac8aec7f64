//! `apps`.
// Upstream: pkg/registry/apps/*/strategy.go

use pratique_json::Value;

use crate::gated_fields::GatedFields;
use crate::object::{self, Path};
use crate::strategy::{Context, Endpoint, Gated, Strategy};

const TEMPLATE: Path<'static> = &["spec", "template"];
const POD: &[Gated] = &[Gated::Pod(TEMPLATE)];
// Upstream: pkg/registry/apps/statefulset/strategy.go, dropStatefulSetDisabledFields
const MAX_UNAVAILABLE: GatedFields = GatedFields::graduated(
    "MaxUnavailableStatefulSet",
    &[&["spec", "updateStrategy", "rollingUpdate", "maxUnavailable"]],
);

pub(super) const STRATEGIES: &[Strategy] = &[
    Strategy::new("apps", "ControllerRevision"),
    Strategy::new("apps", "DaemonSet")
        .generation(&[&["spec"]])
        .status(Endpoint::STATUS)
        .gated(POD)
        .prepare(create_daemon_set, update_daemon_set),
    Strategy::new("apps", "Deployment")
        .generation(&[&["spec"], &["metadata", "annotations"]])
        .status(Endpoint {
            reset: &[&["spec"], &["metadata", "labels"]],
            kept: &[&["spec"], &["metadata", "labels"]],
            update: drop_terminating_replicas,
        })
        .gated(POD),
    Strategy::new("apps", "ReplicaSet")
        .generation(&[&["spec"]])
        .status(Endpoint::STATUS.and(drop_terminating_replicas))
        .gated(POD),
    Strategy::new("apps", "StatefulSet")
        .generation(&[&["spec"]])
        .status(Endpoint::STATUS)
        .gated(&[Gated::Pod(TEMPLATE), Gated::Feature(MAX_UNAVAILABLE)]),
];

// Upstream: pkg/registry/apps/deployment/strategy.go, dropDisabledStatusFields; pkg/registry/apps/replicaset/strategy.go
fn drop_terminating_replicas<'v>(context: &mut Context<'_>, object: &mut Value<'v>, old: &Value<'v>) {
    const FEATURE: GatedFields = GatedFields::graduated(
        "DeploymentReplicaSetTerminatingReplicas",
        &[&["status", "terminatingReplicas"]],
    );
    context.dropper.drop_unused((object, &[]), Some(old), FEATURE);
}

/// Where `apps/v1` keeps the number that its type has no field for.
const TEMPLATE_GENERATION: Path<'static> = &[
    "metadata",
    "annotations",
    "deprecated.daemonset.template.generation",
];

fn create_daemon_set(_: &mut Context<'_>, object: &mut Value<'_>) {
    if template_generation(object) < 1 {
        object::set(object, TEMPLATE_GENERATION, "1");
    }
}

fn update_daemon_set<'v>(_: &mut Context<'_>, object: &mut Value<'v>, old: &Value<'v>) {
    let before = template_generation(old);
    let generation = if object::same(object, old, TEMPLATE) {
        before
    } else {
        before.saturating_add(1)
    };
    object::set(object, TEMPLATE_GENERATION, generation.to_string());
}

fn template_generation(object: &Value<'_>) -> i64 {
    object::text(object, TEMPLATE_GENERATION)
        .parse()
        .unwrap_or_default()
}
