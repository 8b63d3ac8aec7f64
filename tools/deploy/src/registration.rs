//! Whether webhook configurations ask the server, and leave out what a cluster needs to start.

use pratique::expressions::Expressions;
use pratique_manifest::{ManifestFile, Options, load_api_files};
use serde_json::Value;

use super::State;
use super::objects::{Object, items, named, part, text};
use super::server;

/// Namespaces of what a cluster needs to start.
const SYSTEM: [&str; 3] = ["kube-node-lease", "kube-public", "kube-system"];

/// What is wrong with webhook configurations.
pub(super) fn faults(objects: &[Object], state: State) -> Vec<String> {
    let mut faults = Vec::new();
    for configuration in objects
        .iter()
        .filter(|configuration| configuration.kind().ends_with("WebhookConfiguration"))
    {
        let mut said: Vec<String> = refused(configuration);
        for hook in items(configuration.part("/webhooks")) {
            said.extend(asks(configuration, hook, objects));
            said.extend(exempts(hook));
            if state == State::Rendered {
                said.extend(trusts(configuration, hook, objects));
            }
        }
        faults.extend(said.into_iter().map(|fault| format!("{configuration}: {fault}")));
    }
    faults
}

/// What an API server would say.
fn refused(configuration: &Object) -> Vec<String> {
    let file = ManifestFile {
        path: configuration.origin.clone(),
        content: configuration.value.to_string().into_bytes(),
    };
    let expressions = Expressions::new(std::sync::Arc::default());
    match load_api_files(&[file], &Options::new(&expressions)) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.problems().map(|problem| problem.message.clone()).collect(),
    }
}

fn asks(configuration: &Object, hook: &Value, objects: &[Object]) -> Vec<String> {
    let service = part(hook, "/clientConfig/service");
    let (namespace, name) = (text(service, "/namespace"), text(service, "/name"));
    let mut faults = Vec::new();
    match named(objects, "Service", namespace, name) {
        None => faults.push(format!("there is no service {namespace}/{name}")),
        Some(of)
            if !items(of.part("/spec/ports"))
                .iter()
                .any(|port| port["port"] == service["port"]) =>
        {
            faults.push(format!("{namespace}/{name} has no port {}", service["port"]));
        }
        Some(_) => {}
    }
    let path = text(service, "/path");
    if !server::reviews(configuration.kind()).contains(&path) {
        faults.push(format!("the server does not answer this at {path}"));
    }
    faults
}

/// A webhook of a namespace that has to start by itself does not wait for itself, nor for what it waits for.
fn exempts(hook: &Value) -> Vec<String> {
    let namespace = text(hook, "/clientConfig/service/namespace");
    let requirements = items(part(hook, "/namespaceSelector/matchExpressions"));
    let is_exempt = |namespace: &str| {
        requirements.iter().any(|requirement| {
            text(requirement, "/key") == "kubernetes.io/metadata.name"
                && text(requirement, "/operator") == "NotIn"
                && items(&requirement["values"])
                    .iter()
                    .any(|value| value == namespace)
        })
    };
    SYSTEM
        .into_iter()
        .chain([namespace])
        .filter(|namespace| !is_exempt(namespace))
        .map(|namespace| format!("{} waits for {namespace} to start", hook["name"]))
        .collect()
}

/// The API server is told by what to trust the server, now or by cert-manager.
fn trusts(configuration: &Object, hook: &Value, objects: &[Object]) -> Option<String> {
    if !text(hook, "/clientConfig/caBundle").is_empty() {
        return None;
    }
    let injected = configuration.part("/metadata/annotations")["cert-manager.io/inject-ca-from"].as_str();
    let (namespace, name) = injected.unwrap_or_default().split_once('/').unwrap_or_default();
    match named(objects, "Certificate", namespace, name) {
        Some(_) => None,
        None => Some(format!("nothing says by what to trust {}", hook["name"])),
    }
}
