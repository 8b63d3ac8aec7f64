//! `apps`.

use pratique_json::{Object, Value};

use super::core::{label, template_labels};
use super::field::{absent, empty, is_absent, is_empty, part, pointer, text};
use super::{Context, Function};
use crate::release::gate;

pub(super) fn function(version: &str, name: &str) -> Option<Function> {
    Some(match (version, name) {
        ("v1beta1", "Deployment") => |object, _| {
            selector_from_template(object);
            deployment(object, 2);
        },
        ("v1beta1", "StatefulSet") => stateful_set_v1beta1,
        (_, "Deployment") => |object, _| deployment(object, 10),
        (_, "DaemonSet") => |object, _| daemon_set(object, "RollingUpdate"),
        (_, "StatefulSet") => stateful_set,
        (_, "ReplicaSet") => |object, _| {
            if let Some(spec) = part(object, "spec") {
                absent(spec, "replicas", 1);
            }
        },
        _ => return None,
    })
}

/// Selects the labels of the template, and gives them to the object itself.
pub(super) fn selector_from_template(object: &mut Object<'_>) {
    let Some(labels) = template_labels(object) else {
        return;
    };
    if let Some(spec) = part(object, "spec") {
        let mut selector = Object::new();
        if !labels.is_empty() {
            selector.insert("matchLabels", labels.clone());
        }
        absent(spec, "selector", selector);
    }
    label(object, labels);
}

fn deployment(object: &mut Object<'_>, history: i64) {
    let Some(spec) = part(object, "spec") else { return };
    absent(spec, "replicas", 1);
    if let Some(strategy) = part(spec, "strategy") {
        empty(strategy, "type", "RollingUpdate");
        rolling_update(strategy, "25%".into(), "25%".into());
    }
    absent(spec, "revisionHistoryLimit", history);
    absent(spec, "progressDeadlineSeconds", 600);
}

/// What a rolling update may do, if it is one.
pub(super) fn rolling_update<'a>(strategy: &mut Object<'a>, unavailable: Value<'a>, surge: Value<'a>) {
    if text(strategy, "type") != "RollingUpdate" {
        return;
    }
    if let Some(update) = part(strategy, "rollingUpdate") {
        absent(update, "maxUnavailable", unavailable);
        absent(update, "maxSurge", surge);
    }
}

pub(super) fn daemon_set(object: &mut Object<'_>, strategy: &'static str) {
    let Some(spec) = part(object, "spec") else { return };
    if let Some(update) = part(spec, "updateStrategy") {
        empty(update, "type", strategy);
        rolling_update(update, Value::Int(1), Value::Int(0));
    }
    absent(spec, "revisionHistoryLimit", 10);
}

fn stateful_set(object: &mut Object<'_>, _: &Context<'_>) {
    let Some(spec) = part(object, "spec") else { return };
    empty(spec, "podManagementPolicy", "OrderedReady");
    if let Some(update) = part(spec, "updateStrategy")
        && is_empty(update, "type")
    {
        update.insert("type", "RollingUpdate");
        absent(update, "rollingUpdate", Object::new());
    }
    partition(spec);
    stateful_set_rest(spec);
}

fn stateful_set_v1beta1(object: &mut Object<'_>, _: &Context<'_>) {
    if let Some(spec) = part(object, "spec") {
        empty(spec, "podManagementPolicy", "OrderedReady");
        if let Some(update) = part(spec, "updateStrategy") {
            empty(update, "type", "OnDelete");
        }
    }
    selector_from_template(object);
    if let Some(spec) = part(object, "spec") {
        stateful_set_rest(spec);
        partition(spec);
    }
}

/// From which Pod on a rolling update begins.
fn partition(spec: &mut Object<'_>) {
    let Some(update) = pointer(spec, "updateStrategy") else {
        return;
    };
    if text(update, "type") != "RollingUpdate" || is_absent(update, "rollingUpdate") {
        return;
    }
    if let Some(rolling) = pointer(update, "rollingUpdate") {
        absent(rolling, "partition", 0);
        if gate("MaxUnavailableStatefulSet") {
            absent(rolling, "maxUnavailable", 1);
        }
    }
}

fn stateful_set_rest(spec: &mut Object<'_>) {
    if let Some(policy) = part(spec, "persistentVolumeClaimRetentionPolicy") {
        empty(policy, "whenDeleted", "Retain");
        empty(policy, "whenScaled", "Retain");
    }
    absent(spec, "replicas", 1);
    absent(spec, "revisionHistoryLimit", 10);
}
