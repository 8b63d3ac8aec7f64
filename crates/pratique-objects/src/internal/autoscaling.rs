//! `autoscaling`: the internal version has in fields what `v1` has in annotations.

use pratique_json::{Object, Progress, Value};
use pratique_typed::{converted, settle_in};
use pratique_types::GroupVersionKind;

use super::core::drop_annotations;
use crate::defaults::{DefaultContext, DefaultFunction};

const ANNOTATIONS: [&str; 6] = [
    "autoscaling.alpha.kubernetes.io/behavior",
    "autoscaling.alpha.kubernetes.io/conditions",
    "autoscaling.alpha.kubernetes.io/current-metrics",
    "autoscaling.alpha.kubernetes.io/metrics",
    "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
    "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
];

pub(super) fn function(version: &str) -> Option<DefaultFunction> {
    Some(match version {
        "v1" => v1,
        _ => |object, _| drop_annotations(object, &ANNOTATIONS),
    })
}

/// By way of `v2`, which has the fields of the internal version.
fn v1(object: &mut Object<'_>, context: &DefaultContext<'_>) {
    let kind = |version| GroupVersionKind::new("autoscaling", version, "HorizontalPodAutoscaler");
    let value = Value::Object(std::mem::take(object)).into_owned();
    let progress = Progress::unwatched();
    let convert = |value: &Value<'_>, version| match converted(
        context.gates.release(),
        &kind(version),
        value,
        &progress,
    ) {
        Ok(Some(converted)) => converted.into_owned(),
        _ => value.clone().into_owned(),
    };
    let mut v2 = convert(&value, "v2");
    if let Value::Object(members) = &mut v2 {
        members.insert("apiVersion", "autoscaling/v2");
        drop_annotations(members, &ANNOTATIONS);
    }
    if let Value::Object(mut back) = convert(&v2, "v1") {
        back.insert("apiVersion", "autoscaling/v1");
        if let Some(id) = context.schema.registered(&kind("v1")) {
            settle_in(context.schema, id, &mut back, &progress);
        }
        *object = back;
    }
}
