//! Resources of a whole Pod, by default what its containers need together.
// Upstream: pkg/api/pod/util.go, DefaultPodLevelResources

use std::collections::BTreeMap;

use pratique_gotext::quantity::Quantity;
use pratique_json::{Object, Value};
use pratique_schema::{FeatureGates, Release};

use crate::defaults::field::{is_empty, members, part, pointer, text_member};
use crate::defaults::quantities::quantity;

/// Quantities by the name of the resource.
type ResourceQuantities = BTreeMap<String, Quantity>;

/// Completes the resources of a whole Pod, as an API server does when it has mutated a Pod that is created or resized.
/// A Pod that states none stays as it is.
///
/// ```
/// use pratique_schema::FeatureGates;
///
/// let pod = br#"{"spec":{"containers":[{"resources":{"limits":{"cpu":"1"}}}],"resources":{"requests":{"cpu":"2"}}}}"#;
/// let mut pod = pratique_json::parse(pod)?;
/// pratique_objects::complete_pod_resources(&mut pod, FeatureGates::default());
/// assert_eq!(pod.at(&["spec", "resources", "limits", "cpu"]).and_then(|of| of.as_str()), Some("2"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn complete_pod_resources(pod: &mut Value<'_>, gates: FeatureGates) {
    if let Some(Value::Object(spec)) = pod.get_mut("spec")
        && gates.is_on("PodLevelResources")
        && gates.is_on("PodLevelResourcesFixDefaulting")
    {
        complete(spec, gates.release());
    }
}

/// Completes the resources of a whole Pod as defaulting does without the gate PodLevelResourcesFixDefaulting: no limits but those
/// of huge pages, and requests only where there are limits.
// Upstream: pkg/apis/core/v1/defaults.go, defaultHugePagePodLimits, defaultPodRequests
pub(crate) fn default_requests(spec: &mut Object<'_>) {
    let requests = total(spec, "requests");
    let limits = total(spec, "limits");
    let Some(Value::Object(resources)) = spec.get("resources") else {
        return;
    };
    if is_empty(resources, "limits") && is_empty(resources, "requests") {
        return;
    }
    if let Some(resources) = pointer(spec, "resources") {
        limit_huge_pages(resources, limits);
        if !is_empty(resources, "limits") {
            request(resources, requests);
        }
    }
}

fn complete(spec: &mut Object<'_>, release: &Release) {
    let Some(Value::Object(resources)) = spec.get("resources") else {
        return;
    };
    if is_empty(resources, "limits") && is_empty(resources, "requests") {
        return;
    }
    let requests = total(spec, "requests");
    let limits = total(spec, "limits");
    let limited: Vec<&Object<'_>> = CONTAINERS
        .iter()
        .flat_map(|list| structs(spec, list))
        .map(|container| members(members(container, "resources"), "limits"))
        .collect();
    // Upstream: component-helpers/resource/helpers.go, omitPartiallySetCPUMemLimits, since 1.38: a limit of zero is none.
    let omits_zero = release.at_least(1, 38);
    let limits_something = |limit: &Value<'_>| quantity(limit).is_none_or(|limit| !limit.is_zero());
    let is_limited = |name: &str| {
        let mut limits = limited.iter().map(|limits| limits.get(name));
        let counts_zero = !(omits_zero && is_native(name));
        limits.all(|limit| limit.is_some_and(|limit| counts_zero || limits_something(limit)))
    };
    let all_limited: ResourceQuantities = limits
        .iter()
        .filter(|(name, _)| is_limited(name))
        .map(|(name, limit)| (name.clone(), limit.clone()))
        .collect();
    if let Some(resources) = pointer(spec, "resources") {
        limit_huge_pages(resources, limits);
        request(resources, requests);
        limit(resources, all_limited);
    }
}

/// The lists of containers that must all be limited for a limit of the Pod to follow.
const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

// Upstream: defaultHugePagePodLevelLimits
fn limit_huge_pages(resources: &mut Object<'_>, of_containers: ResourceQuantities) {
    let is_requested = |name: &str| members(resources, "requests").contains_key(name);
    let pages: Vec<_> = of_containers
        .into_iter()
        .filter(|(name, _)| is_huge_page(name) && !is_requested(name))
        .collect();
    add(resources, "limits", pages);
}

// Upstream: defaultPodLevelRequests
fn request(resources: &mut Object<'_>, of_containers: ResourceQuantities) {
    let of_containers = of_containers.into_iter().filter(|(name, _)| is_native(name));
    add(resources, "requests", of_containers);
    let limits = members(resources, "limits").members().iter();
    let of_limits: Vec<_> = limits
        .filter(|(name, _)| is_native(name) || is_huge_page(name))
        .filter_map(|(name, value)| Some((name.to_string(), quantity(value)?)))
        .collect();
    add(resources, "requests", of_limits);
}

/// A limit is no less than what is requested, or the Pod would be refused.
// Upstream: defaultPodLevelLimits
fn limit(resources: &mut Object<'_>, of_containers: ResourceQuantities) {
    let requested = members(resources, "requests").iter();
    let limits: Vec<_> = requested
        .filter(|(name, _)| is_native(name) || is_huge_page(name))
        .filter_map(|(name, request)| {
            let limit = of_containers.get(name)?.clone();
            let request = quantity(request).filter(|request| *request > limit);
            Some((name.to_owned(), request.unwrap_or(limit)))
        })
        .collect();
    add(resources, "limits", limits);
}

/// Adds quantities where there are none of the name.
fn add(
    resources: &mut Object<'_>,
    field: &'static str,
    quantities: impl IntoIterator<Item = (String, Quantity)>,
) {
    for (name, quantity) in quantities {
        if let Some(list) = part(resources, field)
            && !list.contains_key(&name)
        {
            list.insert(name, quantity.to_string());
        }
    }
}

fn is_native(name: &str) -> bool {
    matches!(name, "cpu" | "memory")
}

fn is_huge_page(name: &str) -> bool {
    name.starts_with("hugepages-")
}

/// The most that the containers of a Pod need at a time.
// Upstream: component-helpers/resource/helpers.go, AggregateContainerRequests, AggregateContainerLimits
fn total(spec: &Object<'_>, field: &str) -> ResourceQuantities {
    let mut sum = ResourceQuantities::new();
    for container in structs(spec, "containers") {
        increase(&mut sum, &resources_of(container, field));
    }
    let mut restartable = ResourceQuantities::new();
    let mut most = ResourceQuantities::new();
    for container in structs(spec, "initContainers") {
        let mut needed = resources_of(container, field);
        if text_member(container, "restartPolicy") == "Always" {
            increase(&mut sum, &needed);
            increase(&mut restartable, &needed);
            needed.clone_from(&restartable);
        } else {
            increase(&mut needed, &restartable);
        }
        raise(&mut most, needed);
    }
    raise(&mut sum, most);
    sum
}

fn structs<'o, 'a>(
    object: &'o Object<'a>,
    field: &str,
) -> impl Iterator<Item = &'o Object<'a>> + use<'o, 'a> {
    let list = object.get(field).and_then(Value::as_array).unwrap_or_default();
    list.iter().filter_map(Value::as_object)
}

fn resources_of(container: &Object<'_>, field: &str) -> ResourceQuantities {
    let list = members(members(container, "resources"), field);
    let quantities = list
        .iter()
        .filter_map(|(name, value)| Some((name.to_owned(), quantity(value)?)));
    quantities.collect()
}

fn increase(sum: &mut ResourceQuantities, by: &ResourceQuantities) {
    for (name, quantity) in by {
        match sum.get_mut(name) {
            None => {
                sum.insert(name.clone(), quantity.clone());
            }
            Some(sum) => {
                if let Ok(added) = sum.add(quantity) {
                    *sum = added;
                }
            }
        }
    }
}

fn raise(to: &mut ResourceQuantities, by: ResourceQuantities) {
    for (name, quantity) in by {
        let largest = to.get(&name);
        if largest.is_none_or(|largest| quantity > *largest) {
            to.insert(name, quantity);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(containers: &str, resources: &str, expected: &str) {
        let text = format!(r#"{{"spec":{{"containers":[{containers}],"resources":{resources}}}}}"#);
        let mut pod = pratique_json::parse(text.as_bytes()).unwrap();
        complete_pod_resources(&mut pod, FeatureGates::default());
        let completed = pod.at(&["spec", "resources"]).unwrap();
        assert_eq!(completed.to_string(), expected, "{containers} {resources}");
    }

    #[test]
    fn what_is_left_out_follows_from_containers() {
        let limited = r#"{"resources":{"limits":{"cpu":"1","memory":"128Mi"},"requests":{"cpu":"1","memory":"128Mi"}}}"#;
        let both = r#"{"limits":{"cpu":"2","memory":"128Mi"},"requests":{"cpu":"2","memory":"128Mi"}}"#;
        check(limited, r#"{"requests":{"cpu":"2"}}"#, both);
        check(
            &format!("{limited},{{}}"),
            r#"{"requests":{"cpu":"2"}}"#,
            r#"{"requests":{"cpu":"2","memory":"128Mi"}}"#,
        );
        check(
            "{}",
            r#"{"limits":{"cpu":"1"}}"#,
            r#"{"limits":{"cpu":"1"},"requests":{"cpu":"1"}}"#,
        );
        check(limited, "{}", "{}");
    }

    #[test]
    fn huge_pages_of_containers_are_limited() {
        let container = r#"{"resources":{"limits":{"hugepages-2Mi":"4Mi"}}}"#;
        check(
            container,
            r#"{"limits":{"cpu":"1"}}"#,
            r#"{"limits":{"cpu":"1","hugepages-2Mi":"4Mi"},"requests":{"cpu":"1","hugepages-2Mi":"4Mi"}}"#,
        );
    }
}
