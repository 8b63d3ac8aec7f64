//! The usage of pods, their scopes, and the resources that they must set.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use pratique_gotext::quantity::Quantity;
use pratique_gotext::time::Timestamp;
use pratique_gotext::validation::qualified_name;
use pratique_json::Value;

use super::pod_resources::{ResourceSide, has_pod_level_resources, total};
use super::rules::UsageRules;
use crate::fields::{items, present, text_at};
use crate::names::{DEVICE_CLASS, is_native};
use crate::resource_list::quantity;
use crate::{QuotaError, ResourceList};

/// The usage of a pod.
// Upstream: pkg/quota/v1/evaluator/core/pods.go, PodUsageFunc
pub(crate) fn pod_usage<'a>(
    pod: &'a Value<'a>,
    now: Duration,
    rules: UsageRules,
) -> Result<ResourceList<'a>, QuotaError> {
    let one = Quantity::parse("1")?;
    let mut usage = ResourceList::default();
    usage.set("count/pods", one.clone());
    if has_ended(pod, now) {
        return Ok(usage);
    }
    usage.set("pods", one);
    for (name, amount) in total(pod, ResourceSide::Requests, rules)? {
        match name.as_ref() {
            "cpu" => usage.set("requests.cpu", amount.clone()),
            "memory" => usage.set("requests.memory", amount.clone()),
            "ephemeral-storage" => usage.set("requests.ephemeral-storage", amount.clone()),
            other if other.starts_with("hugepages-") => {
                usage.set(format!("requests.{other}"), amount.clone());
            }
            other if is_extended(other, rules) => {
                usage.set(format!("requests.{other}"), amount);
                continue;
            }
            _ => continue,
        }
        usage.set(name, amount);
    }
    let limits = total(pod, ResourceSide::Limits, rules)?;
    for (name, limit) in [
        ("cpu", "limits.cpu"),
        ("memory", "limits.memory"),
        ("ephemeral-storage", "limits.ephemeral-storage"),
    ] {
        if let Some(amount) = limits.get(name) {
            usage.set(limit, amount.clone());
        }
    }
    Ok(usage)
}

/// Whether a quota counts a resource of pods as an extended one, under `requests.`.
// Upstream: pkg/scheduler/util/utils.go, IsDRAExtendedResourceName
fn is_extended(name: &str, rules: UsageRules) -> bool {
    let is_qualified = || qualified_name(&format!("requests.{name}")).is_empty();
    // Upstream: pkg/quota/v1/evaluator/core/pods.go, PodUsageFunc: before 1.35, these names were native ones.
    let is_of_class = name.starts_with(DEVICE_CLASS) && rules.release.at_least(1, 35);
    is_of_class || (!is_native(name) && !name.starts_with("requests.") && is_qualified())
}

/// Whether a pod uses nothing any more, although it is still stored.
// Upstream: pkg/quota/v1/evaluator/core/pods.go, QuotaV1Pod
fn has_ended(pod: &Value<'_>, now: Duration) -> bool {
    if matches!(text_at(pod, &["status", "phase"]), "Failed" | "Succeeded") {
        return true;
    }
    let deleted = Timestamp::parse(text_at(pod, &["metadata", "deletionTimestamp"]));
    let grace = pod.at(&["metadata", "deletionGracePeriodSeconds"]);
    let (Ok(deleted), Some(grace)) = (deleted, grace.and_then(Value::as_int)) else {
        return false;
    };
    let end = i128::from(deleted.seconds()) + i128::from(grace);
    let now_seconds = i128::from(now.as_secs());
    now_seconds > end || (now_seconds == end && now.subsec_nanos() > deleted.nanos())
}

/// Whether a pod ends by itself.
pub(crate) fn is_terminating(pod: &Value<'_>) -> bool {
    let deadline = pod.at(&["spec", "activeDeadlineSeconds"]).and_then(Value::as_int);
    deadline.is_some_and(|seconds| seconds >= 0)
}

/// Whether a pod requests neither CPU nor memory.
// Upstream: pkg/apis/core/v1/helper/qos/qos.go, GetPodQOS
pub(crate) fn is_best_effort(pod: &Value<'_>, pod_level: bool) -> Result<bool, QuotaError> {
    let class = text_at(pod, &["status", "qosClass"]);
    if !class.is_empty() {
        return Ok(class == "BestEffort");
    }
    let Some(spec) = pod.get("spec") else {
        return Ok(true);
    };
    if pod_level && let Some(resources) = present(spec, "resources") {
        return requests_nothing(resources);
    }
    for container in items(spec, "containers")
        .iter()
        .chain(items(spec, "initContainers"))
    {
        if let Some(resources) = container.get("resources")
            && !requests_nothing(resources)?
        {
            return Ok(false);
        }
    }
    Ok(true)
}

fn requests_nothing(resources: &Value<'_>) -> Result<bool, QuotaError> {
    for side in ["requests", "limits"] {
        for name in ["cpu", "memory"] {
            if let Some(amount) = resources.at(&[side, name])
                && quantity(amount)?.signum() > 0
            {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Whether a pod has affinity to pods of other namespaces.
// Upstream: pkg/quota/v1/evaluator/core/pods.go, usesCrossNamespacePodAffinity
pub(crate) fn uses_cross_namespace_affinity(pod: &Value<'_>) -> bool {
    let Some(affinity) = pod.at(&["spec", "affinity"]) else {
        return false;
    };
    let crosses = |term: &Value<'_>| {
        !items(term, "namespaces").is_empty() || present(term, "namespaceSelector").is_some()
    };
    let kinds = ["podAffinity", "podAntiAffinity"].into_iter();
    kinds.filter_map(|kind| present(affinity, kind)).any(|kind| {
        let required = items(kind, "requiredDuringSchedulingIgnoredDuringExecution");
        let preferred = items(kind, "preferredDuringSchedulingIgnoredDuringExecution");
        let preferred_terms = preferred
            .iter()
            .filter_map(|term| present(term, "podAffinityTerm"));
        required.iter().chain(preferred_terms).any(crosses)
    })
}

/// CPU and memory that quotas limit have to be set in each container.
const REQUIRED: [&str; 6] = [
    "cpu",
    "memory",
    "requests.cpu",
    "requests.memory",
    "limits.cpu",
    "limits.memory",
];

/// The message about containers that do not set resources that quotas limit.
// Upstream: pkg/quota/v1/evaluator/core/pods.go, podEvaluator.Constraints
pub(crate) fn missing_requests(pod: &Value<'_>, limited: &[&str], pod_level: bool) -> Option<String> {
    if pod_level && has_pod_level_resources(pod) {
        return None;
    }
    let spec = pod.get("spec")?;
    let mut missing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for name in limited.iter().filter(|name| REQUIRED.contains(name)) {
        let (side, resource) = match name.split_once('.') {
            Some((side, resource)) => (side, resource),
            None => ("requests", *name),
        };
        for container in items(spec, "containers")
            .iter()
            .chain(items(spec, "initContainers"))
        {
            if container.at(&["resources", side, resource]).is_none() {
                missing
                    .entry(name)
                    .or_default()
                    .insert(text_at(container, &["name"]));
            }
        }
    }
    if missing.is_empty() {
        return None;
    }
    let texts = missing.into_iter().map(|(name, containers)| {
        let containers: Vec<&str> = containers.into_iter().collect();
        format!("{name} for: {}", containers.join(","))
    });
    let texts: Vec<String> = texts.collect();
    Some(format!("must specify {}", texts.join("; ")))
}
