//! AlwaysPullImages: images are pulled whenever a container starts.

use std::collections::BTreeSet;

use pratique_core::Attributes;
use pratique_json::Value;
use pratique_plugin::{MutableAttributes, Rejection};
use pratique_types::{AdmissionRequest, Operation};

use super::{CONTAINER_LISTS, containers, is_pod};
use crate::answer::{aggregate, bad_request, forbidden_status};
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use crate::object::{descend_mut, elements, text};

// Upstream: plugin/pkg/admission/alwayspullimages/admission.go
pub(crate) struct AlwaysPullImages;

impl BuiltInPlugin for AlwaysPullImages {
    fn admit(&self, attributes: &mut MutableAttributes<'_, '_>, _: &mut PluginCall<'_>) -> PluginAnswer {
        if !concerns(attributes.request, attributes.object()) {
            return Ok(());
        }
        if !is_pod(attributes.object()) {
            return Err(not_converted());
        }
        let Some(spec) = descend_mut(attributes.object_mut(), &["spec"]) else {
            return Ok(());
        };
        for list in CONTAINER_LISTS {
            for container in array_mut(spec.get_mut(list)) {
                set_always(container, "imagePullPolicy");
            }
        }
        for volume in array_mut(spec.get_mut("volumes")) {
            if let Some(image) = volume.get_mut("image") {
                set_always(image, "pullPolicy");
            }
        }
        Ok(())
    }

    fn validate(&self, attributes: &Attributes<'_>, _: &mut PluginCall<'_>) -> PluginAnswer {
        let pod = attributes.object;
        if !concerns(attributes.request, pod) {
            return Ok(());
        }
        if !is_pod(pod) {
            return Err(not_converted());
        }
        let mut errors = Vec::new();
        for list in CONTAINER_LISTS {
            for (index, container) in containers(pod, list).iter().enumerate() {
                let path = || format!("spec.{list}[{index}].imagePullPolicy");
                errors.extend(fault(text(container, &["imagePullPolicy"]), path));
            }
        }
        for (index, volume) in elements(pod, &["spec", "volumes"]).iter().enumerate() {
            if let Some(image) = volume.get("image") {
                let path = || format!("spec.volumes[{index}].image.pullPolicy");
                errors.extend(fault(text(image, &["pullPolicy"]), path));
            }
        }
        if errors.is_empty() {
            return Ok(());
        }
        // Errors that are joined are no status any more.
        let messages: Vec<String> = errors
            .iter()
            .map(|error| forbidden_status(attributes, error).message)
            .collect();
        Err(Rejection::Error(aggregate(&messages)))
    }
}

/// Whether a request is not an update that names no image that the pod did not have.
// Upstream: plugin/pkg/admission/alwayspullimages/admission.go, shouldIgnore and isUpdateWithNoNewImages
fn concerns(request: &AdmissionRequest<'_>, pod: &Value<'_>) -> bool {
    let old = &request.old_object;
    if request.operation != Operation::Update || !is_pod(pod) || !is_pod(old) {
        return true;
    }
    let old_images: BTreeSet<&str> = images(old).collect();
    !images(pod).all(|image| old_images.contains(image))
}

/// The images of all containers.
fn images<'a>(pod: &'a Value<'a>) -> impl Iterator<Item = &'a str> {
    let containers = CONTAINER_LISTS.into_iter().flat_map(|list| containers(pod, list));
    containers.map(|container| text(container, &["image"]))
}

fn fault(policy: &str, path: impl Fn() -> String) -> Option<String> {
    let show = || {
        let policy = Value::from(policy);
        format!(
            "{}: Unsupported value: {policy}: supported values: \"Always\"",
            path()
        )
    };
    (policy != "Always").then(show)
}

fn set_always(value: &mut Value<'_>, field: &'static str) {
    if let Value::Object(members) = value {
        members.insert(field, "Always");
    }
}

fn array_mut<'v, 'o>(value: Option<&'v mut Value<'o>>) -> &'v mut [Value<'o>] {
    match value {
        Some(Value::Array(elements)) => elements,
        _ => &mut [],
    }
}

fn not_converted() -> Rejection {
    bad_request("Resource was marked with kind Pod but was unable to be converted")
}
