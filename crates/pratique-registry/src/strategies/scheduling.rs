//! `scheduling.k8s.io`.
// Upstream: pkg/registry/scheduling/*/strategy.go

use pratique_json::Value;

use crate::object::{self, Path};
use crate::strategy::{Context, Endpoint, Strategy};

const GROUP: &str = "scheduling.k8s.io";

pub(super) const STRATEGIES: &[Strategy] = &[
    Strategy::new(GROUP, "PodGroup")
        .status(Endpoint::STATUS_ONLY.and(update_status))
        .prepare(
            |_, object| drop_disabled(object, &["spec"], None),
            |_, object, old| drop_disabled(object, &["spec"], old.get("spec")),
        ),
    Strategy::new(GROUP, "PriorityClass").generation(&[]),
    Strategy::new(GROUP, "Workload").prepare(
        |_, object| drop_of_templates(object, None),
        |_, object, old| drop_of_templates(object, Some(old)),
    ),
];

/// Fields behind gates that are off.
const DISABLED: [&str; 5] = [
    "schedulingConstraints",
    "resourceClaims",
    "disruptionMode",
    "priorityClassName",
    "priority",
];

/// Drops fields behind gates that are off, unless the old object uses them.
fn drop_disabled(object: &mut Value<'static>, path: Path<'_>, old: Option<&Value<'static>>) {
    let Some(of) = object::at_mut(object, path) else {
        return;
    };
    for field in DISABLED {
        let in_use = old
            .and_then(|old| old.get(field))
            .is_some_and(|value| !value.is_empty());
        if !in_use {
            object::remove(of, &[field]);
        }
    }
}

fn drop_of_templates(object: &mut Value<'static>, old: Option<&Value<'static>>) {
    let templates: Path<'_> = &["spec", "podGroupTemplates"];
    let before = old.map(|old| object::list(old, templates)).unwrap_or_default();
    for (at, template) in object::list_mut(object, templates).iter_mut().enumerate() {
        drop_disabled(template, &[], before.get(at));
    }
}

fn update_status(_: &mut Context<'_>, object: &mut Value<'static>, old: &Value<'static>) {
    if object::list(old, &["spec", "resourceClaims"]).is_empty() {
        object::remove(object, &["status", "resourceClaimStatuses"]);
    }
}
