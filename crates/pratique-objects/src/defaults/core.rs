//! `core/v1`.

use pratique_json::Object;

use super::field::{is_absent, is_empty, part, pointer, text};
use super::{Context, image};
use crate::release::gate;

/// Labels a namespace with its name.
pub(super) fn label_of_name(namespace: &mut Object<'_>, _: &Context<'_>) {
    let Some(metadata) = part(namespace, "metadata") else {
        return;
    };
    let name = metadata.get("name").filter(|name| !name.is_empty()).cloned();
    if let Some(name) = name
        && let Some(labels) = part(metadata, "labels")
    {
        labels.insert("kubernetes.io/metadata.name", name);
    }
}

pub(super) fn pull_policy(container: &mut Object<'_>, _: &Context<'_>) {
    let policy = image::pull_policy(text(container, "image"));
    container.insert("imagePullPolicy", policy);
}

pub(super) fn source(volume: &mut Object<'_>, _: &Context<'_>) {
    // All fields of a volume but its name are sources.
    let has_source = volume
        .iter()
        .any(|(name, source)| name != "name" && !source.is_null());
    if !has_source {
        volume.insert("emptyDir", Object::new());
    }
    if is_absent(volume, "image") || !gate("ImageVolume") {
        return;
    }
    if let Some(source) = pointer(volume, "image")
        && is_empty(source, "pullPolicy")
    {
        let policy = image::pull_policy(text(source, "reference"));
        source.insert("pullPolicy", policy);
    }
}
