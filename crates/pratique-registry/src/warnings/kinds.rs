//! Warnings about single kinds.

use pratique_gotext::quantity::Quantity;
use pratique_gotext::strconv::quote;
use pratique_json::{Object, Value, base64};
use pratique_validation::check_key_pair;

use super::addresses::of_networks;
use super::pod_spec::of_label;
use crate::object::{self, FieldPath};

// Upstream: pkg/api/node/util.go, GetWarningsForRuntimeClass
pub(super) fn runtime_class(object: &Value<'_>) -> Vec<String> {
    let selector = object
        .at(&["scheduling", "nodeSelector"])
        .and_then(Value::as_object);
    let labels = selector.into_iter().flat_map(Object::iter);
    let warnings =
        labels.filter_map(|(label, _)| Some(format!("scheduling.nodeSelector: {}", of_label(label)?)));
    warnings.collect()
}

/// Quotas for requests that exceed those for limits.
// Upstream: pkg/registry/core/resourcequota/strategy.go, WarningsOnCreate
pub(super) fn resource_quota(object: &Value<'_>) -> Vec<String> {
    let amount = |name: &str| {
        let text = object.at(&["spec", "hard", name])?.as_str()?;
        Some((text.to_owned(), Quantity::parse(text).ok()?))
    };
    let mut warnings = Vec::new();
    for resource in ["cpu", "memory", "storage", "ephemeral-storage"] {
        let (of_requests, of_limits) = (format!("requests.{resource}"), format!("limits.{resource}"));
        let has_bare_name = matches!(resource, "cpu" | "memory") && amount(&of_requests).is_none();
        let name = if has_bare_name {
            resource
        } else {
            of_requests.as_str()
        };
        let (Some((request, requested)), Some((limit, limited))) = (amount(name), amount(&of_limits)) else {
            continue;
        };
        if requested > limited {
            warnings.push(format!(
                "ResourceQuota {name} ({request}) should be less than {of_limits} ({limit})"
            ));
        }
    }
    warnings
}

/// Certificates and a key that are no pair.
// Upstream: pkg/registry/core/secret/strategy.go, warningsForSecret
pub(super) fn secret(object: &Value<'_>) -> Option<String> {
    if object::text(object, &["type"]) != "kubernetes.io/tls" {
        return None;
    }
    let part = |name| base64::decode(object::text(object, &["data", name])).unwrap_or_default();
    let fault = check_key_pair(&part("tls.crt"), &part("tls.key")).err()?;
    Some(fault.to_string())
}

// Upstream: pkg/registry/core/node/strategy.go, nodeWarnings
pub(super) fn node(object: &Value<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    if object::has(object, &["spec", "configSource"]) {
        warnings.push("spec.configSource: the feature is removed".to_owned());
    }
    if !object::text(object, &["spec", "externalID"]).is_empty() {
        warnings.push("spec.externalID: this field is deprecated, and is unused by Kubernetes".to_owned());
    }
    warnings.extend(of_networks("spec.podCIDRs", object, &["spec", "podCIDRs"]));
    warnings
}

/// Warns about an annotation that is newly set.
// Upstream: pkg/registry/core/serviceaccount/strategy.go, warnIfHasEnforceMountableSecretsAnnotation
pub(super) fn service_account(object: &Value<'_>, old: Option<&Value<'_>>) -> Option<String> {
    const MOUNTABLE: &str = "kubernetes.io/enforce-mountable-secrets";
    let has_it = |object: &Value<'_>| object::has(object, &["metadata", "annotations", MOUNTABLE]);
    (has_it(object) && !old.is_some_and(has_it)).then(|| {
        format!(
            "metadata.annotations[{MOUNTABLE}]: deprecated in v1.32+; prefer separate namespaces to isolate access to \
             mounted secrets"
        )
    })
}

// Upstream: pkg/registry/resource/resourceslice/strategy.go, WarningsOnCreate
pub(super) fn resource_slice(object: &Value<'_>) -> Option<String> {
    let driver = object::text(object, &["spec", "driver"]);
    (driver != driver.to_lowercase()).then(|| {
        format!(
            "spec.driver: driver names should be lowercase; {} contains uppercase characters",
            quote(driver)
        )
    })
}

/// Warns about a Job with very many indexes, or the template of one.
// Upstream: pkg/api/job/warnings.go, WarningsForJobSpec
pub(super) fn job_spec(object: &Value<'_>, path: FieldPath<'_>) -> Option<String> {
    const MOST_COMPLETIONS: i64 = 100_000;
    const MOST_PARALLEL: i64 = 10_000;
    let spec = object.at(path)?;
    let has_many = object::text(spec, &["completionMode"]) == "Indexed"
        && object::number(spec, &["completions"]) > MOST_COMPLETIONS
        && object::number(spec, &["parallelism"]) > MOST_PARALLEL;
    has_many.then(|| {
        format!(
            "{}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, \
             Kubernetes might not be able to track completedIndexes when a big number of indexes fail",
            path.join(".")
        )
    })
}

/// Warns about a schedule that names its time zone, which no new CronJob may.
// Upstream: pkg/registry/batch/cronjob/strategy.go, WarningsOnUpdate
pub(super) fn time_zone(object: &Value<'_>) -> Option<String> {
    object::text(object, &["spec", "schedule"])
        .contains("TZ")
        .then(|| {
            // The server's path is this one.
            "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see \
         https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
                .to_owned()
        })
}
