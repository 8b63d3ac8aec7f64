//! The requests and limits of containers and pods.

use std::borrow::Cow;

use pratique_gotext::quantity::Quantity;
use pratique_json::{Object, Value};

use super::containers;
use crate::object::{members, text};

/// The amount of a resource in the list at a path. Amounts are parsed only when they are needed, as few of them are.
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

/// The role of a container in its pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContainerRole {
    Main,
    /// It ends before the next container starts.
    Init,
    /// An init container that goes on.
    Sidecar,
}

impl ContainerRole {
    /// The role of an init container.
    pub(crate) fn of_init(container: &Value<'_>) -> Self {
        match text(container, &["restartPolicy"]) {
            "Always" => ContainerRole::Sidecar,
            _ => ContainerRole::Init,
        }
    }
}

/// The total amount of a resource for the containers of a pod.
#[derive(Debug, Default)]
pub(crate) struct ResourceSum {
    running: Option<Quantity>,
    sidecars: Option<Quantity>,
    /// The largest amount before the main containers run.
    before: Option<Quantity>,
}

// Upstream: plugin/pkg/admission/limitranger/admission.go, podRequests and podLimits
impl ResourceSum {
    /// Adds the amount of a container. Init containers are added in their order.
    pub(crate) fn add(&mut self, role: ContainerRole, amount: Option<&Quantity>) {
        match role {
            ContainerRole::Main => add(&mut self.running, amount),
            ContainerRole::Sidecar => {
                add(&mut self.running, amount);
                add(&mut self.sidecars, amount);
                raise(&mut self.before, self.sidecars.clone());
            }
            ContainerRole::Init => {
                let mut needed = amount.cloned();
                add(&mut needed, self.sidecars.as_ref());
                raise(&mut self.before, needed);
            }
        }
    }

    pub(crate) fn total(mut self) -> Option<Quantity> {
        raise(&mut self.running, self.before);
        self.running
    }
}

/// The total amount of a resource for a pod; `field` is `requests` or `limits`.
fn of_pod(pod: &Value<'_>, field: &str, resource: &str) -> Option<Quantity> {
    let of = |container: &Value<'_>| amount(container, &["resources", field], resource);
    let mut sum = ResourceSum::default();
    for container in containers(pod, "containers") {
        sum.add(ContainerRole::Main, of(container).as_ref());
    }
    for container in containers(pod, "initContainers") {
        sum.add(ContainerRole::of_init(container), of(container).as_ref());
    }
    sum.total()
}

/// The amount of a resource in the pod-level `resources`.
pub(crate) fn of_pod_itself(resources: &Value<'_>, field: &str, resource: &str) -> Option<Quantity> {
    match resource {
        "cpu" | "memory" => amount(resources, &[field], resource),
        _ => None,
    }
}

// Upstream: plugin/pkg/admission/limitranger/admission.go, addResourceList
fn add(sum: &mut Option<Quantity>, more: Option<&Quantity>) {
    let Some(more) = more else { return };
    *sum = Some(match sum.take() {
        None => more.clone(),
        // A sum that overflows is no valid quantity of a request; it stays as it is.
        Some(sum) => sum.add(more).unwrap_or(sum),
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

/// The total CPU or memory request of a pod, with pod-level resources and its overhead.
// Upstream: component-helpers/resource/helpers.go, PodRequests
pub(crate) fn requests_with_overhead(pod: &Value<'_>, resource: &str) -> Option<Quantity> {
    let of_itself = pod.at(&["spec", "resources"]);
    let of_itself = of_itself.and_then(|resources| of_pod_itself(resources, "requests", resource));
    let mut sum = of_itself.or_else(|| of_pod(pod, "requests", resource));
    add(&mut sum, amount(pod, &["spec", "overhead"], resource).as_ref());
    sum
}

/// Whether a pod requests no CPU and no memory, so that its QoS class is `BestEffort`.
// Upstream: pkg/apis/core/helper/qos/qos.go, GetPodQOS
pub(crate) fn is_best_effort(pod: &Value<'_>, pod_level: bool) -> bool {
    match text(pod, &["status", "qosClass"]) {
        "" => {}
        class => return class == "BestEffort",
    }
    let asks = |value: &Value<'_>| {
        ["requests", "limits"].iter().any(|field| {
            let mut resources = ["cpu", "memory"].iter();
            resources.any(|name| amount(value, &[field], name).is_some_and(|amount| amount.signum() > 0))
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
