//! The requests and limits of a whole pod.

use pratique_json::Value;

use crate::fields::{items, present, text};
use crate::resource_list::members;
use crate::{QuotaError, ResourceList};

/// Requests or limits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Requests,
    Limits,
}

impl Side {
    const fn field(self) -> &'static str {
        match self {
            Side::Requests => "requests",
            Side::Limits => "limits",
        }
    }
}

/// The requests or limits of a pod, with its overhead.
// Upstream: component-helpers/resource/helpers.go, PodRequests, PodLimits
pub(super) fn total<'a>(
    pod: &'a Value<'a>,
    side: Side,
    pod_level: bool,
) -> Result<ResourceList<'a>, QuotaError> {
    let Some(spec) = pod.get("spec") else {
        return Ok(ResourceList::default());
    };
    let mut total = of_containers(pod, spec, side)?;
    let is_set = match side {
        Side::Requests => has_supported(spec, &[Side::Requests]),
        Side::Limits => has_supported(spec, &[Side::Requests, Side::Limits]),
    };
    if pod_level && is_set {
        let amounts = ResourceList::read(spec.at(&["resources", side.field()]))?;
        for (name, amount) in amounts.into_iter().filter(|(name, _)| is_supported(name)) {
            total.set(name, amount);
        }
    }
    let overhead = ResourceList::read(spec.get("overhead"))?;
    for (name, amount) in overhead {
        // Limits are raised where there are some.
        let is_counted = side == Side::Requests || total.get(&name).is_some_and(|limit| !limit.is_zero());
        if is_counted {
            total.add(name, &amount)?;
        }
    }
    Ok(total)
}

/// Whether a pod has pod-level resources.
// Upstream: component-helpers/resource/helpers.go, IsPodLevelResourcesSet
pub(super) fn has_pod_level_resources(pod: &Value<'_>) -> bool {
    pod.get("spec")
        .is_some_and(|spec| has_supported(spec, &[Side::Requests, Side::Limits]))
}

fn has_supported<'a>(spec: &'a Value<'a>, sides: &[Side]) -> bool {
    let has = |side: &Side| {
        let mut names = members(spec.at(&["resources", side.field()]));
        names.any(|(name, _)| is_supported(name))
    };
    sides.iter().any(has)
}

fn is_supported(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || name.starts_with("hugepages-")
}

/// The most that the containers declare, were allocated and were given: while a pod is resized these differ.
///
/// Before 1.37 the maximum was taken for each container and then summed, `allocatedResources` counted only beside `resources`, and
/// init containers that end counted as they are declared.
// Upstream: component-helpers/resource/helpers.go, AggregateContainerRequests, AggregateContainerLimits
fn of_containers<'a>(
    pod: &'a Value<'a>,
    spec: &'a Value<'a>,
    side: Side,
) -> Result<ResourceList<'a>, QuotaError> {
    let statuses = Statuses::new(pod);
    if statuses.say_nothing() {
        return sum(spec, |container| container.at(&["resources", side.field()]));
    }
    // What a node cannot do is not going to be used.
    let mut most = if statuses.is_infeasible {
        ResourceList::default()
    } else {
        sum(spec, |container| container.at(&["resources", side.field()]))?
    };
    most.raise_to(&sum(spec, |container| statuses.actuated(container, side))?);
    if side == Side::Requests {
        most.raise_to(&sum(spec, |container| statuses.allocated(container))?);
    }
    Ok(most)
}

/// The sum of the amounts of containers, or what init containers need if that is more. Sidecars are init containers that keep
/// running.
// Upstream: component-helpers/resource/helpers.go, aggregateContainerResourcesByFn
fn sum<'a>(
    spec: &'a Value<'a>,
    amounts: impl Fn(&'a Value<'a>) -> Option<&'a Value<'a>>,
) -> Result<ResourceList<'a>, QuotaError> {
    let mut sum = ResourceList::default();
    for container in items(spec, "containers") {
        sum.add_all(&ResourceList::read(amounts(container))?)?;
    }
    let mut sidecars = ResourceList::default();
    let mut most = ResourceList::default();
    for container in items(spec, "initContainers") {
        let mut amounts = ResourceList::read(amounts(container))?;
        if text(container, "restartPolicy") == "Always" {
            sum.add_all(&amounts)?;
            sidecars.add_all(&amounts)?;
            most.raise_to(&sidecars);
        } else {
            amounts.add_all(&sidecars)?;
            most.raise_to(&amounts);
        }
    }
    sum.raise_to(&most);
    Ok(sum)
}

/// The statuses of containers: what a pod uses while it is resized.
struct Statuses<'a> {
    containers: &'a [Value<'a>],
    init_containers: &'a [Value<'a>],
    is_infeasible: bool,
}

impl<'a> Statuses<'a> {
    // Upstream: component-helpers/resource/helpers.go, IsPodResizeInfeasible
    fn new(pod: &'a Value<'a>) -> Self {
        let status = pod.get("status");
        let list = |name| status.map_or(&[] as &[_], |status| items(status, name));
        let mut conditions = list("conditions").iter();
        let pending = conditions.find(|condition| text(condition, "type") == "PodResizePending");
        Statuses {
            containers: list("containerStatuses"),
            init_containers: list("initContainerStatuses"),
            is_infeasible: pending.is_some_and(|condition| text(condition, "reason") == "Infeasible"),
        }
    }

    /// Whether only what the containers declare counts.
    fn say_nothing(&self) -> bool {
        self.containers.is_empty() && self.init_containers.is_empty() && !self.is_infeasible
    }

    /// The status of a container: the first of its name.
    // Upstream: component-helpers/resource/helpers.go, findContainerStatus
    fn of(&self, container: &Value<'_>) -> Option<&'a Value<'a>> {
        let name = text(container, "name");
        let mut statuses = self.containers.iter().chain(self.init_containers);
        statuses.find(|status| text(status, "name") == name)
    }

    /// The requests that a node has allocated to a container.
    // Upstream: component-helpers/resource/helpers.go, containerAllocatedRequests
    fn allocated(&self, container: &'a Value<'a>) -> Option<&'a Value<'a>> {
        let status = self.of(container);
        status
            .and_then(|status| present(status, "allocatedResources"))
            .or_else(|| self.declared(container, Side::Requests))
    }

    /// The amounts that a container has.
    // Upstream: component-helpers/resource/helpers.go, containerActuatedRequests, containerActuatedLimits
    fn actuated(&self, container: &'a Value<'a>, side: Side) -> Option<&'a Value<'a>> {
        let status = self.of(container);
        let resources = status.and_then(|status| present(status, "resources"));
        if let Some(amounts) = resources.and_then(|resources| present(resources, side.field())) {
            return Some(amounts);
        }
        match side {
            Side::Requests => self.allocated(container),
            Side::Limits => self.declared(container, side),
        }
    }

    /// The amounts that a container declares, unless its node cannot follow.
    fn declared(&self, container: &'a Value<'a>, side: Side) -> Option<&'a Value<'a>> {
        let declared = container.at(&["resources", side.field()]);
        declared.filter(|_| !self.is_infeasible)
    }
}
