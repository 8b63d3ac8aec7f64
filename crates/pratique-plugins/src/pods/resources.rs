//! The resources that containers and pods ask for.

use std::borrow::Cow;

use pratique_gotext::quantity::Quantity;
use pratique_json::Value;

use super::containers;
use crate::object::{members, text};

/// Quantities by the name of the resource, sorted by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResourceList<'v> {
    entries: Vec<(&'v str, Quantity)>,
}

impl<'v> ResourceList<'v> {
    /// The list at a path; none where there is nothing.
    pub(crate) fn at(value: &'v Value<'_>, path: &[&str]) -> Self {
        let listed = members(value, path)
            .into_iter()
            .flat_map(|members| members.iter());
        ResourceList {
            entries: listed
                .filter_map(|(name, value)| Some((name, quantity(value)?)))
                .collect(),
        }
    }

    /// The quantity of a resource.
    pub(crate) fn get(&self, name: &str) -> Option<&Quantity> {
        let found = self.entries.iter().find(|(other, _)| *other == name);
        found.map(|(_, quantity)| quantity)
    }

    /// The quantities by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'v str, &Quantity)> {
        self.entries.iter().map(|(name, quantity)| (*name, quantity))
    }

    /// Sets the quantity of a resource.
    pub(crate) fn set(&mut self, name: &'v str, quantity: Quantity) {
        match self.entries.binary_search_by(|(other, _)| (*other).cmp(name)) {
            Ok(at) => {
                if let Some(entry) = self.entries.get_mut(at) {
                    entry.1 = quantity;
                }
            }
            Err(at) => self.entries.insert(at, (name, quantity)),
        }
    }

    /// Adds the quantities of another list.
    // Upstream: plugin/pkg/admission/limitranger/admission.go, addResourceList
    pub(crate) fn add(&mut self, other: &Self) {
        for (name, quantity) in other.iter() {
            let sum = match self.get(name) {
                None => quantity.clone(),
                // A sum of that many digits is no quantity that a request could ask for; it stays as it is.
                Some(value) => value.add(quantity).unwrap_or_else(|_| value.clone()),
            };
            self.set(name, sum);
        }
    }

    /// Raises the quantities to those of another list.
    // Upstream: plugin/pkg/admission/limitranger/admission.go, maxResourceList
    pub(crate) fn raise(&mut self, other: &Self) {
        for (name, quantity) in other.iter() {
            if self.get(name).is_none_or(|value| quantity > value) {
                self.set(name, quantity.clone());
            }
        }
    }
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

/// What a pod asks for altogether; `field` is `requests` or `limits`.
// Upstream: plugin/pkg/admission/limitranger/admission.go, podRequests and podLimits
pub(crate) fn of_pod<'v>(pod: &'v Value<'_>, field: &str, pod_level: bool) -> ResourceList<'v> {
    let mut sum = ResourceList::default();
    for container in containers(pod, "containers") {
        sum.add(&ResourceList::at(container, &["resources", field]));
    }
    let mut of_sidecars = ResourceList::default();
    let mut of_init = ResourceList::default();
    for container in containers(pod, "initContainers") {
        let mut own = ResourceList::at(container, &["resources", field]);
        if text(container, &["restartPolicy"]) == "Always" {
            sum.add(&own);
            of_sidecars.add(&own);
            of_init.raise(&of_sidecars);
        } else {
            own.add(&of_sidecars);
            of_init.raise(&own);
        }
    }
    sum.raise(&of_init);
    if pod_level {
        for (name, quantity) in ResourceList::at(pod, &["spec", "resources", field]).entries {
            if matches!(name, "cpu" | "memory") {
                sum.set(name, quantity);
            }
        }
    }
    sum
}

/// What a pod asks for altogether, with the resources of the pod itself and its overhead.
// Upstream: component-helpers resource/helpers.go, PodRequests
pub(crate) fn requests_with_overhead<'v>(pod: &'v Value<'_>) -> ResourceList<'v> {
    let mut sum = of_pod(pod, "requests", false);
    for (name, quantity) in ResourceList::at(pod, &["spec", "resources", "requests"]).entries {
        if matches!(name, "cpu" | "memory") || name.starts_with("hugepages-") {
            sum.set(name, quantity);
        }
    }
    sum.add(&ResourceList::at(pod, &["spec", "overhead"]));
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
            let list = ResourceList::at(value, &[field]);
            let mut asked = ["cpu", "memory"].iter().filter_map(|name| list.get(name));
            asked.any(|quantity| quantity.signum() > 0)
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
