//! The resources that containers and pods ask for.

use std::borrow::Cow;

use pratique_gotext::quantity::Quantity;
use pratique_json::{Object, Value};

use super::containers;
use crate::object::{members, text};

/// The amount of a resource in the list at a path. Amounts are read where they are asked for: of what a pod lists, few are.
pub(crate) fn amount(value: &Value<'_>, path: &[&str], resource: &str) -> Option<Quantity> {
    quantity(members(value, path)?.get(resource)?)
}

/// All amounts of the list at a path, by name.
pub(crate) fn amounts<'v>(
    value: &'v Value<'_>,
    path: &[&str],
) -> impl Iterator<Item = (&'v str, Quantity)> + use<'v> {
    let listed = members(value, path).into_iter().flat_map(Object::iter);
    listed.filter_map(|(name, value)| Some((name, quantity(value)?)))
}

/// The quantity that a decoded value is: a text, or a number as it was written.
pub(crate) fn quantity(value: &Value<'_>) -> Option<Quantity> {
    let text = match value {
        Value::String(text) => Cow::Borrowed(text.as_ref()),
        Value::Int(number) => Cow::Owned(number.to_string()),
        other => Cow::Owned(other.to_string()),
    };
    Quantity::parse(&text).ok()
}

/// How much of a resource a pod asks for altogether; `field` is `requests` or `limits`.
// Upstream: plugin/pkg/admission/limitranger/admission.go, podRequests and podLimits
pub(crate) fn of_pod(pod: &Value<'_>, field: &str, resource: &str, pod_level: bool) -> Option<Quantity> {
    if pod_level
        && matches!(resource, "cpu" | "memory")
        && let Some(amount) = amount(pod, &["spec", "resources", field], resource)
    {
        return Some(amount);
    }
    let of = |container: &Value<'_>| amount(container, &["resources", field], resource);
    let mut sum = None;
    for container in containers(pod, "containers") {
        add(&mut sum, of(container));
    }
    let mut of_sidecars = None;
    let mut of_init = None;
    for container in containers(pod, "initContainers") {
        let mut needed = of(container);
        if text(container, &["restartPolicy"]) == "Always" {
            add(&mut sum, needed.clone());
            add(&mut of_sidecars, needed);
            raise(&mut of_init, of_sidecars.clone());
        } else {
            add(&mut needed, of_sidecars.clone());
            raise(&mut of_init, needed);
        }
    }
    raise(&mut sum, of_init);
    sum
}

// Upstream: plugin/pkg/admission/limitranger/admission.go, addResourceList
fn add(sum: &mut Option<Quantity>, more: Option<Quantity>) {
    let Some(more) = more else { return };
    *sum = Some(match sum.take() {
        None => more,
        // A sum of that many digits is no quantity that a request could ask for; it stays as it is.
        Some(sum) => sum.add(&more).unwrap_or(sum),
    });
}

// Upstream: plugin/pkg/admission/limitranger/admission.go, maxResourceList
fn raise(most: &mut Option<Quantity>, other: Option<Quantity>) {
    if let Some(other) = other
        && most.as_ref().is_none_or(|most| other > *most)
    {
        *most = Some(other);
    }
}

/// How much processor time or memory a pod asks for altogether, with the resources of the pod itself and its overhead.
// Upstream: component-helpers resource/helpers.go, PodRequests
pub(crate) fn requests_with_overhead(pod: &Value<'_>, resource: &str) -> Option<Quantity> {
    let mut sum = of_pod(pod, "requests", resource, true);
    add(&mut sum, amount(pod, &["spec", "overhead"], resource));
    sum
}

/// Whether a pod asks for no processor time and no memory, so that its quality of service is that of the best effort.
// Upstream: pkg/apis/core/helper/qos/qos.go, GetPodQOS
pub(crate) fn is_best_effort(pod: &Value<'_>, pod_level: bool) -> bool {
    match text(pod, &["status", "qosClass"]) {
        "" => {}
        class => return class == "BestEffort",
    }
    let asks = |value: &Value<'_>| {
        ["requests", "limits"].iter().any(|field| {
            let mut asked = ["cpu", "memory"].iter();
            asked.any(|name| amount(value, &[field], name).is_some_and(|amount| amount.signum() > 0))
        })
    };
    if pod_level && let Some(resources) = pod.at(&["spec", "resources"]) {
        return !asks(resources);
    }
    let mut containers = ["containers", "initContainers"]
        .into_iter()
        .flat_map(|list| containers(pod, list));
    !containers.any(|container| container.get("resources").is_some_and(asks))
}
