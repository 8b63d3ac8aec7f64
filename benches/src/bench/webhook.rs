//! Requests before webhooks: what one, and ten, add to a request, and how many requests there are in a second.
//!
//! Both sides call the same webhooks, which run in a process of their own and answer at once.

use std::time::Duration;

use pratique_harness::{ToolError, with};
use serde_json::{Map, Value, json};

use super::contest::{ContestResults, SideContest};
use super::side::{SideProgram, start_both};
use super::{BenchArguments, build};

/// A turn is at least so long, in milliseconds: calls take a thousand times as long as expressions.
const TURN: u64 = 400;

/// The cases: the listener, and how many webhooks.
const CASES: [(&str, &str, usize); 4] = [
    ("1 webhook", "http1", 1),
    ("10 webhooks", "http1", 10),
    ("1, HTTP/2", "http2", 1),
    ("10, HTTP/2", "http2", 10),
];

/// Builds both sides, starts the webhooks, sees that the sides find the same, and holds the contest.
pub(super) fn contest(arguments: &BenchArguments) -> Result<ContestResults, ToolError> {
    let program = build::ours()?;
    let other = build::other(arguments, "webhook", &program)?;
    let patch = json!([{"op": "add", "path": "/metadata/labels/seen", "value": "yes"}]);
    let scripts = json!({
        "/validate": {"respond": {"allowed": true}},
        "/mutate": {"respond": {"allowed": true, "patchType": "JSONPatch", "patch": patch}},
    });
    let (backend, listeners) = SideProgram::start(&program, &["backend"], &scripts)?;
    let sides = start_both(
        (&program, &["webhook"]),
        other.as_deref().map(|other| (other, &[][..])),
        &setup(&listeners)?,
        Value::clone,
    )?;
    let contest = SideContest {
        turn: arguments.length().max(Duration::from_millis(TURN)),
        ..SideContest::new(arguments, "webhook", &MEASURES, CASES.map(|(name, ..)| name))
    };
    let results = contest.between(sides);
    drop(backend);
    results
}

/// The work, by the names that the sides know.
const MEASURES: [(&str, &str); 3] = [
    (
        "validate",
        "validating webhooks, one request after the other (the plugin's Validate)",
    ),
    (
        "mutate",
        "mutating webhooks, one request after the other (the plugin's Admit)",
    ),
    (
        "throughput",
        "validating webhooks, 16 requests at once: time by request",
    ),
];

fn setup(listeners: &Value) -> Result<Value, ToolError> {
    let mut object: Value = serde_json::from_str(pratique_benches::POD).map_err(|error| error.to_string())?;
    if let Some(metadata) = object.pointer_mut("/metadata").and_then(Value::as_object_mut) {
        metadata.remove("uid");
    }
    // An API server writes the status of pods that have none: this is what it asks webhooks in front of us about.
    let object = with(object, [("status", json!({}))]);
    let cases = CASES.map(|(name, listener, count)| {
        let configuration = |kind: &str, path: &str| configuration(listeners, listener, count, kind, path);
        let both = json!({
            "mutating": configuration("Mutating", "mutate"),
            "validating": configuration("Validating", "validate"),
        });
        (name.to_owned(), both)
    });
    Ok(json!({
        "cases": Map::from_iter(cases),
        "namespace": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
        "request": {
            "uid": "0", "operation": "CREATE", "namespace": "shop",
            "name": object.pointer("/metadata/name"),
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "userInfo": {"username": "ann", "groups": ["system:authenticated"]},
            "object": object,
        },
    }))
}

fn configuration(listeners: &Value, listener: &str, count: usize, kind: &str, path: &str) -> Value {
    let member = |name: &str| listeners.get(name).and_then(Value::as_str).unwrap_or_default();
    let webhook = |number: usize| {
        json!({
            "name": format!("{path}{number}.example.com"),
            "clientConfig": {"url": format!("{}/{path}", member(listener)), "caBundle": member("caBundle")},
            "rules": [{
                "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["*"], "scope": "*",
            }],
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "failurePolicy": "Fail",
            "matchPolicy": "Equivalent",
            "namespaceSelector": {},
            "objectSelector": {},
            "timeoutSeconds": 10,
        })
    };
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": format!("{kind}WebhookConfiguration"),
        "metadata": {"name": path},
        "webhooks": (0..count).map(webhook).collect::<Vec<_>>(),
    })
}
