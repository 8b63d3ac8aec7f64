//! HorizontalPodAutoscalers. The hub is `v2`; `v1` keeps the fields that it does not have in annotations.

use pratique_json::{Object, Progress, Value};
use pratique_schema::{Release, Shape, TypeId};

use super::go_json;
use super::{
    ApiVersion, ConversionError, ConversionFamily, annotate, annotation, any, drop_annotation, part, put,
    read_text, rename, take,
};
use crate::encode::Encoder;
use crate::form::typed_as;

pub(super) const HORIZONTAL_POD_AUTOSCALER: ConversionFamily = ConversionFamily::new(any, to_hub, from_hub);

const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const CURRENT_METRICS: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";

/// All annotations that conversions write, or wrote.
const ANNOTATIONS: [&str; 6] = [
    METRICS,
    CURRENT_METRICS,
    CONDITIONS,
    BEHAVIOR,
    "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
    "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
];

/// The rules of scaling, which the annotation has in their internal version, whose fields are those of `v2`.
const RULES: &str = "autoscaling/v2.HorizontalPodAutoscalerBehavior";

const FIRST: &str = "autoscaling/v1";

/// The default target of CPU utilization.
const DEFAULT_UTILIZATION: i64 = 80;

fn to_hub(version: ApiVersion<'_>, autoscaler: &mut Object<'_>) -> Result<(), ConversionError> {
    let release = version.release;
    if version.name == FIRST {
        let mut metrics = listed(release, autoscaler, METRICS, "MetricSpec").unwrap_or_default();
        metrics
            .iter_mut()
            .for_each(|metric| each_source(metric, spec_to_hub));
        let behavior = annotation(autoscaler, BEHAVIOR)
            .zip(named(release, RULES))
            .and_then(|(text, of)| go_json::read(release.schema(), text, of))
            .filter(|behavior| !behavior.is_empty());
        let current = listed(release, autoscaler, CURRENT_METRICS, "MetricStatus");
        let conditions = listed(
            release,
            autoscaler,
            CONDITIONS,
            "HorizontalPodAutoscalerCondition",
        );
        if let Some(spec) = part(autoscaler, "spec") {
            let target = take(spec, "targetCPUUtilizationPercentage");
            let target = target.or_else(|| metrics.is_empty().then_some(Value::Int(DEFAULT_UTILIZATION)));
            metrics.extend(target.map(|target| {
                let target = [("averageUtilization", target), ("type", "Utilization".into())];
                cpu_metric("target", object(target))
            }));
            spec.insert("metrics", list(metrics));
            put(spec, "behavior", behavior.map(Value::Object));
        }
        if let Some(status) = part(autoscaler, "status") {
            let utilization = take(status, "currentCPUUtilizationPercentage");
            let utilization = utilization
                .map(|current| vec![cpu_metric("current", object([("averageUtilization", current)]))]);
            let current = current.map(|mut current| {
                current
                    .iter_mut()
                    .for_each(|metric| each_source(metric, status_to_hub));
                current
            });
            put(status, "currentMetrics", current.or(utilization).map(list));
            put(status, "conditions", conditions.map(list));
        }
    }
    ANNOTATIONS
        .iter()
        .for_each(|name| drop_annotation(autoscaler, name));
    Ok(())
}

fn from_hub(version: ApiVersion<'_>, autoscaler: &mut Object<'_>) -> Result<(), ConversionError> {
    if version.name != FIRST {
        return Ok(());
    }
    let release = version.release;
    let mut annotations: Vec<(&'static str, String)> = Vec::new();
    if let Some(spec) = part(autoscaler, "spec") {
        let mut metrics = objects(take(spec, "metrics"));
        let target = metrics.iter().find_map(|metric| utilization(metric, "target"));
        put(spec, "targetCPUUtilizationPercentage", target);
        metrics.retain(|metric| utilization(metric, "target").is_none());
        metrics
            .iter_mut()
            .for_each(|metric| each_source(metric, spec_from_hub));
        if !metrics.is_empty() {
            annotations.push((METRICS, written(release, metrics, "MetricSpec")));
        }
        if let Some(behavior) = take(spec, "behavior") {
            let encoder = Encoder {
                is_bare: true,
                ..Encoder::of_release(release)
            };
            let shape = named(release, RULES).map(Shape::Struct);
            annotations.push((BEHAVIOR, encoder.to_text(shape.as_ref(), &behavior)));
        }
    }
    if let Some(status) = part(autoscaler, "status") {
        let mut current = objects(take(status, "currentMetrics"));
        let used = current
            .iter()
            .rev()
            .find_map(|metric| utilization(metric, "current"));
        put(status, "currentCPUUtilizationPercentage", used);
        current
            .iter_mut()
            .for_each(|metric| each_source(metric, status_from_hub));
        if !current.is_empty() {
            annotations.push((CURRENT_METRICS, written(release, current, "MetricStatus")));
        }
        let conditions = objects(take(status, "conditions"));
        if !conditions.is_empty() {
            annotations.push((
                CONDITIONS,
                written(release, conditions, "HorizontalPodAutoscalerCondition"),
            ));
        }
    }
    for (name, text) in annotations {
        annotate(autoscaler, name, text);
    }
    Ok(())
}

/// A type of either version, by its name.
fn named(release: &'static Release, name: &str) -> Option<TypeId> {
    release.schema().named(name)
}

/// The list that an annotation has, of a type of `v1`; `None` where there is none, or none that can be read.
fn listed(
    release: &'static Release,
    autoscaler: &Object<'_>,
    name: &str,
    of: &str,
) -> Option<Vec<Object<'static>>> {
    let text = annotation(autoscaler, name)?;
    go_json::read_list(
        release.schema(),
        text,
        named(release, &format!("autoscaling/v1.{of}"))?,
    )
}

/// A list as text, with all fields that objects of a type of `v1` have.
fn written(release: &'static Release, objects: Vec<Object<'_>>, of: &str) -> String {
    let of = named(release, &format!("autoscaling/v1.{of}"));
    let formed = objects.into_iter().map(|object| {
        let object = Value::Object(object);
        let formed = of.and_then(|of| {
            typed_as(release.schema(), of, &object, &Progress::unwatched()).unwrap_or_default()
        });
        formed.unwrap_or_else(|| object.borrowed()).into_owned()
    });
    let shape = of.map(|of| Shape::List(Box::new(Shape::Struct(of))));
    Encoder::of_release(release).to_text(shape.as_ref(), &Value::Array(formed.collect()))
}

fn list<'a>(objects: Vec<Object<'a>>) -> Value<'a> {
    Value::Array(objects.into_iter().map(Value::Object).collect())
}

fn objects<'a>(list: Option<Value<'a>>) -> Vec<Object<'a>> {
    let elements = match list {
        Some(Value::Array(elements)) => elements,
        _ => Vec::new(),
    };
    let objects = elements.into_iter().filter_map(|element| match element {
        Value::Object(object) => Some(object),
        _ => None,
    });
    objects.collect()
}

fn object<'a, const N: usize>(members: [(&'static str, Value<'a>); N]) -> Value<'a> {
    let members = members.map(|(name, value)| (name.into(), value));
    Value::Object(members.into_iter().collect())
}

/// A metric of CPU utilization.
fn cpu_metric<'a>(field: &'static str, value: Value<'a>) -> Object<'a> {
    let resource = object([("name", "cpu".into()), (field, value)]);
    Object::from_iter([
        ("resource".into(), resource),
        ("type".into(), Value::from("Resource")),
    ])
}

/// The CPU utilization of a metric, if it is one.
fn utilization<'a>(metric: &Object<'a>, field: &str) -> Option<Value<'a>> {
    let resource = metric
        .get("resource")
        .filter(|_| read_text(metric, "type") == "Resource")?;
    let is_cpu = resource.get("name").and_then(Value::as_str) == Some("cpu");
    let value = resource.get(field)?.get("averageUtilization");
    value.filter(|value| is_cpu && !value.is_null()).cloned()
}

/// The sources that a metric may have.
const SOURCES: [&str; 5] = ["object", "pods", "resource", "containerResource", "external"];

fn each_source(metric: &mut Object<'_>, change: fn(&str, &mut Object<'_>)) {
    for name in SOURCES {
        if let Some(source) = part(metric, name) {
            change(name, source);
        }
    }
}

/// Moves the name and the selector of a metric into its member `metric`.
fn nest_metric(selector: &str, source: &mut Object<'_>) {
    let mut metric = Object::new();
    put(&mut metric, "name", take(source, "metricName"));
    put(&mut metric, "selector", take(source, selector));
    source.insert("metric", metric);
}

/// Moves the name and the selector of a metric back from its member `metric`.
fn flatten_metric(selector: &'static str, source: &mut Object<'_>) {
    if let Some(Value::Object(mut metric)) = source.remove("metric") {
        put(source, "metricName", take(&mut metric, "name"));
        put(source, selector, take(&mut metric, "selector"));
    }
}

/// The name of a source's selector in `v1`.
fn selector_of(source: &str) -> &'static str {
    match source {
        "external" => "metricSelector",
        _ => "selector",
    }
}

fn is_resource(source: &str) -> bool {
    matches!(source, "resource" | "containerResource")
}

/// The names of the parts of a source in `v1`, and in the hub.
type PartNames = &'static [(&'static str, &'static str)];

fn spec_names(source: &str) -> PartNames {
    match source {
        "object" => &[("targetValue", "value"), ("averageValue", "averageValue")],
        "external" => &[("targetValue", "value"), ("targetAverageValue", "averageValue")],
        "pods" => &[("targetAverageValue", "averageValue")],
        _ => &[
            ("targetAverageUtilization", "averageUtilization"),
            ("targetAverageValue", "averageValue"),
        ],
    }
}

fn status_names(source: &str) -> PartNames {
    match source {
        "object" => &[("currentValue", "value"), ("averageValue", "averageValue")],
        "external" => &[("currentValue", "value"), ("currentAverageValue", "averageValue")],
        "pods" => &[("currentAverageValue", "averageValue")],
        _ => &[
            ("currentAverageUtilization", "averageUtilization"),
            ("currentAverageValue", "averageValue"),
        ],
    }
}

/// Takes the parts of a source together, as the hub has them.
fn gathered<'a>(name: &str, source: &mut Object<'a>, names: PartNames) -> Object<'a> {
    if !is_resource(name) {
        nest_metric(selector_of(name), source);
    }
    if name == "object" {
        rename(source, "target", "describedObject");
    }
    let mut parts = Object::new();
    for (old, new) in names {
        put(&mut parts, new, take(source, old));
    }
    parts
}

/// The way back from [`gathered`].
fn spread(name: &str, source: &mut Object<'_>, gathered: &str, names: PartNames) {
    if !is_resource(name) {
        flatten_metric(selector_of(name), source);
    }
    if let Some(Value::Object(mut parts)) = source.remove(gathered) {
        for (old, new) in names {
            put(source, old, take(&mut parts, new));
        }
    }
    if name == "object" {
        rename(source, "describedObject", "target");
    }
}

fn spec_to_hub(name: &str, source: &mut Object<'_>) {
    let mut target = gathered(name, source, spec_names(name));
    let has_average = target.contains_key("averageValue");
    let of_type = match name {
        "object" if has_average => "AverageValue",
        "object" => "Value",
        "external" if target.contains_key("value") => "Value",
        _ if target.contains_key("averageUtilization") => "Utilization",
        _ => "AverageValue",
    };
    if name == "object" && has_average && read_text(&target, "value") == "0" {
        target.remove("value");
    }
    target.insert("type", of_type);
    source.insert("target", target);
}

fn spec_from_hub(name: &str, source: &mut Object<'_>) {
    spread(name, source, "target", spec_names(name));
}

fn status_to_hub(name: &str, source: &mut Object<'_>) {
    let current = gathered(name, source, status_names(name));
    source.insert("current", current);
}

fn status_from_hub(name: &str, source: &mut Object<'_>) {
    spread(name, source, "current", status_names(name));
}
