//! What plugins see of a cluster, and defaults of its custom resources.

use std::time::Duration;

use pratique::cluster::ClusterView as _;
use pratique::object_model::{ObjectModel as _, ObjectMutator};
use pratique::plugins::StateKind;
use pratique::types::{AdmissionRequest, GroupVersionKind};
use pratique_kube::ApiCluster;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::server::{DEFINITIONS, FakeServer};

const PODS: &str = "/api/v1/namespaces/shop/pods";

const KINDS: [StateKind; 2] = [StateKind::POD, StateKind::CUSTOM_RESOURCE_DEFINITION];

fn definition(size: u32) -> Value {
    json!({"metadata": {"name": "widgets.example.com"}, "spec": {"group": "example.com", "scope": "Namespaced",
        "names": {"kind": "Widget", "plural": "widgets"}, "versions": [
            {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object",
                "properties": {"size": {"type": "integer", "default": size}, "parts": {"type": "integer"}}}}},
            {"name": "v1alpha1", "served": false, "storage": false, "schema": {"openAPIV3Schema": {"type": "object"}}}]},
        "status": {"conditions": [{"type": "Established", "status": "True"}]}})
}

/// An update of the namespace `shop` to this level of pod security, from none.
fn update(level: &str) -> AdmissionRequest<'static> {
    let namespace = |labels: Value| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": labels}});
    let labels = match level {
        "" => json!({"team": "till"}),
        level => json!({"pod-security.kubernetes.io/enforce": level}),
    };
    let text = json!({"uid": "u", "kind": {"version": "v1", "kind": "Namespace"}, "name": "shop", "namespace": "shop",
        "resource": {"version": "v1", "resource": "namespaces"}, "operation": "UPDATE",
        "object": namespace(labels), "oldObject": namespace(json!({}))});
    let text: &'static str = Box::leak(text.to_string().into_boxed_str());
    serde_json::from_str(text).unwrap()
}

/// The names of what plugins see of a kind; `None` where it is not known.
async fn seen(cluster: &ApiCluster, request: &AdmissionRequest<'_>, kind: StateKind) -> Option<Vec<String>> {
    let state = cluster.plugin_state(request, &KINDS).unwrap().await;
    let namespace = if kind.namespaced { "shop" } else { "" };
    let name = |object: &std::sync::Arc<pratique::json::Value<'static>>| {
        let name = object
            .at(&["metadata", "name"])
            .and_then(|name| name.as_str().map(str::to_owned));
        name.unwrap()
    };
    Some(state.list(kind, namespace)?.iter().map(name).collect())
}

async fn ready(cluster: &ApiCluster) {
    while !cluster.is_ready() {
        sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn definitions_are_seen_once_they_are_known() {
    let server = FakeServer::default();
    server.put(DEFINITIONS, definition(1));
    let cluster = server.api().cluster();
    ready(&cluster).await;
    let request = update("");
    let kind = StateKind::CUSTOM_RESOURCE_DEFINITION;
    assert_eq!(
        seen(&cluster, &request, kind).await.unwrap(),
        ["widgets.example.com"]
    );
    let state = cluster.plugin_state(&request, &KINDS).unwrap().await;
    let versions = state.list(kind, "").unwrap()[0]
        .at(&["spec", "versions"])
        .unwrap();
    assert_eq!(
        versions.to_string(),
        r#"[{"name":"v1"}]"#,
        "those that are served"
    );
    server.delete(DEFINITIONS, "widgets.example.com");
    while seen(&cluster, &request, kind).await != Some(Vec::new()) {
        sleep(Duration::from_millis(10)).await;
    }
    // Of other kinds nothing is known.
    assert_eq!(seen(&cluster, &request, StateKind::SECRET).await, None);
    cluster.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn pods_are_read_for_another_level() {
    let server = FakeServer::default();
    for name in ["b", "a"] {
        server.put(
            PODS,
            json!({"metadata": {"name": name, "namespace": "shop"}, "spec": {}}),
        );
    }
    let cluster = server.api().cluster();
    ready(&cluster).await;
    assert_eq!(seen(&cluster, &update(""), StateKind::POD).await, None);
    assert_eq!(server.lists(PODS), 0);
    let request = update("baseline");
    assert_eq!(
        seen(&cluster, &request, StateKind::POD).await.unwrap(),
        ["a", "b"]
    );
    server.lack(PODS);
    assert_eq!(
        seen(&cluster, &request, StateKind::POD).await,
        None,
        "what cannot be read is not known"
    );
    cluster.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn custom_resources_are_defaulted_by_their_definitions() {
    let server = FakeServer::default();
    server.put(DEFINITIONS, definition(1));
    let cluster = server.api().cluster();
    ready(&cluster).await;
    let defaulted = |kind: &str| {
        let kind = GroupVersionKind::new("example.com", "v1", kind);
        let text = br#"{"apiVersion": "example.com/v1", "kind": "Widget"}"#;
        let mut object = pratique::json::parse(text).unwrap();
        let model = cluster.object_defaults();
        model.set_defaults(&kind, &mut object, ObjectMutator::Policy("p"));
        object.get("size").map(ToString::to_string)
    };
    assert_eq!(defaulted("Widget").as_deref(), Some("1"));
    assert_eq!(defaulted("Gadget"), None);
    server.put(DEFINITIONS, definition(2));
    while defaulted("Widget").as_deref() != Some("2") {
        sleep(Duration::from_millis(10)).await;
    }
    cluster.stop();
}
