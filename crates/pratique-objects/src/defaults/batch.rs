//! `batch`.

use pratique_json::Object;

use super::core::{label, template_labels};
use super::field::{absent, empty, is_absent, part};
use super::{Context, Function};
use crate::release::gate;

pub(super) fn function(name: &str) -> Option<Function> {
    Some(match name {
        "CronJob" => cron_job,
        "Job" => job,
        "PodFailurePolicyOnPodConditionsPattern" => |object, _| empty(object, "status", "True"),
        _ => return None,
    })
}

fn cron_job(object: &mut Object<'_>, _: &Context<'_>) {
    let Some(spec) = part(object, "spec") else { return };
    empty(spec, "concurrencyPolicy", "Allow");
    absent(spec, "suspend", false);
    absent(spec, "successfulJobsHistoryLimit", 3);
    absent(spec, "failedJobsHistoryLimit", 1);
}

fn job(object: &mut Object<'_>, _: &Context<'_>) {
    if let Some(labels) = template_labels(object) {
        label(object, labels);
    }
    let Some(spec) = part(object, "spec") else { return };
    if is_absent(spec, "parallelism") {
        absent(spec, "completions", 1);
    }
    absent(spec, "parallelism", 1);
    let retries = match is_absent(spec, "backoffLimitPerIndex") {
        true => 6,
        false => i64::from(i32::MAX),
    };
    absent(spec, "backoffLimit", retries);
    absent(spec, "completionMode", "NonIndexed");
    absent(spec, "suspend", false);
    let replacement = match is_absent(spec, "podFailurePolicy") {
        true => "TerminatingOrFailed",
        false => "Failed",
    };
    if gate("JobPodReplacementPolicy") {
        absent(spec, "podReplacementPolicy", replacement);
    }
    absent(spec, "manualSelector", false);
}
