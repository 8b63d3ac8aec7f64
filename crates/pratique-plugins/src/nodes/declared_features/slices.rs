//! Slices of resources whose devices take from what nodes can allocate: their nodes have to know about it.

use pratique_core::Attributes;
use pratique_gotext::strconv::quote;
use pratique_json::{Object, Value};
use pratique_plugin::{PluginContext, Rejection, StateKind};

use super::declares;
use crate::answer::{bad_request, forbidden};
use crate::built_in::PluginAnswer;
use crate::nodes::node_selector::NodeSelector;
use crate::object::{go_type, is_kind, name, text};

/// The feature that nodes declare, which has the name of the gate.
const FEATURE: &str = "DRANodeAllocatableResources";

/// The nodes of a device.
enum DeviceNodes<'a> {
    Named(&'a str),
    Selected(&'a Value<'a>),
    All,
}

// Upstream: plugin/pkg/admission/nodedeclaredfeatures/admission.go, validateResourceSlice
pub(super) fn validate(attributes: &Attributes<'_>, context: &PluginContext<'_>, gate: bool) -> PluginAnswer {
    let slice = attributes.object;
    if !is_kind(slice, "resource.k8s.io", "ResourceSlice") {
        let kind = go_type(slice);
        return Err(bad_request(format!("expected a ResourceSlice but got a {kind}")));
    }
    let (Some(spec), true) = (slice.get("spec"), gate) else {
        return Ok(());
    };
    let devices = spec.get("devices").and_then(Value::as_array).unwrap_or_default();
    for device in devices {
        if allocates(device) {
            check_device(attributes, context, spec, device)?;
        }
    }
    Ok(())
}

/// A field of a device, which v1beta1 has in `basic`.
fn field<'v>(device: &'v Value<'v>, name: &str) -> Option<&'v Value<'v>> {
    let value = device.get(name).or_else(|| device.at(&["basic", name]));
    value.filter(|value| !value.is_null())
}

fn allocates(device: &Value<'_>) -> bool {
    let resources = field(device, "nodeAllocatableResources").and_then(Value::as_object);
    resources.is_some_and(|resources: &Object<'_>| resources.iter().next().is_some())
}

// Upstream: plugin/pkg/admission/nodedeclaredfeatures/admission.go, validateNodeAllocatableDRA
fn check_device(
    attributes: &Attributes<'_>,
    context: &PluginContext<'_>,
    spec: &Value<'_>,
    device: &Value<'_>,
) -> Result<(), Rejection> {
    let quote_name = || quote(text(device, &["name"]));
    match nodes_of(spec, device) {
        None => Err(forbidden(
            attributes,
            format!(
                "device {} in ResourceSlice has NodeAllocatableResources but does not map to any nodes",
                quote_name()
            ),
        )),
        Some(DeviceNodes::Named(node)) => match context.state.find(StateKind::NODE, "", node)? {
            Some(stored) => check_node(attributes, stored),
            None => {
                let error = format!("node {} not found for device {}", quote(node), quote_name());
                Err(forbidden(attributes, error))
            }
        },
        Some(DeviceNodes::All) => {
            let nodes = context.state.require_list(StateKind::NODE, "")?;
            nodes.iter().try_for_each(|node| check_node(attributes, node))
        }
        Some(DeviceNodes::Selected(selector)) => {
            let nodes = context.state.require_list(StateKind::NODE, "")?;
            let selector = NodeSelector::compile(selector)
                .map_err(|error| bad_request(format!("failed to create node selector: {error}")))?;
            let mut selected = nodes.iter().filter(|node| selector.matches(node));
            selected.try_for_each(|node| check_node(attributes, node))
        }
    }
}

/// The nodes that a device is for, by itself or with its slice.
fn nodes_of<'a>(spec: &'a Value<'a>, device: &'a Value<'a>) -> Option<DeviceNodes<'a>> {
    let is_on = |value: Option<&Value<'_>>| value.and_then(Value::as_bool) == Some(true);
    let by_device = is_on(spec.get("perDeviceNodeSelection"));
    let field = |name: &str| {
        let of_slice = || spec.get(name).filter(|value| !value.is_null());
        if by_device {
            field(device, name)
        } else {
            of_slice()
        }
    };
    let named = field("nodeName")
        .and_then(Value::as_str)
        .filter(|node| !node.is_empty());
    named
        .map(DeviceNodes::Named)
        .or_else(|| field("nodeSelector").map(DeviceNodes::Selected))
        .or_else(|| is_on(field("allNodes")).then_some(DeviceNodes::All))
}

// Upstream: plugin/pkg/admission/nodedeclaredfeatures/admission.go, validateNodeAllocatableDRADeclaredFeature
fn check_node(attributes: &Attributes<'_>, node: &Value<'_>) -> Result<(), Rejection> {
    if declares(node, FEATURE) {
        return Ok(());
    }
    let node = quote(name(node));
    let error = format!("node {node} does not support {FEATURE} feature");
    Err(forbidden(attributes, error))
}
