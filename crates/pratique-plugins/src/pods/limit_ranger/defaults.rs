//! The default resources of containers.

use pratique_json::{Object, Value};
use pratique_plugin::MutableAttributes;

use super::limits::ContainerDefaults;
use crate::object::{descend_mut, members, text};
use crate::pods::containers;

/// The annotation with the defaults that were set.
const ANNOTATION: &str = "kubernetes.io/limit-ranger";

/// The lists whose containers get defaults, each with what messages call one of them.
const LISTS: [(&str, &str); 2] = [("containers", "container"), ("initContainers", "init container")];

/// Sets missing requests and limits of containers to the defaults of a limit range, and lists them in an annotation.
// Upstream: plugin/pkg/admission/limitranger/admission.go, mergePodResourceRequirements
pub(super) fn set(defaults: &ContainerDefaults, attributes: &mut MutableAttributes<'_, '_>) {
    let pod = attributes.object();
    let mut all = LISTS.iter().flat_map(|(list, _)| containers(pod, list));
    if !all.any(|container| lacks_any(container, defaults)) {
        return;
    }
    let Some(spec) = descend_mut(attributes.object_mut(), &["spec"]) else {
        return;
    };
    let mut set = Vec::new();
    for (list, label) in LISTS {
        if let Some(Value::Array(containers)) = spec.get_mut(list) {
            for container in containers {
                set_container(container, label, defaults, &mut set);
            }
        }
    }
    if !set.is_empty()
        && let Some(annotations) = descend_mut(attributes.object_mut(), &["metadata", "annotations"])
    {
        annotations.insert(ANNOTATION, format!("LimitRanger plugin set: {}", set.join("; ")));
    }
}

/// The defaults in a field that the resources of a container do not have.
fn missing<'d>(
    resources: Option<&Object<'_>>,
    field: &str,
    defaults: &'d [(String, String)],
) -> impl Iterator<Item = &'d (String, String)> {
    let amounts = resources.and_then(|resources| resources.get(field)?.as_object());
    let is_missing = move |name: &str| amounts.is_none_or(|amounts| !amounts.contains_key(name));
    defaults.iter().filter(move |(name, _)| is_missing(name))
}

fn lacks_any(container: &Value<'_>, defaults: &ContainerDefaults) -> bool {
    let resources = members(container, &["resources"]);
    let mut fields = defaults.fields().into_iter();
    fields.any(|(field, defaults)| missing(resources, field, defaults).next().is_some())
}

// Upstream: plugin/pkg/admission/limitranger/admission.go, mergeContainerResources
fn set_container(
    container: &mut Value<'_>,
    label: &str,
    defaults: &ContainerDefaults,
    set: &mut Vec<String>,
) {
    for (field, defaults) in defaults.fields() {
        let resources = members(container, &["resources"]);
        let missing: Vec<_> = missing(resources, field, defaults).collect();
        if missing.is_empty() {
            continue;
        }
        let names: Vec<&str> = missing.iter().map(|(name, _)| name.as_str()).collect();
        let kind = field.trim_end_matches('s');
        let name = text(container, &["name"]);
        set.push(format!("{} {kind} for {label} {name}", names.join(", ")));
        if let Some(amounts) = descend_mut(container, &["resources", field]) {
            for (name, quantity) in missing {
                amounts.insert(name.clone(), quantity.clone());
            }
        }
    }
}
