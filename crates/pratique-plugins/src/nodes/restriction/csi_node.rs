//! The CSINode object of a node, and its status.

use pratique_json::{Object, Value};
use pratique_plugin::Rejection;
use pratique_types::Operation;

use super::NodeRequest;
use crate::object::{elements, name, text};

// Upstream: plugin/pkg/admission/noderestriction/admission.go, admitCSINode
pub(super) fn check_csi_node(request: &NodeRequest<'_>, volume_health: bool) -> Result<(), Rejection> {
    let accessed = match request.operation() {
        Operation::Create if request.object().get("metadata").is_none() => {
            return Err(request.forbidden("unable to access the object name"));
        }
        Operation::Create => name(request.object()),
        _ => &request.attributes.request.name,
    };
    if accessed != request.node {
        return Err(request.forbidden("can only access CSINode with the same name as the requesting node"));
    }
    // The subresource is new in 1.37; before, it passed like the object itself.
    if !request.release.at_least(1, 37) {
        return Ok(());
    }
    match request.attributes.request.sub_resource.as_str() {
        "status" if !volume_health => Err(request.forbidden("CSIVolumeHealth feature gate is disabled")),
        "status" => check_status(request),
        _ => Ok(()),
    }
}

// Upstream: plugin/pkg/admission/noderestriction/admission.go, admitCSINodeStatus
fn check_status(request: &NodeRequest<'_>) -> Result<(), Rejection> {
    let operation = request.operation();
    if operation != Operation::Update {
        return Err(request.forbidden(format!("unexpected operation \"{operation}\"")));
    }
    let (old, new) = (request.old_object(), request.object());
    request.require(old, "storage.k8s.io", "CSINode")?;
    request.require(new, "storage.k8s.io", "CSINode")?;
    let drivers = |node| elements(node, &["spec", "drivers"]);
    let is_same = drivers(old).len() == drivers(new).len()
        && drivers(old)
            .iter()
            .zip(drivers(new))
            .all(|(old, new)| is_same_driver(old, new));
    if is_same {
        Ok(())
    } else {
        let node = request.quoted_node();
        Err(request.forbidden(format!(
            "node {node} is not allowed to modify CSINode spec via status"
        )))
    }
}

/// Whether drivers are the same: an empty list is none, and an empty `allocatable` is one.
fn is_same_driver(old: &Value<'_>, new: &Value<'_>) -> bool {
    let keys = |driver| elements(driver, &["topologyKeys"]);
    let allocatable = |driver: &Value<'_>| {
        let allocatable = driver.get("allocatable").and_then(Value::as_object);
        allocatable.map(|allocatable: &Object<'_>| allocatable.get("count").and_then(Value::as_int))
    };
    ["name", "nodeID"]
        .iter()
        .all(|field| text(old, &[field]) == text(new, &[field]))
        && keys(old) == keys(new)
        && allocatable(old) == allocatable(new)
}
