//! The requests and limits of a whole pod.

use pratique_json::Value;

use crate::fields::{items, present, text, text_at};
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

/// The sum of containers, or what init containers need if that is more. Sidecars are init containers that keep running.
// Upstream: component-helpers/resource/helpers.go, AggregateContainerRequests
fn of_containers<'a>(
    pod: &'a Value<'a>,
    spec: &'a Value<'a>,
    side: Side,
) -> Result<ResourceList<'a>, QuotaError> {
    let statuses = Statuses::new(pod);
    let mut sum = ResourceList::default();
    for container in items(spec, "containers") {
        sum.add_all(&statuses.effective(container, side)?)?;
    }
    let mut sidecars = ResourceList::default();
    let mut most = ResourceList::default();
    for container in items(spec, "initContainers") {
        if text(container, "restartPolicy") == "Always" {
            let amounts = statuses.effective(container, side)?;
            sum.add_all(&amounts)?;
            sidecars.add_all(&amounts)?;
            most.raise_to(&sidecars);
        } else {
            let mut amounts = declared(container, side)?;
            amounts.add_all(&sidecars)?;
            most.raise_to(&amounts);
        }
    }
    sum.raise_to(&most);
    Ok(sum)
}

fn declared<'a>(container: &'a Value<'a>, side: Side) -> Result<ResourceList<'a>, QuotaError> {
    ResourceList::read(container.at(&["resources", side.field()]))
}

/// The statuses of containers: what a pod uses while it is resized.
struct Statuses<'a> {
    containers: &'a [Value<'a>],
    init_containers: &'a [Value<'a>],
    is_infeasible: bool,
}

impl<'a> Statuses<'a> {
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

    /// The status of a container that has resources; the last one of a name counts.
    fn of(&self, name: &str) -> Option<&'a Value<'a>> {
        let mut statuses = self
            .init_containers
            .iter()
            .rev()
            .chain(self.containers.iter().rev());
        let status = statuses.find(|status| text(status, "name") == name)?;
        present(status, "resources").map(|_| status)
    }

    /// The amounts that a container declares, or still has during a resize.
    // Upstream: component-helpers/resource/helpers.go, determineEffectiveRequests, determineEffectiveLimits
    fn effective(&self, container: &'a Value<'a>, side: Side) -> Result<ResourceList<'a>, QuotaError> {
        let Some(status) = self.of(text_at(container, &["name"])) else {
            return declared(container, side);
        };
        let actuated = ResourceList::read(status.at(&["resources", side.field()]))?;
        let mut amounts = match self.is_infeasible {
            true => actuated,
            false => {
                let mut amounts = declared(container, side)?;
                amounts.raise_to(&actuated);
                amounts
            }
        };
        if side == Side::Requests {
            amounts.raise_to(&ResourceList::read(status.get("allocatedResources"))?);
        }
        Ok(amounts)
    }
}
