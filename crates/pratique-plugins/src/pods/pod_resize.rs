//! PodResizeValidator: pods are resized on nodes that can do it and have room.

use pratique_core::Attributes;
use pratique_gotext::quantity::Quantity;
use pratique_gotext::strconv::quote;
use pratique_json::Value;
use pratique_plugin::{Rejection, StateKind};
use pratique_types::StatusCause;

use super::resources;
use super::{has_pod, is_pod};
use crate::answer::{bad_request, forbidden, forbidden_status};
use crate::built_in::{BuiltInPlugin, PluginAnswer, PluginCall};
use crate::object::{go_type, members, name, text};

// Upstream: plugin/pkg/admission/podresize/admission.go
pub(crate) struct PodResizeValidator;

impl BuiltInPlugin for PodResizeValidator {
    fn validate(&self, attributes: &Attributes<'_>, context: &mut PluginCall<'_>) -> PluginAnswer {
        let pod = attributes.object;
        match node_of_changed(attributes)? {
            None => Ok(()),
            Some(node) => {
                let Some(node) = context.state.find(StateKind::NODE, "", node)? else {
                    return Err(forbidden(attributes, format!("node {} not found", quote(node))));
                };
                check_platform(attributes, node)?;
                check_room(attributes, pod, node)
            }
        }
    }
}

/// The node of a pod that is bound and whose generation an update changes.
pub(crate) fn node_of_changed<'a>(attributes: &Attributes<'a>) -> Result<Option<&'a str>, Rejection> {
    if !has_pod(attributes) {
        let actual_type = go_type(attributes.object);
        return Err(bad_request(format!("expected a pod but got a {actual_type}")));
    }
    let node = text(attributes.object, &["spec", "nodeName"]);
    if node.is_empty() {
        return Ok(None);
    }
    let old = &attributes.request.old_object;
    if !is_pod(old) {
        return Err(bad_request(format!(
            "expected an old pod but got a {}",
            go_type(old)
        )));
    }
    let generation = |pod: &Value<'_>| {
        let generation = pod.at(&["metadata", "generation"]);
        generation.and_then(Value::as_int).unwrap_or_default()
    };
    Ok((generation(attributes.object) != generation(old)).then_some(node))
}

// Upstream: plugin/pkg/admission/podresize/admission.go, validateLinuxNode
fn check_platform(attributes: &Attributes<'_>, node: &Value<'_>) -> Result<(), Rejection> {
    let labels = members(node, &["metadata", "labels"]);
    let system = labels.and_then(|labels| labels.get("kubernetes.io/os"));
    match system.and_then(Value::as_str) {
        None | Some("linux") => Ok(()),
        Some(system) => {
            let (node, system) = (quote(name(node)), quote(system));
            let error = format!("pod resize is only supported on linux nodes, node {node} is {system}");
            Err(refused(attributes, &error, "UnsupportedPlatform"))
        }
    }
}

// Upstream: plugin/pkg/admission/podresize/admission.go, validateRequestsWithinAllocatable
fn check_room(attributes: &Attributes<'_>, pod: &Value<'_>, node: &Value<'_>) -> Result<(), Rejection> {
    let zero = || Quantity::from_integer(0);
    let mut faults = Vec::new();
    for resource in ["cpu", "memory"] {
        let requested = resources::requests_with_overhead(pod, resource).unwrap_or_else(zero);
        let available = resources::amount(node, &["status", "allocatable"], resource).unwrap_or_else(zero);
        if requested > available {
            let amount = |quantity: Quantity| match resource {
                "cpu" => quantity.milli_value(),
                _ => quantity.value(),
            };
            let (requested, available) = (amount(requested), amount(available));
            faults.push(format!(
                "{resource}, requested: {requested}, allocatable: {available}"
            ));
        }
    }
    if faults.is_empty() {
        return Ok(());
    }
    let error = format!(
        "node didn't have enough allocatable resources: {}",
        faults.join("; ")
    );
    Err(refused(attributes, &error, "NodeCapacity"))
}

fn refused(attributes: &Attributes<'_>, error: &str, reason: &str) -> Rejection {
    let mut status = forbidden_status(attributes, error);
    if let Some(details) = &mut status.details {
        details.causes.push(StatusCause {
            reason: reason.to_owned(),
            ..StatusCause::default()
        });
    }
    status.into()
}
