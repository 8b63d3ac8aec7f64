//! Changes in a cluster take effect in decisions.

use std::time::Duration;

use pratique::live::Source;
use pratique::observer::{AdmissionPhase, AdmissionPhases};
use pratique::types::AdmissionRequest;
use pratique::{Admission, Live};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::server::{BINDINGS, DEFINITIONS, FakeServer, MUTATING, NAMESPACES, POLICIES};

pub(crate) fn policy(expression: &str) -> Value {
    json!({"metadata": {"name": "p", "uid": "1"}, "spec": {
        "failurePolicy": "Fail",
        "matchConstraints": {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}, "resourceRules": [
            {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["*"], "scope": "*"}]},
        "validations": [{"expression": expression}]}})
}

pub(crate) fn binding() -> Value {
    json!({"metadata": {"name": "p"}, "spec": {"policyName": "p", "validationActions": ["Deny"]}})
}

fn namespace(name: &str, open: &str) -> Value {
    json!({"metadata": {"name": name, "labels": {"open": open}}})
}

pub(crate) fn start(server: &FakeServer) -> Live {
    let api = server.api();
    let live = Admission::builder().live().cluster(api.cluster());
    live.source(api.source()).decider(api.reviewer()).start().unwrap()
}

pub(crate) fn request(namespace: &str) -> AdmissionRequest<'static> {
    let text = json!({"uid": "u", "kind": {"version": "v1", "kind": "ConfigMap"},
        "resource": {"version": "v1", "resource": "configmaps"}, "namespace": namespace, "name": "c",
        "operation": "CREATE", "userInfo": {"username": "ann"},
        "object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}});
    let text: &'static str = Box::leak(text.to_string().into_boxed_str());
    serde_json::from_str(text).unwrap()
}

/// 200, or what is said instead.
pub(crate) async fn code(live: &Live, namespace: &str) -> i32 {
    let response = live
        .review(&request(namespace), AdmissionPhase::Validating)
        .await
        .unwrap();
    response.result.map_or(200, |status| status.code)
}

pub(crate) async fn becomes(live: &Live, namespace: &str, expected: i32) {
    let mut last = 0;
    for _ in 0..3000 {
        last = code(live, namespace).await;
        if last == expected {
            return;
        }
        sleep(Duration::from_millis(20)).await;
    }
    panic!("still {last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn policies_come_change_and_go() {
    let server = FakeServer::default();
    server.lack(MUTATING);
    server.put(POLICIES, policy("false"));
    server.put(BINDINGS, binding());
    server.put(NAMESPACES, namespace("shop", "no"));
    let live = start(&server);
    live.ready().await.unwrap();
    assert_eq!(code(&live, "shop").await, 422);
    server.put(POLICIES, policy("true"));
    becomes(&live, "shop", 200).await;
    server.put(POLICIES, policy("object.metadata.name != 'c'"));
    becomes(&live, "shop", 422).await;
    server.delete(BINDINGS, "p");
    becomes(&live, "shop", 200).await;
    live.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happened_while_disconnected_shows_afterwards() {
    let server = FakeServer::default();
    server.put(NAMESPACES, namespace("shop", "no"));
    let live = start(&server);
    live.ready().await.unwrap();
    while !server.watched(POLICIES) || !server.watched(BINDINGS) {
        sleep(Duration::from_millis(10)).await;
    }
    server.put_quietly(POLICIES, policy("false"));
    server.put_quietly(BINDINGS, binding());
    assert_eq!(code(&live, "shop").await, 200);
    server.disconnect();
    becomes(&live, "shop", 422).await;
    assert!(server.lists(POLICIES) >= 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn namespaces_have_their_labels() {
    let server = FakeServer::default();
    server.put(POLICIES, policy("namespaceObject.metadata.labels.open == 'yes'"));
    server.put(BINDINGS, binding());
    server.put(NAMESPACES, namespace("shop", "no"));
    let live = start(&server);
    live.ready().await.unwrap();
    assert_eq!(code(&live, "shop").await, 422);
    server.put(NAMESPACES, namespace("shop", "yes"));
    becomes(&live, "shop", 200).await;
    becomes(&live, "new", 404).await;
    server.put_quietly(NAMESPACES, namespace("new", "yes"));
    becomes(&live, "new", 200).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn params_are_followed_while_a_policy_names_them() {
    const WIDGETS: &str = "/apis/example.com/v1/widgets";
    let server = FakeServer::default();
    server.put(NAMESPACES, namespace("shop", "no"));
    server.put(
        DEFINITIONS,
        json!({"metadata": {"name": "widgets.example.com"}, "spec": {"group": "example.com", "scope": "Cluster",
            "names": {"kind": "Widget", "plural": "widgets"}, "versions": [{"name": "v1", "served": true}]},
            "status": {"conditions": [{"type": "Established", "status": "True"}]}}),
    );
    let widget = |may: bool| json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"may": may}});
    server.put(WIDGETS, widget(false));
    let mut with_params = policy("params.spec.may && params.kind == 'Widget'");
    with_params["spec"]["paramKind"] = json!({"apiVersion": "example.com/v1", "kind": "Widget"});
    server.put(POLICIES, with_params.clone());
    let mut bound = binding();
    bound["spec"]["paramRef"] = json!({"name": "w", "parameterNotFoundAction": "Deny"});
    server.put(BINDINGS, bound);
    let live = start(&server);
    live.ready().await.unwrap();
    assert_eq!(code(&live, "shop").await, 422);
    server.put(WIDGETS, widget(true));
    becomes(&live, "shop", 200).await;
    server.delete(WIDGETS, "w");
    becomes(&live, "shop", 422).await;
    with_params["spec"]["paramKind"]["kind"] = json!("Gadget");
    server.put(POLICIES, with_params);
    let reason = async || {
        let response = live
            .review(&request("shop"), AdmissionPhases::Both)
            .await
            .unwrap();
        response.result.map(|status| status.message).unwrap_or_default()
    };
    while !reason().await.contains("Gadget") {
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unchanged_object_stays_the_same() {
    let server = FakeServer::default();
    let mut policy = policy("true");
    policy["metadata"]["generation"] = json!(1);
    server.put(POLICIES, policy.clone());
    let source = server.api().source();
    let current = async || loop {
        match source.current() {
            Some(current) => return current,
            None => sleep(Duration::from_millis(10)).await,
        }
    };
    let before = current().await;
    policy["status"] = json!({"observedGeneration": 1});
    server.put(POLICIES, policy);
    server.put(BINDINGS, binding());
    let mut after = current().await;
    while after.validating_bindings.is_empty() {
        sleep(Duration::from_millis(10)).await;
        after = current().await;
    }
    assert!(std::sync::Arc::ptr_eq(
        &before.validating_policies[0],
        &after.validating_policies[0]
    ));
    source.stop();
}
