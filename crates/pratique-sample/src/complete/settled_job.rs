//! Jobs and CronJobs as a server takes them: their Pods end, and the selector of a Job is the one that the server makes.

use pratique_json::{Object, Value};
use pratique_types::GroupVersionKind;

/// The labels that a server gives the Pods of a Job, with the field of the Job's metadata that each has.
// Upstream: pkg/registry/batch/job/strategy.go, generateSelector
const GENERATED_LABELS: [(&str, &str); 4] = [
    ("job-name", "name"),
    ("batch.kubernetes.io/job-name", "name"),
    ("controller-uid", "uid"),
    (UID_LABEL, "uid"),
];
const UID_LABEL: &str = "batch.kubernetes.io/controller-uid";

/// The selector that other samples have.
const USUAL_LABEL: &str = "example";

/// Gives a Job or CronJob what a server requires, and what it generates.
// Upstream: pkg/apis/batch/validation/validation.go, ValidateGeneratedSelector and validateJobSpec
pub(super) fn settle_job(kind: &GroupVersionKind, object: &mut Value<'static>) {
    if kind.group != "batch" {
        return;
    }
    let Value::Object(members) = object else { return };
    let labels = GENERATED_LABELS.map(|(label, field)| {
        let value = members.get("metadata").and_then(|metadata| metadata.get(field));
        (label, value.cloned().unwrap_or_default())
    });
    let Some(spec) = members.get_mut("spec") else {
        return;
    };
    let job_spec = match kind.kind.as_str() {
        "CronJob" => spec
            .get_mut("jobTemplate")
            .and_then(|template| template.get_mut("spec")),
        "Job" => Some(spec),
        _ => None,
    };
    let Some(Value::Object(job_spec)) = job_spec else {
        return;
    };
    if let Some(template) = job_spec.get_mut("template") {
        end_pods(template);
    }
    if kind.kind == "Job" {
        insert_generated(job_spec, &labels);
    }
}

/// The Pods of a Job are not started again when they have succeeded.
fn end_pods(template: &mut Value<'static>) {
    if let Some(Value::Object(pod)) = template.get_mut("spec")
        && pod.get("restartPolicy").and_then(Value::as_str) == Some("Always")
    {
        pod.insert("restartPolicy", "Never");
    }
}

fn insert_generated(spec: &mut Object<'static>, labels: &[(&'static str, Value<'static>)]) {
    let of_template = spec
        .get_mut("template")
        .and_then(|template| template.get_mut("metadata"))
        .and_then(|metadata| metadata.get_mut("labels"));
    if let Some(Value::Object(of_template)) = of_template {
        for (label, value) in labels {
            of_template.insert(*label, value.clone());
        }
    }
    let selector = spec
        .get_mut("selector")
        .and_then(|selector| selector.get_mut("matchLabels"));
    if let Some(Value::Object(selector)) = selector {
        selector.remove(USUAL_LABEL);
        if let Some((label, value)) = labels.iter().find(|(label, _)| *label == UID_LABEL) {
            selector.insert(*label, value.clone());
        }
    }
}

/// Takes what a server generates from a Job, as its author writes none of it.
pub(crate) fn remove_generated(kind: &GroupVersionKind, object: &mut Value<'static>) {
    if kind.group != "batch" || kind.kind != "Job" {
        return;
    }
    let Some(Value::Object(spec)) = object.get_mut("spec") else {
        return;
    };
    spec.remove("selector");
    let labels = spec
        .get_mut("template")
        .and_then(|template| template.get_mut("metadata"))
        .and_then(|metadata| metadata.get_mut("labels"));
    if let Some(Value::Object(labels)) = labels {
        for (label, _) in GENERATED_LABELS {
            labels.remove(label);
        }
    }
}
