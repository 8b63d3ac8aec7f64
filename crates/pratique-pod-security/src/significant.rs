//! Which updates of pods are evaluated.

use pratique_json::{Value, text_at};

use crate::pod::items;

/// Whether an update changes fields that a check may read: images, or the set of containers.
// Upstream: pod-security-admission/admission/admission.go, isSignificantPodUpdate
pub(crate) fn is_significant(spec: &Value<'_>, old_pod: &Value<'_>) -> bool {
    let old = &old_pod["spec"];
    ["containers", "initContainers"]
        .iter()
        .any(|list| differs(spec, old, list))
        || adds_ephemeral(spec, old)
}

fn differs(spec: &Value<'_>, old: &Value<'_>, list: &str) -> bool {
    let (containers, old) = (items(spec, list), items(old, list));
    let mut pairs = containers.iter().zip(old);
    containers.len() != old.len() || pairs.any(|(container, old)| !has_same_image(container, old))
}

fn adds_ephemeral(spec: &Value<'_>, old: &Value<'_>) -> bool {
    const LIST: &str = "ephemeralContainers";
    let old = items(old, LIST);
    items(spec, LIST).iter().any(|container| {
        let name = text_at(container, &["name"]);
        let old_container = old.iter().find(|old| text_at(old, &["name"]) == name);
        !old_container.is_some_and(|old_container| has_same_image(container, old_container))
    })
}

fn has_same_image(container: &Value<'_>, old: &Value<'_>) -> bool {
    text_at(container, &["image"]) == text_at(old, &["image"])
}
