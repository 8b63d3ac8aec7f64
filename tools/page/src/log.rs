//! An audit log of a week in which teams created Pods, made from a seed.

use pratique_harness::RandomDice;
use serde_json::{Value, json};

/// How many Pods were created.
const REQUESTS: usize = 400;

/// Teams: their namespace, who deploys there, what they run.
const TEAMS: [(&str, &str, &[&str]); 4] = [
    ("shop", "ci", &["cart", "checkout", "search"]),
    ("data", "airflow", &["ingest", "report"]),
    ("infra", "ann", &["agent", "proxy"]),
    ("web", "ben", &["frontend"]),
];

/// The log, as an API server writes it.
pub(super) fn log_text() -> String {
    let mut dice = RandomDice::new(7);
    (0..REQUESTS)
        .map(|number| format!("{}\n", event(number, &mut dice)))
        .collect()
}

fn event(number: usize, dice: &mut RandomDice) -> Value {
    const NONE: &(&str, &str, &[&str]) = &("web", "ben", &["frontend"]);
    let (namespace, user, apps) = dice.pick(&TEAMS).unwrap_or(NONE);
    let app = dice.pick(apps).copied().unwrap_or("frontend");
    let name = format!("{app}-{number:03}");
    let hardened = json!({
        "allowPrivilegeEscalation": false,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": true,
        "seccompProfile": {"type": "RuntimeDefault"},
    });
    let context = match (*namespace, app) {
        ("shop", _) => hardened,
        // Agents are what they were years ago.
        (_, "agent") => json!({"runAsUser": 0}),
        (_, "proxy") => json!({"capabilities": {"add": ["NET_BIND_SERVICE"]}}),
        _ if dice.chance(60) => hardened,
        _ => json!({}),
    };
    let object = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "ownerReferences": [{
                "apiVersion": "apps/v1", "kind": "StatefulSet", "name": app, "uid": "1", "controller": true,
            }],
        },
        "spec": {"containers": [{
            "name": app,
            "image": format!("registry.example.com/{namespace}/{app}:1.{}", dice.below(20)),
            "securityContext": context,
        }]},
    });
    let time = format!(
        "2026-05-{:02}T{:02}:{:02}:00.000000Z",
        4 + number * 7 / REQUESTS,
        8 + number % 9,
        number % 60
    );
    json!({
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Request",
        "auditID": format!("00000000-0000-0000-0000-{number:012}"),
        "stage": "ResponseComplete",
        "requestURI": format!("/api/v1/namespaces/{namespace}/pods"),
        "verb": "create",
        "user": {"username": user, "groups": ["system:authenticated"]},
        "objectRef": {"resource": "pods", "namespace": namespace, "name": name, "apiVersion": "v1"},
        "responseStatus": {"metadata": {}, "code": 201},
        "requestObject": object,
        "requestReceivedTimestamp": time,
        "stageTimestamp": time,
    })
}
