//! `core/v1`: all but Pods and Services.

use pratique_json::{Object, Value};

use super::field::{absent, add_missing, copied, elements, empty, is_absent, members, part, text};
use super::{Context, Function, pod, quantities, service};
use crate::release::gate;

pub(super) fn function(name: &str) -> Option<Function> {
    Some(match name {
        // Its data become an empty map, which is not written.
        "ConfigMap" => |_, _| {},
        "ConfigMapVolumeSource"
        | "DownwardAPIVolumeSource"
        | "ProjectedVolumeSource"
        | "SecretVolumeSource" => |object, _| absent(object, "defaultMode", 0o644),
        "Container" | "EphemeralContainer" => pod::container,
        "Endpoints" => endpoints,
        "HTTPGetAction" => |object, _| {
            empty(object, "path", "/");
            empty(object, "scheme", "HTTP");
        },
        "HostPathVolumeSource" => |object, _| absent(object, "type", ""),
        "LimitRangeItem" => limit_range_item,
        "Namespace" => namespace,
        "NamespaceStatus" => |object, _| empty(object, "phase", "Active"),
        "NodeStatus" => node_status,
        "ObjectFieldSelector" => |object, _| empty(object, "apiVersion", "v1"),
        "PersistentVolume" => persistent_volume,
        "PersistentVolumeClaim" => |object, _| {
            if let Some(status) = part(object, "status") {
                empty(status, "phase", "Pending");
            }
        },
        "PersistentVolumeClaimSpec" => |object, _| absent(object, "volumeMode", "Filesystem"),
        "Pod" => pod::pod,
        "PodLogOptions" => |object, _| {
            if gate("PodLogsQuerySplitStreams") {
                absent(object, "stream", "All");
            }
        },
        "PodSpec" => pod::spec,
        "Probe" => pod::probe,
        "ReplicationController" => replication_controller,
        "ResourceList" => quantities::round_up,
        "Secret" => |object, _| empty(object, "type", "Opaque"),
        "Service" => service::service,
        "ServiceAccountTokenProjection" => |object, _| absent(object, "expirationSeconds", 3600),
        "Volume" => pod::volume,
        _ => return None,
    })
}

fn endpoints(object: &mut Object<'_>, _: &Context<'_>) {
    for subset in elements(object, "subsets") {
        for port in elements(subset, "ports") {
            empty(port, "protocol", "TCP");
        }
    }
}

fn limit_range_item(object: &mut Object<'_>, _: &Context<'_>) {
    if text(object, "type") != "Container" {
        return;
    }
    let mut fill = |to: &'static str, from: &str| {
        let from = members(object, from).clone();
        if !from.is_empty()
            && let Some(to) = part(object, to)
        {
            add_missing(to, &from);
        }
    };
    fill("default", "max");
    fill("defaultRequest", "default");
    fill("defaultRequest", "min");
}

fn namespace(object: &mut Object<'_>, _: &Context<'_>) {
    let Some(metadata) = part(object, "metadata") else {
        return;
    };
    let name = metadata.get("name").filter(|name| !name.is_empty()).cloned();
    if let Some(name) = name
        && let Some(labels) = part(metadata, "labels")
    {
        labels.insert("kubernetes.io/metadata.name", name);
    }
}

fn node_status(object: &mut Object<'_>, _: &Context<'_>) {
    if let Some(capacity) = copied(object, &["capacity"]) {
        absent(object, "allocatable", capacity);
    }
}

fn persistent_volume(object: &mut Object<'_>, _: &Context<'_>) {
    if let Some(status) = part(object, "status") {
        empty(status, "phase", "Pending");
    }
    if let Some(spec) = part(object, "spec") {
        empty(spec, "persistentVolumeReclaimPolicy", "Retain");
        absent(spec, "volumeMode", "Filesystem");
    }
}

fn replication_controller(object: &mut Object<'_>, _: &Context<'_>) {
    let Some(labels) = template_labels(object) else {
        return;
    };
    if let Some(spec) = part(object, "spec") {
        empty(spec, "selector", labels.clone());
    }
    label(object, labels);
}

/// The labels of an object's template of Pods, if it has any, or an empty map of them.
pub(super) fn template_labels<'a>(object: &Object<'a>) -> Option<Value<'a>> {
    copied(object, &["spec", "template", "metadata", "labels"])
}

/// Gives an object labels, unless it has some.
pub(super) fn label<'a>(object: &mut Object<'a>, labels: Value<'a>) {
    if let Some(metadata) = part(object, "metadata") {
        let is_new = is_absent(metadata, "labels") && labels.is_empty();
        if !is_new {
            empty(metadata, "labels", labels);
        }
    }
}
