//! Audit logs of managed clusters: what they have is replayed, and what they lack is undecided, and counted.

use serde_json::{Value, json};

use crate::project::POLICY;
use crate::support::{Directory, Run};

fn deployment(replicas: i32) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "a", "image": "a"}]}}},
    })
}

fn event(level: &str) -> String {
    let mut event = json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": level, "stage": "ResponseComplete", "auditID": "id", "verb": "create",
        "requestURI": "/apis/apps/v1/namespaces/shop/deployments", "user": {"username": "ann", "groups": ["devs"]},
        "objectRef": {"resource": "deployments", "namespace": "shop", "apiGroup": "apps", "apiVersion": "v1"},
        "responseStatus": {"code": 201},
    });
    if level == "Request" {
        event["requestObject"] = deployment(9);
    }
    event.to_string()
}

fn replay(log: &str, policy: &str) -> Run {
    let directory = Directory::new()
        .with("policies/few.yaml", policy)
        .with("log", log);
    directory.run(&["replay", "log", "--policies", "policies", "-o", "ndjson"])
}

/// The line of the request in the answer.
#[track_caller]
fn request(run: &Run) -> Value {
    let line = run
        .stdout
        .lines()
        .find(|line| line.contains("\"subject\"") || line.contains("\"now\""));
    serde_json::from_str(line.unwrap_or_else(|| panic!("{run}"))).unwrap()
}

#[test]
fn events_within_other_entries_are_replayed() {
    let text = event("Request");
    let message = json!({"message": text.clone()}).to_string();
    let azure = json!({"category": "kube-audit", "properties": {"log": text}}).to_string();
    let export = format!("2026-01-01T00:00:00.000Z\t{text}\n");
    for log in [message, azure, export] {
        let run = replay(&log, POLICY);
        run.exits(1).stdout_has("at most 3 replicas");
    }
}

#[test]
fn what_is_missing_is_undecided_and_counted() {
    let lines = [
        json!({"message": event("Metadata")}).to_string(),
        json!({"message": "time=\"2026-01-01\" level=info msg=\"authenticated\""}).to_string(),
    ];
    let directory = Directory::new()
        .with("policies/few.yaml", POLICY)
        .with("log", lines.join("\n"));
    directory
        .run(&["replay", "log", "--policies", "policies"])
        .exits(3)
        .stdout_has("the event is of level Metadata")
        .stdout_has("entries of other logs");
}

/// An entry of Google Cloud Logging about a Deployment.
fn google(method: &str, object: &Value) -> Value {
    json!({
        "protoPayload": {
            "@type": "type.googleapis.com/google.cloud.audit.AuditLog", "serviceName": "k8s.io",
            "methodName": format!("io.k8s.apps.v1.deployments.{method}"), "resourceName": "apps/v1/namespaces/shop/deployments/web",
            "authenticationInfo": {"principalEmail": "ann@example.com"}, "request": object,
        },
        "insertId": "i", "timestamp": "2026-01-01T00:00:00Z", "labels": {"authorization.k8s.io/decision": "allow"},
        "operation": {"id": "id", "producer": "k8s.io", "first": true, "last": true},
    })
}

#[test]
fn what_google_has_is_decided() {
    let log = google("create", &deployment(9)).to_string();
    let run = replay(&log, POLICY);
    run.exits(1).stdout_has("ann@example.com");
    assert_eq!(request(&run)["now"]["decision"], "denied", "{run}");
    let reads = |expression: &str| POLICY.replace("object.spec.replicas <= 3", expression);
    replay(&log, &reads("request.userInfo.username == 'ann@example.com'")).exits(0);
    // The same request in a whole log is decided alike.
    replay(&event("Request"), POLICY).exits(1);
}

#[test]
fn what_google_leaves_out_is_undecided() {
    let log = google("create", &deployment(2)).to_string();
    let reads = |expression: &str| POLICY.replace("object.spec.replicas <= 3", expression);
    for (expression, path) in [
        ("'devs' in request.userInfo.groups", "request.userInfo.groups"),
        ("!request.dryRun", "request.dryRun"),
        ("request.options.fieldManager != ''", "request.options"),
    ] {
        let run = replay(&log, &reads(expression));
        run.exits(3).stdout_has(&format!(
            "the log that the request comes from does not have {path}"
        ));
        assert_eq!(request(&run)["now"]["decision"], "undecided", "{run}");
    }
    // What another rule of it decides is decided.
    replay(
        &log,
        &reads("object.spec.replicas <= 3 || 'devs' in request.userInfo.groups"),
    )
    .exits(0);
    // Of what these are, too much is left out.
    let replaced = |version: &str| {
        let mut object = deployment(9);
        object["metadata"]["resourceVersion"] = json!(version);
        google("update", &object).to_string()
    };
    for log in [
        google("patch", &json!({"spec": {"replicas": 9}})).to_string(),
        replaced(""),
    ] {
        let run = replay(&log, POLICY);
        run.exits(3).stdout_has("\"unknown\":\"details\"");
        // No policy matches it.
        let other = POLICY.replace("resources: [deployments]", "resources: [statefulsets]");
        replay(&log, &other).exits(0);
    }
    // An answer with what was there before says that it is an update, and what came of it.
    let mut answered = google("patch", &json!({"spec": {"replicas": 9}}));
    let mut stored = deployment(9);
    stored["metadata"]["creationTimestamp"] = json!("2025-12-31T00:00:00Z");
    answered["protoPayload"]["response"] = stored;
    let updates = POLICY.replace("operations: [CREATE]", "operations: [UPDATE]");
    let run = replay(&answered.to_string(), &updates);
    run.exits(1).stdout_has("at most 3 replicas");
    replay(&replaced("7"), &updates).exits(1);
}

#[test]
fn a_verb_that_is_not_known_may_be_any() {
    let log = event("Request").replace("\"verb\":\"create\"", "\"verb\":\"other\"");
    replay(&log, POLICY).exits(3).stdout_has("\"unknown\":\"verb\"");
    let other = POLICY.replace("resources: [deployments]", "resources: [statefulsets]");
    replay(&log, &other).exits(0);
}
