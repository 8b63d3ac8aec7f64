//! HorizontalPodAutoscalers: the one built-in kind whose served versions do not have the same fields.
//!
//! Version 1 knows a target for the use of processors, version 2 any metrics. What version 1 cannot say, an API server
//! keeps in annotations, which are left alone here.

use pratique_json::{Object, Value};
use pratique_types::GroupVersionKind;

/// An object that is of the other version, in the version of `kind`; `None` where there is nothing to convert.
pub fn converted<'a>(kind: &GroupVersionKind, object: &'a Value<'a>) -> Option<Value<'a>> {
    if kind.group != "autoscaling" || kind.kind != "HorizontalPodAutoscaler" {
        return None;
    }
    let from = object.get("apiVersion").and_then(Value::as_str)?;
    match (from, kind.version.as_str()) {
        ("autoscaling/v1", "v2") => forth(object),
        ("autoscaling/v2", "v1") => back(object),
        _ => None,
    }
}

const TARGET: &str = "targetCPUUtilizationPercentage";
const CURRENT: &str = "currentCPUUtilizationPercentage";

fn forth<'a>(object: &'a Value<'a>) -> Option<Value<'a>> {
    edited(object, |spec, status| {
        if let Some(percentage) = spec.remove(TARGET) {
            let target = [("averageUtilization", percentage), ("type", "Utilization".into())];
            spec.insert("metrics", Value::Array(vec![metric("target", target.into())]));
        }
        if let Some(percentage) = status.remove(CURRENT) {
            let current = vec![("averageUtilization", percentage)];
            status.insert("currentMetrics", Value::Array(vec![metric("current", current)]));
        }
    })
}

fn back<'a>(object: &'a Value<'a>) -> Option<Value<'a>> {
    edited(object, |spec, status| {
        if let Some(percentage) = spec
            .remove("metrics")
            .and_then(|metrics| of_processors(&metrics, "target"))
        {
            spec.insert(TARGET, percentage);
        }
        spec.remove("behavior");
        let current = status.remove("currentMetrics");
        if let Some(percentage) = current.and_then(|metrics| of_processors(&metrics, "current")) {
            status.insert(CURRENT, percentage);
        }
        status.remove("conditions");
    })
}

/// An object with other `spec` and `status`.
fn edited<'a>(
    object: &'a Value<'a>,
    edit: impl FnOnce(&mut Object<'a>, &mut Object<'a>),
) -> Option<Value<'a>> {
    let Value::Object(mut members) = object.borrowed() else {
        return None;
    };
    let mut take = |field| match members.remove(field) {
        Some(Value::Object(part)) => part,
        _ => Object::new(),
    };
    let (mut spec, mut status) = (take("spec"), take("status"));
    edit(&mut spec, &mut status);
    members.insert("spec", spec);
    members.insert("status", status);
    Some(Value::Object(members))
}

/// A metric of the use of processors.
fn metric<'a>(field: &'a str, values: Vec<(&'a str, Value<'a>)>) -> Value<'a> {
    let object = |members: Vec<(&'a str, Value<'a>)>| {
        let members = members.into_iter().map(|(key, value)| (key.into(), value));
        Value::Object(members.collect())
    };
    let resource = object(vec![("name", "cpu".into()), (field, object(values))]);
    object(vec![("resource", resource), ("type", "Resource".into())])
}

/// The percentage of the first metric that is about the use of processors.
fn of_processors<'a>(metrics: &Value<'a>, field: &str) -> Option<Value<'a>> {
    let mut metrics = metrics.as_array()?.iter();
    metrics.find_map(|metric| {
        let name = metric.at(&["resource", "name"]).and_then(Value::as_str);
        let value = metric.at(&["resource", field, "averageUtilization"]);
        value.filter(|_| name == Some("cpu")).cloned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let first = r#"{"apiVersion":"autoscaling/v1","spec":{"maxReplicas":3,"targetCPUUtilizationPercentage":70},"status":{"currentCPUUtilizationPercentage":50}}"#;
        let kind = |version| GroupVersionKind::new("autoscaling", version, "HorizontalPodAutoscaler");
        let object = pratique_json::parse(first.as_bytes()).unwrap();
        assert_eq!(converted(&kind("v1"), &object), None);
        let second = converted(&kind("v2"), &object).unwrap();
        assert_eq!(
            second.get("spec").unwrap().to_string(),
            r#"{"maxReplicas":3,"metrics":[{"resource":{"name":"cpu","target":{"averageUtilization":70,"type":"Utilization"}},"type":"Resource"}]}"#
        );
        let Value::Object(mut members) = second else {
            panic!("an object")
        };
        members.insert("apiVersion", "autoscaling/v2");
        let second = Value::Object(members);
        let again = converted(&kind("v1"), &second).unwrap();
        for field in ["spec", "status"] {
            assert_eq!(again.get(field), object.get(field));
        }
    }
}
