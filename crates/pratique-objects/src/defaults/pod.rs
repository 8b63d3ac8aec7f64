//! `core/v1`: Pods and what they consist of.

use pratique_json::{Object, Value};

use super::field::{absent, add_missing, elements, empty, is_absent, is_empty, members, part, pointer, text};
use super::{Context, image, pod_resources};
use crate::release::gate;

pub(super) fn pod(object: &mut Object<'_>, _: &Context<'_>) {
    let Some(spec) = part(object, "spec") else { return };
    for field in ["containers", "initContainers"] {
        elements(spec, field).for_each(requests_from_limits);
    }
    if gate("PodLevelResources") {
        pod_resources::default(spec);
    }
    absent(spec, "enableServiceLinks", true);
    if spec.get("hostNetwork") == Some(&Value::Bool(true)) {
        for field in ["containers", "initContainers"] {
            elements(spec, field).for_each(host_ports);
        }
    }
}

/// Requests what is limited.
fn requests_from_limits(container: &mut Object<'_>) {
    let Some(resources) = pointer(container, "resources") else {
        return;
    };
    let limits = members(resources, "limits");
    if limits.is_empty() {
        return;
    }
    let limits = limits.clone();
    if let Some(requests) = part(resources, "requests") {
        add_missing(requests, &limits);
    }
}

fn host_ports(container: &mut Object<'_>) {
    for port in elements(container, "ports") {
        if let Some(number) = port.get("containerPort").filter(|port| !port.is_empty()).cloned() {
            empty(port, "hostPort", number);
        }
    }
}

pub(super) fn spec(object: &mut Object<'_>, _: &Context<'_>) {
    empty(object, "dnsPolicy", "ClusterFirst");
    empty(object, "restartPolicy", "Always");
    absent(object, "securityContext", Object::new());
    absent(object, "terminationGracePeriodSeconds", 30);
    empty(object, "schedulerName", "default-scheduler");
}

pub(super) fn container(object: &mut Object<'_>, _: &Context<'_>) {
    if is_empty(object, "imagePullPolicy") {
        let policy = image::pull_policy(text(object, "image"));
        object.insert("imagePullPolicy", policy);
    }
    empty(object, "terminationMessagePath", "/dev/termination-log");
    empty(object, "terminationMessagePolicy", "File");
}

pub(super) fn probe(object: &mut Object<'_>, _: &Context<'_>) {
    empty(object, "timeoutSeconds", 1);
    empty(object, "periodSeconds", 10);
    empty(object, "successThreshold", 1);
    empty(object, "failureThreshold", 3);
}

pub(super) fn volume(object: &mut Object<'_>, _: &Context<'_>) {
    // All fields of a volume but its name are sources.
    let has_source = object
        .iter()
        .any(|(name, source)| name != "name" && !source.is_null());
    if !has_source {
        object.insert("emptyDir", Object::new());
    }
    if is_absent(object, "image") || !gate("ImageVolume") {
        return;
    }
    if let Some(source) = pointer(object, "image")
        && is_empty(source, "pullPolicy")
    {
        let policy = image::pull_policy(text(source, "reference"));
        source.insert("pullPolicy", policy);
    }
}
