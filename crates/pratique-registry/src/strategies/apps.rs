//! `apps`.
// Upstream: pkg/registry/apps/*/strategy.go

use pratique_json::Value;

use super::pod_spec;
use crate::object::{self, Path};
use crate::strategy::{Context, Endpoint, Strategy};

const TEMPLATE: Path<'static> = &["spec", "template"];

pub(super) const STRATEGIES: &[Strategy] = &[
    Strategy::new("apps", "ControllerRevision"),
    Strategy::new("apps", "DaemonSet")
        .generation(&[&["spec"]])
        .status(Endpoint::STATUS)
        .prepare(create_daemon_set, update_daemon_set),
    Strategy::new("apps", "Deployment")
        .generation(&[&["spec"], &["metadata", "annotations"]])
        .status(Endpoint {
            reset: &[&["spec"], &["metadata", "labels"]],
            kept: &[&["spec"], &["metadata", "labels"]],
            ..Endpoint::STATUS
        })
        .prepare(create, update),
    Strategy::new("apps", "ReplicaSet")
        .generation(&[&["spec"]])
        .status(Endpoint::STATUS)
        .prepare(create, update),
    Strategy::new("apps", "StatefulSet")
        .generation(&[&["spec"]])
        .status(Endpoint::STATUS)
        .prepare(create_stateful_set, update_stateful_set),
];

fn create(_: &mut Context<'_>, object: &mut Value<'static>) {
    pod_spec::drop_disabled(object, None, TEMPLATE);
}

fn update(_: &mut Context<'_>, object: &mut Value<'static>, old: &Value<'static>) {
    pod_spec::drop_disabled(object, Some(old), TEMPLATE);
}

/// Where `apps/v1` keeps the number that its type has no field for.
const TEMPLATE_GENERATION: Path<'static> = &[
    "metadata",
    "annotations",
    "deprecated.daemonset.template.generation",
];

fn create_daemon_set(context: &mut Context<'_>, object: &mut Value<'static>) {
    if template_generation(object) < 1 {
        object::set(object, TEMPLATE_GENERATION, "1");
    }
    create(context, object);
}

fn update_daemon_set(context: &mut Context<'_>, object: &mut Value<'static>, old: &Value<'static>) {
    update(context, object, old);
    let before = template_generation(old);
    let generation = match object::same(object, old, TEMPLATE) {
        true => before,
        false => before.saturating_add(1),
    };
    object::set(object, TEMPLATE_GENERATION, generation.to_string());
}

fn template_generation(object: &Value<'_>) -> i64 {
    object::text(object, TEMPLATE_GENERATION)
        .parse()
        .unwrap_or_default()
}

const MAX_UNAVAILABLE: Path<'static> = &["spec", "updateStrategy", "rollingUpdate", "maxUnavailable"];

fn create_stateful_set(context: &mut Context<'_>, object: &mut Value<'static>) {
    object::remove(object, MAX_UNAVAILABLE);
    create(context, object);
}

fn update_stateful_set(context: &mut Context<'_>, object: &mut Value<'static>, old: &Value<'static>) {
    if !object::has(old, MAX_UNAVAILABLE) {
        object::remove(object, MAX_UNAVAILABLE);
    }
    update(context, object, old);
}
