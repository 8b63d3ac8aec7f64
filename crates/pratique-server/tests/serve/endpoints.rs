//! What is at each path.

use std::sync::atomic::Ordering;
use std::time::Duration;

use pratique_audit::{Level, Log, LogOptions, Target};
use serde_json::json;

use super::client::{Client, review};
use super::running::Running;

#[test]
fn reviews_are_answered() {
    let server = Running::start();
    let mut client = Client::to(server.address);
    let expected = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "response": {
            "uid": "u1", "allowed": true, "warnings": ["Mutating"], "auditAnnotations": {"p.static.k8s.io.key": "value"}
        }
    });
    let answer = client.review("/mutate?timeout=5s", "web");
    assert_eq!((answer.code, answer.json()), (200, expected));
    assert!(answer.has("content-type: application/json"), "{}", answer.head);
    assert_eq!(
        client.review("/validate", "web").json()["response"]["warnings"],
        json!(["Validating"])
    );
    assert_eq!(
        client.review("/admit", "web").json()["response"]["warnings"],
        json!(["Both"])
    );
    let denied = client.review("/validate", "deny").json();
    assert_eq!(denied["response"]["allowed"], false);
    assert_eq!(denied["response"]["status"]["code"], 422);

    let mut older = review("web");
    older["apiVersion"] = "admission.k8s.io/v1beta1".into();
    let answer = client.ask("POST", "/validate", "", older.to_string().as_bytes());
    assert_eq!(answer.json()["apiVersion"], "admission.k8s.io/v1beta1");
}

#[test]
fn what_is_no_review_is_refused() {
    let server = Running::start();
    let mut client = Client::to(server.address);
    let mut check = |path: &str, headers: &str, body: &str, code: u16, words: &str| {
        let answer = client.ask("POST", path, headers, body.as_bytes());
        let status = answer.json();
        assert_eq!(
            (answer.code, &status["code"], &status["kind"]),
            (code, &json!(code), &json!("Status")),
            "{body}"
        );
        assert!(status["message"].as_str().unwrap().contains(words), "{status}");
    };
    let whole = review("web").to_string();
    check("/validate", "", "{", 400, "no AdmissionReview: EOF");
    check("/validate", "", "{}", 400, "found kind \"\"");
    check(
        "/validate",
        "",
        &whole.replace("/v1\"", "/v2\""),
        400,
        "admission.k8s.io/v2",
    );
    check(
        "/validate",
        "",
        r#"{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}"#,
        400,
        "has no request",
    );
    check(
        "/validate",
        "",
        &whole.replace("\"resource\":\"pods\"", "\"name\":\"pods\""),
        400,
        "resource.resource: must not be empty",
    );
    for (from, to, message) in [
        ("CREATE", "", "operation: must be one of"),
        ("\"pods\"", "\"Pods\"", "\"Pods\" is not the name of a resource"),
        ("\"pods\"", "\"pods/status\"", "belongs into subResource"),
        (
            "\"pods\"",
            "\"configmaps\"",
            "carry objects of kind ConfigMap, not Pod",
        ),
        (
            "\"object\":{",
            "\"object\":{\"kind\":\"Node\",",
            "object: is of kind Node",
        ),
    ] {
        let changed = whole.replace(from, to);
        assert_ne!(changed, whole);
        check("/validate", "", &changed, 400, message);
    }
    check("/validate", "", &"[".repeat(100_000), 400, "no AdmissionReview");
    let deep = whole.replace(
        "{\"name\":\"web\"}",
        &format!("{}1{}", "{\"a\":".repeat(5000), "}".repeat(5000)),
    );
    check("/validate", "", &deep, 400, "exceeded max depth");
    check(
        "/validate",
        "Content-Type: text/yaml\r\n",
        &whole,
        415,
        "application/json",
    );
    check(
        "/validate?timeout=soon",
        "",
        &whole,
        400,
        "invalid timeout \"soon\"",
    );
    check("/other", "", &whole, 404, "could not find");
    check("/livez", "", &whole, 405, "only GET");
    assert_eq!(client.get("/validate").code, 405);
    assert_eq!(client.review("/validate", "web").code, 200);
}

#[test]
fn readiness_is_told() {
    let server = Running::start();
    let mut client = Client::to(server.address);
    server.handler.loading.store(true, Ordering::Relaxed);
    let answer = client.get("/readyz");
    assert_eq!((answer.code, &*answer.body), (503, "still loading\n"));
    let answer = client.review("/validate", "web");
    assert_eq!((answer.code, answer.has("retry-after: 1")), (503, true));
    assert_eq!(client.get("/livez").code, 200);
    let configuration = client.get("/configz").json();
    assert_eq!(
        (&configuration["ready"], &configuration["notReady"]),
        (&json!(false), &json!("still loading"))
    );
    server.handler.loading.store(false, Ordering::Relaxed);
    assert_eq!(client.get("/readyz").code, 200);
    assert_eq!(client.ask("HEAD", "/healthz", "", b"").code, 200);
}

#[test]
fn metrics_are_served_in_both_formats() {
    let server = Running::with(|settings| settings.metrics.audit_event());
    let mut client = Client::to(server.address);
    let answer = client.get("/metrics");
    assert!(
        answer.has("content-type: text/plain; version=0.0.4; charset=utf-8"),
        "{}",
        answer.head
    );
    assert!(answer.body.contains("\napiserver_audit_event_total 1\n"));
    let answer = client.ask("GET", "/metrics", "Accept: application/openmetrics-text\r\n", b"");
    assert!(answer.has("content-type: application/openmetrics-text; version=1.0.0; charset=utf-8"));
    assert!(answer.body.ends_with("# EOF\n"));
}

#[test]
fn the_configuration_is_told() {
    let server = Running::start();
    let found = Client::to(server.address).get("/configz").json();
    let expected = json!({
        "version": env!("CARGO_PKG_VERSION"), "ready": true,
        "sources": [{
            "plugin": "ValidatingAdmissionPolicy", "location": "/etc/<manifests>", "hash": "sha256:1",
            "names": ["p.static.k8s.io"], "loaded": "1970-01-01T00:00:00.000Z",
            "lastReload": {"at": "1970-01-01T00:00:00.000Z", "error": "a.yaml: <no>"}
        }]
    });
    assert_eq!(found, expected);
}

#[test]
fn decisions_are_kept_in_the_audit_log() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.log");
    let log = Log::start(LogOptions::new(Target::File(path.clone()), Level::Metadata)).unwrap();
    let server = Running::with(|settings| settings.audit = Some(log.clone()));
    let mut client = Client::to(server.address);
    client.review("/validate", "deny");
    assert!(
        client
            .get("/metrics")
            .body
            .contains("apiserver_audit_event_total 1")
    );
    log.close(Duration::from_secs(10));
    let event: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(event["responseStatus"]["code"], 422);
    assert_eq!(event["annotations"], json!({"p.static.k8s.io/key": "value"}));
}

#[test]
fn a_task_that_ended_is_told_and_counted() {
    let server = Running::start();
    let mut client = Client::to(server.address);
    let name = "pratique_background_tasks_ended_total{task=\"reload\"}";
    assert!(client.get("/metrics").body.contains(&format!("{name} 0\n")));
    assert_eq!(client.get("/livez").code, 200);
    server
        .handler
        .dead
        .store(true, std::sync::atomic::Ordering::Relaxed);
    for (path, code) in [("/readyz", 503), ("/livez", 500)] {
        let answer = client.get(path);
        assert_eq!(
            (answer.code, &*answer.body),
            (code, "background tasks ended: reload\n"),
            "{path}"
        );
    }
    assert_eq!(
        client.review("/validate", "web").code,
        200,
        "what was in effect stays"
    );
    assert_eq!(client.get("/configz").json()["endedTasks"][0], "reload");
    assert!(client.get("/metrics").body.contains(&format!("{name} 1\n")));
}
