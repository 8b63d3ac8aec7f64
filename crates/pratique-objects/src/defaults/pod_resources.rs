//! Resources of a whole Pod, by default what its containers need together.
// Upstream: pkg/apis/core/v1/defaults.go, defaultHugePagePodLimits, defaultPodRequests

use std::collections::BTreeMap;

use pratique_gotext::quantity::Quantity;
use pratique_json::{Object, Value};

use super::field::{is_empty, members, part, pointer, text};
use super::quantities::quantity;

/// Quantities by the name of the resource.
type Resources = BTreeMap<String, Quantity>;

pub(super) fn default(spec: &mut Object<'_>) {
    let Some(Value::Object(resources)) = spec.get("resources") else {
        return;
    };
    let has = |field| !is_empty(resources, field);
    if !has("limits") && !has("requests") {
        return;
    }
    let mut limits = Vec::new();
    for (name, sum) in total(spec, "limits") {
        let is_set = |field| members(resources, field).contains_key(&name);
        if is_huge_page(&name) && !is_set("requests") && !is_set("limits") {
            limits.push((name, sum));
        }
    }
    let sums = total(spec, "requests");
    let Some(resources) = pointer(spec, "resources") else {
        return;
    };
    add(resources, "limits", limits);
    if is_empty(resources, "limits") {
        return;
    }
    let of_containers = sums.into_iter().filter(|(name, _)| is_native(name));
    add(resources, "requests", of_containers);
    let limits = members(resources, "limits").members().iter();
    let of_limits: Vec<_> = limits
        .filter(|(name, _)| is_native(name) || is_huge_page(name))
        .filter_map(|(name, value)| Some((name.to_string(), quantity(value)?)))
        .collect();
    add(resources, "requests", of_limits);
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
fn total(spec: &Object<'_>, field: &str) -> Resources {
    let mut sum = Resources::new();
    for container in structs(spec, "containers") {
        increase(&mut sum, &of(container, field));
    }
    let mut restartable = Resources::new();
    let mut most = Resources::new();
    for container in structs(spec, "initContainers") {
        let mut needed = of(container, field);
        if text(container, "restartPolicy") == "Always" {
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

fn structs<'o, 'a>(object: &'o Object<'a>, field: &str) -> impl Iterator<Item = &'o Object<'a>> {
    let list = object.get(field).and_then(Value::as_array).unwrap_or_default();
    list.iter().filter_map(Value::as_object)
}

fn of(container: &Object<'_>, field: &str) -> Resources {
    let list = members(members(container, "resources"), field);
    let quantities = list
        .iter()
        .filter_map(|(name, value)| Some((name.to_owned(), quantity(value)?)));
    quantities.collect()
}

fn increase(sum: &mut Resources, by: &Resources) {
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

fn raise(to: &mut Resources, by: Resources) {
    for (name, quantity) in by {
        let largest = to.get(&name);
        if largest.is_none_or(|largest| quantity > *largest) {
            to.insert(name, quantity);
        }
    }
}
