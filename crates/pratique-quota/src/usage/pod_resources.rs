//! The requests and limits of a whole pod.

use pratique_json::Value;

use super::rules::UsageRules;
use crate::fields::{items, present, text_at};
use crate::resource_list::{members, quantity};
use crate::{QuotaError, ResourceList};

/// Requests or limits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ResourceSide {
    Requests,
    Limits,
}

impl ResourceSide {
    const fn field(self) -> &'static str {
        match self {
            ResourceSide::Requests => "requests",
            ResourceSide::Limits => "limits",
        }
    }
}

/// The requests or limits of a pod, with its overhead.
// Upstream: component-helpers/resource/helpers.go, PodRequests, PodLimits
pub(super) fn total<'a>(
    pod: &'a Value<'a>,
    side: ResourceSide,
    rules: UsageRules,
) -> Result<ResourceList<'a>, QuotaError> {
    let Some(spec) = pod.get("spec") else {
        return Ok(ResourceList::default());
    };
    let mut total = of_containers(pod, spec, side, rules)?;
    // Upstream: component-helpers/resource/helpers.go, omitPartiallySetCPUMemLimits, since 1.38
    if side == ResourceSide::Limits && rules.release.at_least(1, 38) {
        for name in ["cpu", "memory"] {
            if is_unlimited(spec, name)? {
                total.remove(name);
            }
        }
    }
    let is_set = match side {
        ResourceSide::Requests => has_supported(spec, &[ResourceSide::Requests]),
        ResourceSide::Limits => has_supported(spec, &[ResourceSide::Requests, ResourceSide::Limits]),
    };
    if rules.has_pod_level && is_set {
        let amounts = ResourceList::read(spec.at(&["resources", side.field()]))?;
        for (name, amount) in amounts.into_iter().filter(|(name, _)| is_supported(name)) {
            total.set(name, amount);
        }
    }
    let overhead = ResourceList::read(spec.get("overhead"))?;
    for (name, amount) in overhead {
        // Limits are raised where there are some.
        let is_counted =
            side == ResourceSide::Requests || total.get(&name).is_some_and(|limit| !limit.is_zero());
        if is_counted {
            total.add(name, &amount)?;
        }
    }
    Ok(total)
}

/// Whether a container of a pod has no limit of a resource.
fn is_unlimited(spec: &Value<'_>, name: &str) -> Result<bool, QuotaError> {
    for container in ["initContainers", "containers"]
        .into_iter()
        .flat_map(|list| items(spec, list))
    {
        match container.at(&["resources", "limits", name]) {
            Some(limit) if !quantity(limit)?.is_zero() => {}
            _ => return Ok(true),
        }
    }
    Ok(false)
}

/// Whether a pod has pod-level resources.
// Upstream: component-helpers/resource/helpers.go, IsPodLevelResourcesSet
pub(super) fn has_pod_level_resources(pod: &Value<'_>) -> bool {
    pod.get("spec")
        .is_some_and(|spec| has_supported(spec, &[ResourceSide::Requests, ResourceSide::Limits]))
}

fn has_supported<'a>(spec: &'a Value<'a>, sides: &[ResourceSide]) -> bool {
    let has = |side: &ResourceSide| {
        let mut names = members(spec.at(&["resources", side.field()]));
        names.any(|(name, _)| is_supported(name))
    };
    sides.iter().any(has)
}

fn is_supported(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || name.starts_with("hugepages-")
}

/// The most that the containers declare, were allocated and were given: while a pod is resized these differ.
// Upstream: component-helpers/resource/helpers.go, AggregateContainerRequests, AggregateContainerLimits
fn of_containers<'a>(
    pod: &'a Value<'a>,
    spec: &'a Value<'a>,
    side: ResourceSide,
    rules: UsageRules,
) -> Result<ResourceList<'a>, QuotaError> {
    let declared = |container: &'a Value<'a>, _: ContainerRole| {
        ResourceList::read(container.at(&["resources", side.field()]))
    };
    let statuses = ContainerStatuses::new(pod);
    if statuses.say_nothing() || !rules.has_statuses {
        return sum(spec, declared);
    }
    // Upstream: component-helpers/resource/helpers.go: before 1.37 the maximum was taken for each container, and then summed.
    if !rules.release.at_least(1, 37) {
        return sum(spec, |container, role| match role {
            ContainerRole::Init => declared(container, role),
            ContainerRole::Main | ContainerRole::Sidecar => statuses.most(container, side),
        });
    }
    // What a node cannot do is not going to be used.
    let mut most = if statuses.is_infeasible {
        ResourceList::default()
    } else {
        sum(spec, declared)?
    };
    most.raise_to(&sum(spec, |container, _| {
        ResourceList::read(statuses.actuated(container, side))
    })?);
    if side == ResourceSide::Requests {
        most.raise_to(&sum(spec, |container, _| {
            ResourceList::read(statuses.allocated(container))
        })?);
    }
    Ok(most)
}

/// The role of a container in its pod.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ContainerRole {
    Main,
    /// It ends before the next container starts.
    Init,
    /// An init container that keeps running.
    Sidecar,
}

/// The sum of the amounts of containers, or what init containers need if that is more.
// Upstream: component-helpers/resource/helpers.go, aggregateContainerResourcesByFn
fn sum<'a>(
    spec: &'a Value<'a>,
    amounts: impl Fn(&'a Value<'a>, ContainerRole) -> Result<ResourceList<'a>, QuotaError>,
) -> Result<ResourceList<'a>, QuotaError> {
    let mut sum = ResourceList::default();
    for container in items(spec, "containers") {
        sum.add_all(&amounts(container, ContainerRole::Main)?)?;
    }
    let mut sidecars = ResourceList::default();
    let mut most = ResourceList::default();
    for container in items(spec, "initContainers") {
        if text_at(container, &["restartPolicy"]) == "Always" {
            let amounts = amounts(container, ContainerRole::Sidecar)?;
            sum.add_all(&amounts)?;
            sidecars.add_all(&amounts)?;
            most.raise_to(&sidecars);
        } else {
            let mut amounts = amounts(container, ContainerRole::Init)?;
            amounts.add_all(&sidecars)?;
            most.raise_to(&amounts);
        }
    }
    sum.raise_to(&most);
    Ok(sum)
}

/// The statuses of containers: what a pod uses while it is resized.
struct ContainerStatuses<'a> {
    containers: &'a [Value<'a>],
    init_containers: &'a [Value<'a>],
    is_infeasible: bool,
}

impl<'a> ContainerStatuses<'a> {
    // Upstream: component-helpers/resource/helpers.go, IsPodResizeInfeasible
    fn new(pod: &'a Value<'a>) -> Self {
        let status = pod.get("status");
        let list = |name| status.map_or(&[] as &[_], |status| items(status, name));
        let mut conditions = list("conditions").iter();
        let pending = conditions.find(|condition| text_at(condition, &["type"]) == "PodResizePending");
        ContainerStatuses {
            containers: list("containerStatuses"),
            init_containers: list("initContainerStatuses"),
            is_infeasible: pending.is_some_and(|condition| text_at(condition, &["reason"]) == "Infeasible"),
        }
    }

    /// Whether only what the containers declare counts.
    fn say_nothing(&self) -> bool {
        self.containers.is_empty() && self.init_containers.is_empty() && !self.is_infeasible
    }

    /// The status of a container: the first of its name.
    // Upstream: component-helpers/resource/helpers.go, findContainerStatus
    fn find(&self, container: &Value<'_>) -> Option<&'a Value<'a>> {
        let name = text_at(container, &["name"]);
        let mut statuses = self.containers.iter().chain(self.init_containers);
        statuses.find(|status| text_at(status, &["name"]) == name)
    }

    /// The requests that a node has allocated to a container.
    // Upstream: component-helpers/resource/helpers.go, containerAllocatedRequests
    fn allocated(&self, container: &'a Value<'a>) -> Option<&'a Value<'a>> {
        let status = self.find(container);
        status
            .and_then(|status| present(status, "allocatedResources"))
            .or_else(|| self.declared(container, ResourceSide::Requests))
    }

    /// The amounts that a container has.
    // Upstream: component-helpers/resource/helpers.go, containerActuatedRequests, containerActuatedLimits
    fn actuated(&self, container: &'a Value<'a>, side: ResourceSide) -> Option<&'a Value<'a>> {
        let status = self.find(container);
        let resources = status.and_then(|status| present(status, "resources"));
        if let Some(amounts) = resources.and_then(|resources| present(resources, side.field())) {
            return Some(amounts);
        }
        match side {
            ResourceSide::Requests => self.allocated(container),
            ResourceSide::Limits => self.declared(container, side),
        }
    }

    /// The most that a container declares, was allocated and was given, where its status says what it has.
    // Upstream: component-helpers/resource/helpers.go, determineEffectiveRequests, determineEffectiveLimits, until 1.36
    fn most(&self, container: &'a Value<'a>, side: ResourceSide) -> Result<ResourceList<'a>, QuotaError> {
        let declared = container.at(&["resources", side.field()]);
        // Of several statuses of a name, the last counted.
        let name = text_at(container, &["name"]);
        let mut statuses = self.containers.iter().chain(self.init_containers).rev();
        let status = statuses.find(|status| text_at(status, &["name"]) == name);
        let Some((status, resources)) = status.zip(status.and_then(|status| present(status, "resources")))
        else {
            return ResourceList::read(declared);
        };
        let mut most = ResourceList::read(declared.filter(|_| !self.is_infeasible))?;
        most.raise_to(&ResourceList::read(resources.get(side.field()))?);
        if side == ResourceSide::Requests {
            most.raise_to(&ResourceList::read(status.get("allocatedResources"))?);
        }
        Ok(most)
    }

    /// The amounts that a container declares, unless its node cannot follow.
    fn declared(&self, container: &'a Value<'a>, side: ResourceSide) -> Option<&'a Value<'a>> {
        let declared = container.at(&["resources", side.field()]);
        declared.filter(|_| !self.is_infeasible)
    }
}

#[cfg(test)]
mod tests {
    use pratique_json::parse;
    use pratique_schema::{FeatureGates, Release};

    use super::*;

    #[track_caller]
    fn check(pod: &str, side: ResourceSide, gates: FeatureGates, expected: &str) {
        let pod = parse(pod.as_bytes()).unwrap();
        let found = total(&pod, side, UsageRules::new(gates)).unwrap();
        assert_eq!(found.to_string(), expected, "{}", gates.release());
    }

    const RESIZED: &str = r#"{
        "spec": {"containers": [
            {"name": "a", "resources": {"requests": {"cpu": "1"}}},
            {"name": "b", "resources": {"requests": {"cpu": "3"}}}]},
        "status": {"containerStatuses": [
            {"name": "a", "allocatedResources": {"cpu": "1"}, "resources": {"requests": {"cpu": "3"}}},
            {"name": "b", "allocatedResources": {"cpu": "3"}, "resources": {"requests": {"cpu": "1"}}}]}}"#;

    #[test]
    fn a_resized_pod_uses_the_most_of_each_container_before_1_37() {
        for release in Release::list().iter().copied() {
            let gates = FeatureGates::new(release);
            let expected = if release.at_least(1, 37) { "cpu=4" } else { "cpu=6" };
            check(RESIZED, ResourceSide::Requests, gates, expected);
        }
        let gates = FeatureGates::new(Release::by_version("1.34").unwrap());
        let gates = gates.with("InPlacePodVerticalScaling", false);
        check(RESIZED, ResourceSide::Requests, gates, "cpu=4");
    }

    #[test]
    fn limits_that_a_container_lacks_do_not_count_since_1_38() {
        let pod = r#"{"spec": {"containers": [
            {"name": "a", "resources": {"limits": {"cpu": "1", "memory": "1"}}},
            {"name": "b", "resources": {"limits": {"memory": "1"}}}]}}"#;
        for release in Release::list().iter().copied() {
            let expected = if release.at_least(1, 38) {
                "memory=2"
            } else {
                "cpu=1,memory=2"
            };
            check(pod, ResourceSide::Limits, FeatureGates::new(release), expected);
        }
    }
}
