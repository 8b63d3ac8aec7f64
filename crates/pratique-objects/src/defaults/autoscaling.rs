//! `autoscaling`.

use pratique_json::{Object, Value};

use super::field::{absent, empty, part, pointer};
use super::{Context, Function};

pub(super) fn function(version: &str, name: &str) -> Option<Function> {
    Some(match (version, name) {
        ("v1", "HorizontalPodAutoscaler") => |object, _| {
            if let Some(spec) = part(object, "spec") {
                absent(spec, "minReplicas", 1);
            }
        },
        (_, "HorizontalPodAutoscaler") => autoscaler,
        _ => return None,
    })
}

fn autoscaler(object: &mut Object<'_>, _: &Context<'_>) {
    let Some(spec) = part(object, "spec") else { return };
    absent(spec, "minReplicas", 1);
    empty(spec, "metrics", vec![cpu_utilization()]);
    let Some(behavior) = pointer(spec, "behavior") else {
        return;
    };
    if let Some(up) = part(behavior, "scaleUp") {
        absent(up, "stabilizationWindowSeconds", 0);
        absent(up, "selectPolicy", "Max");
        absent(up, "policies", vec![policy("Pods", 4), policy("Percent", 100)]);
    }
    if let Some(down) = part(behavior, "scaleDown") {
        absent(down, "selectPolicy", "Max");
        absent(down, "policies", vec![policy("Percent", 100)]);
    }
}

fn cpu_utilization() -> Value<'static> {
    let mut target = Object::new();
    target.insert("type", "Utilization");
    target.insert("averageUtilization", 80);
    let mut resource = Object::new();
    resource.insert("name", "cpu");
    resource.insert("target", target);
    let mut metric = Object::new();
    metric.insert("type", "Resource");
    metric.insert("resource", resource);
    metric.into()
}

fn policy(of_type: &'static str, value: i64) -> Value<'static> {
    let mut policy = Object::new();
    policy.insert("type", of_type);
    policy.insert("value", value);
    policy.insert("periodSeconds", 15);
    policy.into()
}
