//! The pods of a node.

use pratique_gotext::quantity::Quantity;
use pratique_gotext::strconv::quote;
use pratique_json::{Object, Value};
use pratique_plugin::{Rejection, StateKind};
use pratique_types::Operation;

use super::NodeRequest;
use super::references::referenced;
use crate::answer::not_found;
use crate::object::{elements, has_annotation, members, name, text};
use crate::pods::{MIRROR_POD, quantity};

/// Creating and deleting pods.
// Upstream: plugin/pkg/admission/noderestriction/admission.go, admitPod
pub(super) fn check_pod(request: &NodeRequest<'_>) -> Result<(), Rejection> {
    let node = request.quoted_node();
    match request.operation() {
        Operation::Create => check_new(request),
        Operation::Delete => {
            let pod = stored(request, &request.attributes.request.name)?;
            if text(pod, &["spec", "nodeName"]) == request.node {
                Ok(())
            } else {
                Err(request.forbidden(format!(
                    "node {node} can only delete pods with spec.nodeName set to itself"
                )))
            }
        }
        operation => Err(request.forbidden(format!(
            "unexpected operation \"{operation}\", node {node} can only create and delete mirror pods"
        ))),
    }
}

// Upstream: plugin/pkg/admission/noderestriction/admission.go, admitPodCreate
fn check_new(request: &NodeRequest<'_>) -> Result<(), Rejection> {
    let pod = request.object();
    request.require(pod, "", "Pod")?;
    let node = request.quoted_node();
    if !has_annotation(pod, MIRROR_POD) {
        return Err(request.forbidden(format!(
            "pod does not have \"{MIRROR_POD}\" annotation, node {node} can only create mirror pods"
        )));
    }
    let refused = |what: &str| Err(request.forbidden(format!("node {node} {what}")));
    if text(pod, &["spec", "nodeName"]) != request.node {
        return refused("can only create pods with spec.nodeName set to itself");
    }
    let owner = match elements(pod, &["metadata", "ownerReferences"]) {
        [] => return refused("can only create pods with an owner reference set to itself"),
        [owner] => owner,
        _ => return refused("can only create pods with a single owner reference set to itself"),
    };
    if text(owner, &["apiVersion"]) != "v1"
        || text(owner, &["kind"]) != "Node"
        || text(owner, &["name"]) != request.node
    {
        return refused("can only create pods with an owner reference set to itself");
    }
    let is_set = |field: &str| owner.get(field).and_then(Value::as_bool) == Some(true);
    if !is_set("controller") {
        return refused("can only create pods with a controller owner reference set to itself");
    }
    if is_set("blockOwnerDeletion") {
        return refused("must not set blockOwnerDeletion on an owner reference");
    }
    let Some(stored) = request.context.state.find(StateKind::NODE, "", request.node)? else {
        return Err(not_found("", "node", request.node));
    };
    let (uid, of_node) = (text(owner, &["uid"]), text(stored, &["metadata", "uid"]));
    if uid != of_node {
        let node = request.node;
        return Err(request.forbidden(format!("node {node} UID mismatch: expected {uid} got {of_node}")));
    }
    match referenced(pod) {
        Err(error) => {
            Err(request.forbidden(format!("error checking mirror pod for API references: {error}")))
        }
        Ok(Some(resource)) => refused(&format!("can not create pods that reference {resource}")),
        Ok(None) => Ok(()),
    }
}

// Upstream: plugin/pkg/admission/noderestriction/admission.go, admitPodStatus
pub(super) fn check_status(request: &NodeRequest<'_>) -> Result<(), Rejection> {
    let operation = request.operation();
    if operation != Operation::Update {
        return Err(request.forbidden(format!("unexpected operation \"{operation}\"")));
    }
    let (old, new) = (request.old_object(), request.object());
    let node = request.quoted_node();
    let refused = |what: &str| Err(request.forbidden(format!("node {node} {what}")));
    request.require(old, "", "Pod")?;
    if text(old, &["spec", "nodeName"]) != request.node {
        return refused("can only update pod status for pods with spec.nodeName set to itself");
    }
    request.require(new, "", "Pod")?;
    let none = Object::new();
    let labels = |pod| members(pod, &["metadata", "labels"]).unwrap_or(&none);
    if labels(old) != labels(new) {
        return refused("cannot update labels through pod status");
    }
    let claims = |pod| {
        let statuses = elements(pod, &["status", "resourceClaimStatuses"]).iter();
        statuses.map(|status| (text(status, &["name"]), status.get("resourceClaimName")))
    };
    if !claims(old).eq(claims(new)) {
        return refused("cannot update resource claim statues");
    }
    let extended = |pod: &'_ Value<'_>| -> Option<(String, Vec<Value<'static>>)> {
        let status = pod.at(&["status", "extendedResourceClaimStatus"])?;
        let mappings = elements(status, &["requestMappings"]).iter();
        Some((
            text(status, &["resourceClaimName"]).to_owned(),
            mappings.map(|mapping| mapping.clone().into_owned()).collect(),
        ))
    };
    if extended(old) != extended(new) {
        return refused("cannot update extended resource claim status");
    }
    // Upstream: admitPodStatus, since 1.37.
    let field = ["status", "nodeAllocatableResourceClaimStatuses"];
    if !request.release.at_least(1, 37)
        || same_lists(elements(old, &field), elements(new, &field), same_allocatable)
    {
        Ok(())
    } else {
        refused("cannot update node allocatable resource claim statuses")
    }
}

// Upstream: plugin/pkg/admission/noderestriction/admission.go, nodeAllocatableResourceClaimStatusesEqual
fn same_allocatable(old: &Value<'_>, new: &Value<'_>) -> bool {
    let same_resources = |list: &str, quantities: &[&str]| {
        same_lists(elements(old, &[list]), elements(new, &[list]), |old, new| {
            text(old, &["name"]) == text(new, &["name"])
                && quantities
                    .iter()
                    .all(|field| amount_of(old, field) == amount_of(new, field))
        })
    };
    text(old, &["resourceClaimName"]) == text(new, &["resourceClaimName"])
        && elements(old, &["containers"]) == elements(new, &["containers"])
        && same_resources("mapping", &["quantity"])
        && same_resources("overhead", &["perPod", "perContainer"])
}

/// A quantity as a number, so that `1` is `1000m`.
fn amount_of(resource: &Value<'_>, field: &str) -> Option<Option<Quantity>> {
    let written = resource.get(field).filter(|amount| !amount.is_null());
    written.map(quantity)
}

fn same_lists(
    old: &[Value<'_>],
    new: &[Value<'_>],
    is_same: impl Fn(&Value<'_>, &Value<'_>) -> bool,
) -> bool {
    old.len() == new.len() && old.iter().zip(new).all(|(old, new)| is_same(old, new))
}

// Upstream: plugin/pkg/admission/noderestriction/admission.go, admitPodEviction
pub(super) fn check_eviction(request: &NodeRequest<'_>) -> Result<(), Rejection> {
    let operation = request.operation();
    if operation != Operation::Create {
        return Err(request.forbidden(format!("unexpected operation {operation}")));
    }
    let eviction = request.object();
    request.require(eviction, "policy", "Eviction")?;
    let pod = match request.attributes.request.name.as_str() {
        "" => name(eviction),
        pod => pod,
    };
    if pod.is_empty() {
        return Err(request.forbidden("could not determine pod from request data"));
    }
    if text(stored(request, pod)?, &["spec", "nodeName"]) == request.node {
        Ok(())
    } else {
        let node = request.node;
        Err(request.forbidden(format!(
            "node {node} can only evict pods with spec.nodeName set to itself"
        )))
    }
}

/// The stored pod with a name.
pub(super) fn stored<'a>(request: &NodeRequest<'a>, pod: &str) -> Result<&'a Value<'a>, Rejection> {
    let namespace = &request.attributes.request.namespace;
    let stored_pod = request.context.state.find(StateKind::POD, namespace, pod)?;
    stored_pod.ok_or_else(|| not_found("", "pod", pod))
}

/// A pod as messages name it.
pub(super) fn quoted_name(namespace: &str, pod: &str) -> String {
    quote(&format!("{namespace}/{pod}"))
}
