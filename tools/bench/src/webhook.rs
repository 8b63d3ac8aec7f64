//! Requests before webhooks: what one, and ten, add to a request, and how many requests there are in a second.
//!
//! Both sides call the same webhooks, which run in a process of their own and answer at once.

use pratique_harness::Error;
use serde_json::{Map, Value, json};

use super::contest::{Contest, Measure, Results};
use super::side::{Program, Side};
use super::{Against, Arguments, build};

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
pub(super) fn contest(arguments: &Arguments) -> Result<Results, Error> {
    let program = build::ours()?;
    let other = match arguments.against {
        Some(Against::Go) => build::go("webhook", "bench", &program)?,
        Some(Against::CelCrate) | None => None,
    };
    let patch = json!([{"op": "add", "path": "/metadata/labels/seen", "value": "yes"}]);
    let scripts = json!({
        "/validate": {"respond": {"allowed": true}},
        "/mutate": {"respond": {"allowed": true, "patchType": "JSONPatch", "patch": patch}},
    });
    let (backend, listeners) = Program::start(&program, &["backend"], &scripts)?;
    let setup = setup(&listeners)?;
    let (mut ours, facts) = Program::start(&program, &["webhook"], &setup)?;
    let mut theirs = match other {
        Some(other) => {
            let (theirs, found) = Program::start(&other, &[], &setup)?;
            if found != facts {
                return Err(format!("the sides differ: ours {facts}, theirs {found}").into());
            }
            Some(theirs)
        }
        None => None,
    };
    let theirs = theirs.as_mut().map(|theirs| theirs as &mut dyn Side);
    let results = plan(arguments).hold(&mut ours, theirs);
    drop(backend);
    results
}

fn plan(arguments: &Arguments) -> Contest {
    let wanted = |name: &str| arguments.only.as_ref().is_none_or(|only| name.contains(only));
    let measures = MEASURES.iter().map(|(name, title)| Measure {
        name: (*name).to_owned(),
        title: (*title).to_owned(),
    });
    Contest {
        name: "webhook".to_owned(),
        measures: measures.filter(|measure| wanted(&measure.name)).collect(),
        cases: CASES.iter().map(|(name, ..)| (*name).to_owned()).collect(),
        rounds: arguments.rounds,
        turn: arguments.length().max(std::time::Duration::from_millis(TURN)),
    }
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

fn setup(listeners: &Value) -> Result<Value, Error> {
    let mut object: Value = serde_json::from_str(pratique_benches::POD).map_err(|error| error.to_string())?;
    if let Some(metadata) = object.pointer_mut("/metadata").and_then(Value::as_object_mut) {
        metadata.remove("uid");
    }
    // An API server writes the status of pods that have none: this is what it asks webhooks in front of us about.
    if let Some(members) = object.as_object_mut() {
        members.insert("status".to_owned(), json!({}));
    }
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
