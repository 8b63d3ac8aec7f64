//! The default resources of containers.

use pratique_json::Value;
use pratique_plugin::MutableAttributes;

use super::limits::Defaults;
use crate::object::{child_mut, descend_mut, members, text};
use crate::pods::containers;

/// The annotation that says what was set.
const ANNOTATION: &str = "kubernetes.io/limit-ranger";

/// Sets what containers do not ask for to the defaults of a limit range, and says so in an annotation.
// Upstream: plugin/pkg/admission/limitranger/admission.go, mergePodResourceRequirements
pub(super) fn set(defaults: &Defaults, attributes: &mut MutableAttributes<'_, '_>) {
    if defaults.requests.is_empty() && defaults.limits.is_empty() {
        return;
    }
    let mut set = Vec::new();
    for (list, label) in [("containers", "container"), ("initContainers", "init container")] {
        for index in 0..containers(attributes.object(), list).len() {
            set_container(attributes, list, index, label, defaults, &mut set);
        }
    }
    if !set.is_empty()
        && let Some(annotations) = descend_mut(attributes.object_mut(), &["metadata", "annotations"])
    {
        annotations.insert(ANNOTATION, format!("LimitRanger plugin set: {}", set.join("; ")));
    }
}

// Upstream: plugin/pkg/admission/limitranger/admission.go, mergeContainerResources
fn set_container(
    attributes: &mut MutableAttributes<'_, '_>,
    list: &'static str,
    index: usize,
    label: &str,
    defaults: &Defaults,
    set: &mut Vec<String>,
) {
    for (field, defaults) in [("requests", &defaults.requests), ("limits", &defaults.limits)] {
        let Some(container) = containers(attributes.object(), list).get(index) else {
            return;
        };
        let given = members(container, &["resources", field]);
        let is_missing = |name: &str| given.is_none_or(|given| !given.contains_key(name));
        if !defaults.iter().any(|(name, _)| is_missing(name)) {
            continue;
        }
        let missing: Vec<_> = defaults.iter().filter(|(name, _)| is_missing(name)).collect();
        let names: Vec<&str> = missing.iter().map(|(name, _)| name.as_str()).collect();
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
                given.insert(name.clone(), quantity.clone());
            }
        }
    }
}
