//! `batch`.
// Upstream: pkg/registry/batch/*/strategy.go

use pratique_json::Value;

use crate::edited_object::EditedObject;
use crate::object::{self, FieldPath};
use crate::strategy::{GatedField, PartEndpoint, ResourceStrategy, StrategyContext};

pub(super) const STRATEGIES: &[ResourceStrategy] = &[
    ResourceStrategy::new("batch", "CronJob")
        .generation(&[&["spec"]])
        .status(PartEndpoint::STATUS)
        .gated(&[
            GatedField::Field("WorkloadWithJob", &["spec", "jobTemplate", "spec", "scheduling"]),
            GatedField::Pod(&["spec", "jobTemplate", "spec", "template"]),
        ]),
    ResourceStrategy::new("batch", "Job")
        .generation(&[&["spec"]])
        .status(PartEndpoint::STATUS)
        .gated(&[
            GatedField::Field("WorkloadWithJob", &["spec", "scheduling"]),
            GatedField::Pod(&["spec", "template"]),
        ])
        .prepare(create_job, |_, _, _| {}),
];

/// Labels that name the Job.
const NAME_LABELS: [&str; 2] = ["job-name", "batch.kubernetes.io/job-name"];
/// Labels that identify the Job.
const UID_LABELS: [&str; 2] = ["controller-uid", "batch.kubernetes.io/controller-uid"];

fn create_job(context: &mut StrategyContext<'_>, object: &mut EditedObject<'_>) {
    if object.at(&["spec", "manualSelector"]) != Some(&Value::Bool(true)) {
        generate_selector(object, context.defaulted_labels);
    }
}

// Upstream: pkg/registry/batch/job/strategy.go, generateSelector
fn generate_selector(object: &mut EditedObject<'_>, defaulted_labels: bool) {
    let name = object::text(object, &["metadata", "name"]).to_owned();
    let uid = object::text(object, &["metadata", "uid"]).to_owned();
    let labels: FieldPath<'_> = &["spec", "template", "metadata", "labels"];
    // Where defaulting gave the Job the labels of its template, both are one map in the server's memory.
    let shared = defaulted_labels && object::has(object, &["metadata", "labels"]);
    let names = NAME_LABELS.map(|label| (label, &name));
    let uids = UID_LABELS.map(|label| (label, &uid));
    for (label, value) in names.into_iter().chain(uids) {
        let path: FieldPath<'_> = &["spec", "template", "metadata", "labels", label];
        if object.at(path).is_none() {
            object::set(object, path, value.clone());
        }
    }
    if shared {
        let of_template = object.at(labels).cloned().unwrap_or_default();
        object::set(object, &["metadata", "labels"], of_template);
    }
    let [_, label] = UID_LABELS;
    let path: FieldPath<'_> = &["spec", "selector", "matchLabels", label];
    if object.at(path).is_none() {
        object::set(object, path, uid);
    }
}
