//! The default resources of containers.

use std::borrow::Cow;

use pratique_json::{Object, Value};
use pratique_plugin::MutableAttributes;

use crate::object::{child_mut, descend_mut, elements, members, text};
use crate::pods::containers;
use crate::pods::resources::quantity;

/// The annotation that says what was set.
const ANNOTATION: &str = "kubernetes.io/limit-ranger";

/// Resources that are set where a container does not name them, by name.
type Defaults<'r> = Vec<(&'r str, String)>;

/// Sets what containers do not ask for to the defaults of a limit range, and says so in an annotation.
// Upstream: plugin/pkg/admission/limitranger/admission.go, mergePodResourceRequirements
pub(super) fn set(range: &Value<'_>, attributes: &mut MutableAttributes<'_, '_>) {
    let limits = of_range(range, "default");
    let requests = of_range(range, "defaultRequest");
    if limits.is_empty() && requests.is_empty() {
        return;
    }
    let mut set = Vec::new();
    for (list, label) in [("containers", "container"), ("initContainers", "init container")] {
        for index in 0..containers(attributes.object(), list).len() {
            set_container(attributes, list, index, label, [&requests, &limits], &mut set);
        }
    }
    if !set.is_empty()
        && let Some(annotations) = descend_mut(attributes.object_mut(), &["metadata", "annotations"])
    {
        annotations.insert(ANNOTATION, format!("LimitRanger plugin set: {}", set.join("; ")));
    }
}

// Upstream: plugin/pkg/admission/limitranger/admission.go, defaultContainerResourceRequirements
fn of_range<'r>(range: &'r Value<'_>, field: &str) -> Defaults<'r> {
    let mut defaults: Defaults<'r> = Vec::new();
    for item in elements(range, &["spec", "limits"]) {
        if text(item, &["type"]) != "Container" {
            continue;
        }
        let listed = members(item, &[field]).into_iter().flat_map(Object::iter);
        for (name, value) in listed {
            let Some(quantity) = quantity(value) else { continue };
            match defaults.iter_mut().find(|(other, _)| *other == name) {
                Some(entry) => entry.1 = quantity.to_string(),
                None => defaults.push((name, quantity.to_string())),
            }
        }
    }
    defaults.sort_unstable_by_key(|(name, _)| *name);
    defaults
}

// Upstream: plugin/pkg/admission/limitranger/admission.go, mergeContainerResources
fn set_container(
    attributes: &mut MutableAttributes<'_, '_>,
    list: &'static str,
    index: usize,
    label: &str,
    defaults: [&Defaults<'_>; 2],
    set: &mut Vec<String>,
) {
    for (field, defaults) in ["requests", "limits"].into_iter().zip(defaults) {
        let Some(container) = containers(attributes.object(), list).get(index) else {
            return;
        };
        let given = members(container, &["resources", field]);
        let is_missing = |name: &str| given.is_none_or(|given| !given.contains_key(name));
        let missing: Vec<_> = defaults.iter().filter(|(name, _)| is_missing(name)).collect();
        if missing.is_empty() {
            continue;
        }
        let names: Vec<&str> = missing.iter().map(|(name, _)| *name).collect();
        let what = field.trim_end_matches('s');
        let name = text(container, &["name"]);
        set.push(format!("{} {what} for {label} {name}", names.join(", ")));
        let Some(Value::Object(spec)) = child_mut(attributes.object_mut(), "spec") else {
            return;
        };
        let Some(Value::Array(containers)) = spec.get_mut(list) else {
            return;
        };
        let container = containers.get_mut(index);
        if let Some(given) = container.and_then(|container| descend_mut(container, &["resources", field])) {
            for (name, quantity) in missing {
                given.insert(Cow::Owned((*name).to_owned()), quantity.clone());
            }
        }
    }
}
