//! `core/v1`.

use pratique_json::{Object, Value};

use super::field::{is_absent, is_empty, members, part, pointer, text_member};
use super::{DefaultContext, image};
use crate::internal::drop_annotations;

/// Labels a namespace with its name.
pub(super) fn label_of_name(namespace: &mut Object<'_>, _: &DefaultContext<'_>) {
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

pub(super) fn pull_policy(container: &mut Object<'_>, _: &DefaultContext<'_>) {
    let policy = image::pull_policy(text_member(container, "image"));
    container.insert("imagePullPolicy", policy);
}

pub(super) fn source(volume: &mut Object<'_>, context: &DefaultContext<'_>) {
    // All fields of a volume but its name are sources.
    let has_source = volume
        .iter()
        .any(|(name, source)| name != "name" && !source.is_null());
    if !has_source {
        volume.insert("emptyDir", Object::new());
    }
    if is_absent(volume, "image") || !context.gates.is_on("ImageVolume") {
        return;
    }
    if let Some(source) = pointer(volume, "image")
        && is_empty(source, "pullPolicy")
    {
        let policy = image::pull_policy(text_member(source, "reference"));
        source.insert("pullPolicy", policy);
    }
}

/// Annotations that old releases had in place of the field `initContainers`.
const INIT_ANNOTATIONS: [&str; 4] = [
    "pod.alpha.kubernetes.io/init-container-statuses",
    "pod.alpha.kubernetes.io/init-containers",
    "pod.beta.kubernetes.io/init-container-statuses",
    "pod.beta.kubernetes.io/init-containers",
];

pub(super) fn drop_init_annotations(object: &mut Object<'_>) {
    let annotations = members(members(object, "metadata"), "annotations");
    if INIT_ANNOTATIONS.iter().any(|name| annotations.contains_key(name)) {
        drop_annotations(object, &INIT_ANNOTATIONS);
    }
}

/// A Pod that is not given a time to stop is given a second.
pub(super) fn grace_period(spec: &mut Object<'_>, _: &DefaultContext<'_>) {
    if let Some(Value::Int(..0)) = spec.get("terminationGracePeriodSeconds") {
        spec.insert("terminationGracePeriodSeconds", 1);
    }
}

/// Makes a field agree with the first element of a list; the field counts where both are set.
pub(crate) fn first_of_list(
    object: &mut Object<'_>,
    field: &'static str,
    list: &'static str,
    member: Option<&'static str>,
) {
    let first = object.get(list).and_then(Value::as_array).and_then(<[_]>::first);
    let first = first.map(|first| match member {
        Some(member) => first.get(member).cloned().unwrap_or_else(|| "".into()),
        None => first.clone(),
    });
    let single = object.get(field).filter(|value| !value.is_empty()).cloned();
    match (single, first) {
        (Some(single), first) if first.as_ref() != Some(&single) => {
            let element = match member {
                None => single,
                Some(member) => Object::from_iter([(member.into(), single)]).into(),
            };
            object.insert(list, vec![element]);
        }
        (None, Some(first)) if !first.is_empty() => {
            object.insert(field, first);
        }
        _ => {}
    }
}
