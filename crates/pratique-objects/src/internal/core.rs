//! `core/v1`.

use pratique_json::{Object, Value, base64};

use crate::defaults::field::{is_empty, members, part, pointer};
use crate::defaults::{Context, Function};

pub(super) fn function(of: &str) -> Option<Function> {
    Some(match of {
        "NodeSpec" => |object, _| first_of_list(object, "podCIDR", "podCIDRs", None),
        "Pod" => pod,
        "PodStatus" => |object, _| first_of_list(object, "podIP", "podIPs", Some("ip")),
        "PodTemplateSpec" => |object, _| drop_init_annotations(object),
        "Secret" => secret,
        _ => return None,
    })
}

fn pod(object: &mut Object<'_>, _: &Context<'_>) {
    drop_init_annotations(object);
    if let Some(spec) = pointer(object, "spec")
        && let Some(Value::Int(..0)) = spec.get("terminationGracePeriodSeconds")
    {
        spec.insert("terminationGracePeriodSeconds", 1);
    }
}

/// Annotations that old releases had in place of the field `initContainers`.
const INIT_ANNOTATIONS: [&str; 4] = [
    "pod.alpha.kubernetes.io/init-container-statuses",
    "pod.alpha.kubernetes.io/init-containers",
    "pod.beta.kubernetes.io/init-container-statuses",
    "pod.beta.kubernetes.io/init-containers",
];

fn drop_init_annotations(object: &mut Object<'_>) {
    let annotations = members(members(object, "metadata"), "annotations");
    if !annotations.is_empty() && INIT_ANNOTATIONS.iter().any(|name| annotations.contains_key(name)) {
        drop_annotations(object, &INIT_ANNOTATIONS);
    }
}

/// Removes annotations of an object.
pub(super) fn drop_annotations(object: &mut Object<'_>, names: &[&str]) {
    let Some(metadata) = pointer(object, "metadata") else {
        return;
    };
    if let Some(annotations) = pointer(metadata, "annotations") {
        for name in names {
            annotations.remove(name);
        }
    }
    if is_empty(metadata, "annotations") {
        metadata.remove("annotations");
    }
}

/// Makes a field agree with the first element of a list; the field counts where both are set.
fn first_of_list(
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

fn secret(object: &mut Object<'_>, _: &Context<'_>) {
    let Some(Value::Object(texts)) = object.remove("stringData") else {
        return;
    };
    if texts.is_empty() {
        return;
    }
    if let Some(data) = part(object, "data") {
        for (name, value) in texts {
            let bytes = value.as_str().unwrap_or_default().as_bytes();
            data.insert(name, base64::encode(bytes));
        }
    }
}
