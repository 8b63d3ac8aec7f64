//! The Node object of a node.

use std::collections::BTreeSet;

use pratique_gotext::strconv::quote;
use pratique_gotext::validation::is_within_domain;
use pratique_json::{Object, Value};
use pratique_plugin::Rejection;
use pratique_types::Operation;

use super::NodeRequest;
use crate::object::{elements, is_kind, members};

// Upstream: plugin/pkg/admission/noderestriction/admission.go, admitNode
pub(super) fn check_node(request: &NodeRequest<'_>) -> Result<(), Rejection> {
    let requested = &request.attributes.request.name;
    let node = request.quoted_node();
    if requested != request.node {
        let requested = quote(requested);
        return Err(request.forbidden(format!("node {node} is not allowed to modify node {requested}")));
    }
    match request.operation() {
        Operation::Create => check_new(request),
        Operation::Update => check_change(request),
        _ => Ok(()),
    }
}

fn check_new(request: &NodeRequest<'_>) -> Result<(), Rejection> {
    let (object, node) = (request.object(), request.quoted_node());
    request.require(object, "", "Node")?;
    if config_source(object).is_some() {
        return Err(request.forbidden(format!(
            "node {node} is not allowed to create pods with a non-nil configSource"
        )));
    }
    let labels = forbidden_labels(object, &Value::Null);
    if labels.is_empty() {
        Ok(())
    } else {
        Err(request.forbidden(format!(
            "node {node} is not allowed to set the following labels: {labels}"
        )))
    }
}

fn check_change(request: &NodeRequest<'_>) -> Result<(), Rejection> {
    let (old, new) = (request.old_object(), request.object());
    request.require(new, "", "Node")?;
    if !is_kind(old, "", "Node") {
        // The reference shows the type of the new object here.
        return Err(request.unexpected_type(new));
    }
    let node = request.quoted_node();
    let refused = |what: &str| Err(request.forbidden(format!("node {node} is not allowed to {what}")));
    if config_source(new).is_some() && config_source(new) != config_source(old) {
        return refused("update configSource to a new non-nil configSource");
    }
    let same = |path: &[&str]| elements(old, path) == elements(new, path);
    if !same(&["spec", "taints"]) {
        return refused("modify taints");
    }
    if !same(&["metadata", "ownerReferences"]) {
        return refused("modify ownerReferences");
    }
    let labels = forbidden_labels(new, old);
    if labels.is_empty() {
        Ok(())
    } else {
        Err(request.forbidden(format!("is not allowed to modify labels: {labels}")))
    }
}

fn config_source<'v>(node: &'v Value<'_>) -> Option<&'v Value<'v>> {
    node.at(&["spec", "configSource"])
        .filter(|source| !source.is_null())
}

/// The labels that differ and that a node may not set, separated by commas.
// Upstream: plugin/pkg/admission/noderestriction/admission.go, getModifiedLabels and getForbiddenLabels
fn forbidden_labels(new: &Value<'_>, old: &Value<'_>) -> String {
    let none = Object::new();
    let new = members(new, &["metadata", "labels"]).unwrap_or(&none);
    let old = members(old, &["metadata", "labels"]).unwrap_or(&none);
    let keys: BTreeSet<&str> = new.iter().chain(old.iter()).map(|(key, _)| key).collect();
    let mut modified = keys.into_iter().filter(|key| new.get(key) != old.get(key));
    let forbidden: Vec<&str> = modified.by_ref().filter(|key| is_forbidden(key)).collect();
    forbidden.join(", ")
}

fn is_forbidden(label: &str) -> bool {
    let namespace = label.split_once('/').map_or("", |(namespace, _)| namespace);
    let is_within = |domain: &str| is_within_domain(namespace, domain);
    let is_kubernetes = is_within("kubernetes.io") || is_within("k8s.io");
    let is_of_kubelet =
        OF_KUBELET.contains(&label) || is_within("kubelet.kubernetes.io") || is_within("node.kubernetes.io");
    is_within("node-restriction.kubernetes.io") || is_kubernetes && !is_of_kubelet
}

/// Labels that kubelets set.
// Upstream: kubelet pkg/apis/well_known_labels.go, kubeletLabels
const OF_KUBELET: [&str; 11] = [
    "kubernetes.io/hostname",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
];
