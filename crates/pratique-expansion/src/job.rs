//! The Pods of Jobs and CronJobs.

use pratique_json::{Object, Value};

use super::metadata::{PodOwner, pod_of, set, set_label, take_list};

/// The minute since 1970 for which a CronJob makes a Job: a time of as many digits as the present.
const MINUTE: &str = "00000000";

const FINALIZER: &str = "batch.kubernetes.io/job-tracking";
const INDEX: &str = "batch.kubernetes.io/job-completion-index";
const INDEX_VARIABLE: &str = "JOB_COMPLETION_INDEX";

/// The first Pod of a Job.
pub(crate) fn of_job<'v>(job: &'v Value<'_>, template: &'v Object<'_>, owner: &PodOwner) -> Object<'v> {
    let is_manual = job.at(&["spec", "manualSelector"]) == Some(&Value::Bool(true));
    let is_indexed = job.at(&["spec", "completionMode"]).and_then(Value::as_str) == Some("Indexed");
    let mut pod = made(template, owner, is_manual, is_indexed);
    count_failures(&mut pod, is_indexed, job.at(&["spec", "backoffLimitPerIndex"]));
    pod
}

/// The first Pod of the Job that a CronJob makes.
// Upstream: pkg/controller/cronjob/utils.go, getJobFromTemplate2
pub(crate) fn of_cron_job<'v>(
    cron_job: &'v Value<'_>,
    template: &'v Object<'_>,
    owner: &PodOwner,
) -> Object<'v> {
    let spec = |field: &str| cron_job.at(&["spec", "jobTemplate", "spec", field]);
    let is_indexed = spec("completionMode").and_then(Value::as_str) == Some("Indexed");
    let is_manual = spec("manualSelector") == Some(&Value::Bool(true));
    let job = PodOwner::placeholder("batch/v1", "Job", format!("{}-{MINUTE}", owner.name));
    let mut pod = made(template, &job, is_manual, is_indexed);
    count_failures(&mut pod, is_indexed, spec("backoffLimitPerIndex"));
    pod
}

// Upstream: pkg/controller/job/indexed_job_utils.go, addIndexFailureCountAnnotation
fn count_failures(pod: &mut Object<'_>, is_indexed: bool, limit: Option<&Value<'_>>) {
    if is_indexed && limit.is_some_and(|limit| !limit.is_null()) {
        set(
            pod,
            "annotations",
            "batch.kubernetes.io/job-index-failure-count",
            "0",
        );
    }
}

// Upstream: pkg/registry/batch/job/strategy.go, generateSelector; pkg/controller/job/job_controller.go, manageJob
fn made<'v>(template: &'v Object<'_>, job: &PodOwner, is_manual: bool, is_indexed: bool) -> Object<'v> {
    let mut pod = pod_of(template, job);
    if !is_manual {
        for (key, value) in [
            ("batch.kubernetes.io/controller-uid", &job.uid),
            ("batch.kubernetes.io/job-name", &job.name),
            ("controller-uid", &job.uid),
            ("job-name", &job.name),
        ] {
            let labels = template
                .get("metadata")
                .and_then(|metadata| metadata.get("labels"));
            // A label that the user set is kept, and may be refused by validation.
            if labels.is_none_or(|labels| labels.get(key).is_none()) {
                set_label(&mut pod, key, value.clone());
            }
        }
    }
    if let Some(Value::Object(metadata)) = pod.get_mut("metadata") {
        let mut finalizers = take_list(metadata, "finalizers");
        let finalizer = Value::from(FINALIZER);
        if !finalizers.contains(&finalizer) {
            finalizers.push(finalizer);
        }
        metadata.insert("finalizers", Value::Array(finalizers));
    }
    if is_indexed {
        index(&mut pod, &job.name);
    }
    pod
}

/// Makes a Pod the first of an indexed Job.
// Upstream: pkg/controller/job/indexed_job_utils.go, addCompletionIndexEnvVariables
fn index(pod: &mut Object<'_>, job: &str) {
    set(pod, "annotations", INDEX, "0");
    set_label(pod, INDEX, "0");
    if let Some(Value::Object(metadata)) = pod.get_mut("metadata") {
        metadata.insert("generateName", indexed_prefix(job));
    }
    let Some(Value::Object(spec)) = pod.get_mut("spec") else {
        return;
    };
    spec.insert("hostname", format!("{job}-0"));
    for list in ["initContainers", "containers"] {
        if let Some(Value::Array(containers)) = spec.get_mut(list) {
            containers.iter_mut().for_each(add_index_variable);
        }
    }
}

// Upstream: pkg/controller/job/indexed_job_utils.go, podGenerateNameWithIndex
fn indexed_prefix(job: &str) -> String {
    const SUFFIX: &str = "-0-";
    /// Names of 63 characters, without the five random ones.
    const LONGEST: usize = 58;
    let kept = if job.len() + SUFFIX.len() > LONGEST {
        job.get(..job.floor_char_boundary(LONGEST - SUFFIX.len()))
            .unwrap_or(job)
    } else {
        job
    };
    format!("{kept}{SUFFIX}")
}

fn add_index_variable(container: &mut Value<'_>) {
    let Value::Object(container) = container else {
        return;
    };
    let mut variables = take_list(container, "env");
    let is_index =
        |variable: &Value<'_>| variable.get("name").and_then(Value::as_str) == Some(INDEX_VARIABLE);
    if !variables.iter().any(is_index) {
        let mut field = Object::new();
        field.insert("fieldPath", format!("metadata.labels['{INDEX}']"));
        let mut from = Object::new();
        from.insert("fieldRef", Value::Object(field));
        let mut variable = Object::new();
        variable.insert("name", INDEX_VARIABLE);
        variable.insert("valueFrom", Value::Object(from));
        variables.push(Value::Object(variable));
    }
    container.insert("env", Value::Array(variables));
}
