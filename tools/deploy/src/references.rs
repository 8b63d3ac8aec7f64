//! Whether what objects name is there: labels, ports, accounts, roles, namespaces.

use serde_json::Value;

use super::objects::{Object, items, named, of_kind, selects, text};
use super::server;

/// Kinds that make Pods, and where these are described.
const PODS: [(&str, &str); 3] = [
    ("Deployment", "/spec/template/spec"),
    ("Job", "/spec/template/spec"),
    ("CronJob", "/spec/jobTemplate/spec/template/spec"),
];

/// What is named and is not there.
pub(super) fn faults(objects: &[Object]) -> Vec<String> {
    let mut faults = twice(objects);
    faults.extend(of_kind(objects, "Service").flat_map(|object| service(object, objects)));
    for (kind, pointer) in [
        ("PodDisruptionBudget", "/spec/selector/matchLabels"),
        ("NetworkPolicy", "/spec/podSelector/matchLabels"),
    ] {
        let idle = of_kind(objects, kind)
            .filter(|object| selected(object, object.part(pointer), objects).is_empty());
        faults.extend(idle.map(|object| format!("{object}: it selects no Pods")));
    }
    faults.extend(of_kind(objects, "NetworkPolicy").flat_map(|policy| ingress(policy, objects)));
    faults.extend(of_kind(objects, "ClusterRoleBinding").flat_map(|object| binding(object, objects)));
    faults.extend(of_kind(objects, "ServiceMonitor").flat_map(|object| monitor(object, objects)));
    faults.extend(objects.iter().filter_map(|object| namespace(object, objects)));
    faults
}

/// The deployments whose Pods a selector of an object finds.
fn selected<'o>(object: &Object, selector: &Value, objects: &'o [Object]) -> Vec<&'o Object> {
    of_kind(objects, "Deployment")
        .filter(|of| of.namespace() == object.namespace())
        .filter(|of| selects(selector, of.part("/spec/template/metadata/labels")))
        .collect()
}

/// Whether containers of a deployment have a port of this name or number.
pub(super) fn has_port(deployment: &Object, port: &Value) -> bool {
    let containers = items(deployment.part("/spec/template/spec/containers"));
    let mut ports = containers.iter().flat_map(|container| items(&container["ports"]));
    ports.any(|listed| listed["name"] == *port || listed["containerPort"] == *port)
}

fn twice(objects: &[Object]) -> Vec<String> {
    let key = |of: &Object| {
        (
            of.kind().to_owned(),
            of.namespace().to_owned(),
            of.name().to_owned(),
        )
    };
    let mut keys: Vec<_> = objects.iter().map(key).collect();
    keys.sort();
    let pairs = keys.iter().zip(keys.iter().skip(1));
    pairs
        .filter(|(left, right)| left == right)
        .map(|((kind, _, name), _)| format!("{kind} {name} is there twice"))
        .collect()
}

fn service(object: &Object, objects: &[Object]) -> Vec<String> {
    let deployments = selected(object, object.part("/spec/selector"), objects);
    if deployments.is_empty() {
        return vec![format!("{object}: it selects no Pods")];
    }
    let ports = items(object.part("/spec/ports"))
        .iter()
        .map(|port| &port["targetPort"]);
    ports
        .filter(|port| !deployments.iter().all(|of| has_port(of, port)))
        .map(|port| format!("{object}: its Pods have no port {port}"))
        .collect()
}

fn ingress(policy: &Object, objects: &[Object]) -> Vec<String> {
    let deployments = selected(policy, policy.part("/spec/podSelector/matchLabels"), objects);
    let rules = items(policy.part("/spec/ingress")).iter();
    rules
        .flat_map(|rule| items(&rule["ports"]))
        .filter(|port| !deployments.iter().all(|of| has_port(of, &port["port"])))
        .map(|port| format!("{policy}: its Pods have no port {}", port["port"]))
        .collect()
}

fn binding(object: &Object, objects: &[Object]) -> Vec<String> {
    let mut faults = Vec::new();
    let role = object.text("/roleRef/name");
    if named(objects, object.text("/roleRef/kind"), "", role).is_none() {
        faults.push(format!("{object}: there is no role {role}"));
    }
    for subject in items(object.part("/subjects")) {
        let (namespace, name) = (text(subject, "/namespace"), text(subject, "/name"));
        let mut users = PODS.iter().flat_map(|(kind, pod)| {
            let users = of_kind(objects, kind).filter(|of| of.namespace() == namespace);
            users.map(move |of| of.text(&format!("{pod}/serviceAccountName")).to_owned())
        });
        if !users.any(|user| user == name) {
            faults.push(format!(
                "{object}: no workload uses the account {namespace}/{name}"
            ));
        }
    }
    faults
}

fn monitor(object: &Object, objects: &[Object]) -> Vec<String> {
    let selector = object.part("/spec/selector/matchLabels");
    let mut services = of_kind(objects, "Service")
        .filter(|of| of.namespace() == object.namespace() && selects(selector, of.part("/metadata/labels")));
    let Some(service) = services.next() else {
        return vec![format!("{object}: it selects no service")];
    };
    let ports = items(service.part("/spec/ports"));
    let mut faults = Vec::new();
    for endpoint in items(object.part("/spec/endpoints")) {
        if !ports.iter().any(|port| port["name"] == endpoint["port"]) {
            faults.push(format!("{object}: the service has no port {}", endpoint["port"]));
        }
        if text(endpoint, "/path") != server::METRICS || text(endpoint, "/scheme") != "https" {
            faults.push(format!("{object}: metrics are at https and {}", server::METRICS));
        }
    }
    faults
}

/// What belongs to a namespace says to which.
fn namespace(object: &Object, objects: &[Object]) -> Option<String> {
    const OF_THE_CLUSTER: [&str; 5] = [
        "ClusterRole",
        "ClusterRoleBinding",
        "MutatingWebhookConfiguration",
        "Namespace",
        "ValidatingWebhookConfiguration",
    ];
    let is_named = !object.namespace().is_empty();
    if OF_THE_CLUSTER.contains(&object.kind()) == is_named {
        return Some(format!("{object}: its namespace is {:?}", object.namespace()));
    }
    let mut namespaces = of_kind(objects, "Namespace").map(Object::name).peekable();
    let is_there = namespaces.peek().is_none() || namespaces.any(|name| name == object.namespace());
    (is_named && !is_there).then(|| format!("{object}: no object makes the namespace {}", object.namespace()))
}
