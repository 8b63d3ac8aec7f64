//! What an event says.

use pratique_audit::{Event, Level};
use pratique_types::{AdmissionRequest, AdmissionResponse, Status};
use serde_json::json;

use super::moment;

const REQUEST: &str = r#"{
    "uid": "u1", "operation": "UPDATE", "name": "web", "namespace": "shop",
    "kind": {"group": "apps", "version": "v1", "kind": "Deployment"},
    "resource": {"group": "apps", "version": "v1", "resource": "deployments"}, "subResource": "status",
    "userInfo": {"username": "dev", "groups": ["team"]},
    "object": {"metadata": {"name": "web", "labels": {"a": "<b>"}}},
    "oldObject": {"metadata": {"name": "web", "uid": "o1", "resourceVersion": "7"}}
}"#;

fn check(level: Level, response: &AdmissionResponse, change: &[(&str, serde_json::Value)]) {
    let request: AdmissionRequest<'_> = serde_json::from_str(REQUEST).unwrap();
    let event = Event::new(level, &request, response, (moment(), moment()));
    let line = event.with_response_object(&request.object).to_line().unwrap();
    let mut expected = json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": "u1", "stage": "ResponseComplete",
        "requestURI": "/apis/apps/v1/namespaces/shop/deployments/web/status", "verb": "update",
        "user": {"username": "dev", "groups": ["team"]},
        "objectRef": {
            "resource": "deployments", "namespace": "shop", "name": "web", "uid": "o1", "apiGroup": "apps",
            "apiVersion": "v1", "resourceVersion": "7", "subresource": "status"
        },
        "responseStatus": {"metadata": {}, "code": 200},
        "requestReceivedTimestamp": "2026-11-21T02:04:02.934138Z", "stageTimestamp": "2026-11-21T02:04:02.934138Z"
    });
    for (name, value) in change {
        expected[name] = value.clone();
    }
    let found: serde_json::Value = serde_json::from_slice(&line).unwrap();
    assert_eq!(found, expected);
    assert!(!line.contains(&b'\n'));
}

#[test]
fn events_have_the_shape_of_the_api() {
    let allowed = AdmissionResponse {
        allowed: true,
        ..AdmissionResponse::default()
    };
    check(Level::Metadata, &allowed, &[]);
    let object = json!({"metadata": {"name": "web", "labels": {"a": "<b>"}}});
    let objects = [
        ("level", json!("RequestResponse")),
        ("requestObject", object.clone()),
        ("responseObject", object),
    ];
    check(
        Level::Request,
        &allowed,
        &[("level", json!("Request")), objects[1].clone()],
    );
    check(Level::RequestResponse, &allowed, &objects);

    let status = Status {
        message: "no".into(),
        reason: "Invalid".into(),
        code: 422,
        ..Status::default()
    };
    let annotations = [(
        "validation.policy.admission.k8s.io/validation_failure".into(),
        "[]".into(),
    )]
    .into();
    let denied = AdmissionResponse {
        result: Some(status),
        audit_annotations: annotations,
        ..AdmissionResponse::default()
    };
    let status =
        json!({"metadata": {}, "status": "Failure", "message": "no", "reason": "Invalid", "code": 422});
    let annotations = json!({"validation.policy.admission.k8s.io/validation_failure": "[]"});
    check(
        Level::Metadata,
        &denied,
        &[("responseStatus", status), ("annotations", annotations)],
    );
    let bare = json!({"metadata": {}, "code": 403});
    check(
        Level::Metadata,
        &AdmissionResponse::default(),
        &[("responseStatus", bare)],
    );
}

#[test]
fn paths_are_those_of_resources() {
    let check = |request: serde_json::Value, expected: &str| {
        let text = request.to_string();
        let request: AdmissionRequest<'_> = serde_json::from_str(&text).unwrap();
        let response = AdmissionResponse::default();
        let line = Event::new(Level::Metadata, &request, &response, (moment(), moment()))
            .to_line()
            .unwrap();
        let found: serde_json::Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(found["requestURI"], expected);
    };
    let pods = json!({"group": "", "version": "v1", "resource": "pods"});
    let namespaces = json!({"group": "", "version": "v1", "resource": "namespaces"});
    check(
        json!({"operation": "CREATE", "namespace": "n", "name": "p", "resource": pods}),
        "/api/v1/namespaces/n/pods",
    );
    check(
        json!({"operation": "CONNECT", "namespace": "n", "name": "p", "resource": pods, "subResource": "exec"}),
        "/api/v1/namespaces/n/pods/p/exec",
    );
    check(
        json!({"operation": "CREATE", "namespace": "n", "name": "p", "resource": pods, "subResource": "eviction"}),
        "/api/v1/namespaces/n/pods/p/eviction",
    );
    check(
        json!({"operation": "DELETE", "namespace": "n", "name": "n", "resource": namespaces}),
        "/api/v1/namespaces/n",
    );
    check(
        json!({"operation": "DELETE", "name": "x", "resource": pods, "requestResource": {"group": "g", "version": "v2", "resource": "rs"}}),
        "/apis/g/v2/rs/x",
    );
}

/// The objects of an event of this request, of which all texts that begin with `secret` are secret.
#[track_caller]
fn check_secrets(request: &serde_json::Value, told: &serde_json::Value) {
    let text = request.to_string();
    let request: AdmissionRequest<'_> = serde_json::from_str(&text).unwrap();
    let response = AdmissionResponse::default();
    let event = Event::new(Level::RequestResponse, &request, &response, (moment(), moment()));
    let event = event.with_response_object(&request.object);
    let line = |event: &Event<'_>| String::from_utf8(event.to_line().unwrap()).unwrap();
    let redacted = line(&event);
    assert!(!redacted.contains("secret-"), "{redacted}");
    let redacted: serde_json::Value = serde_json::from_str(&redacted).unwrap();
    assert_eq!(
        (&redacted["requestObject"], &redacted["responseObject"]),
        (told, told)
    );
    let whole = line(&event.with_secrets());
    assert_eq!(
        whole.matches("secret-").count(),
        2 * text.matches("secret-").count()
    );
}

#[test]
fn secrets_are_left_out_unless_asked_for() {
    let applied = "kubectl.kubernetes.io/last-applied-configuration";
    let secret = json!({
        "metadata": {"name": "s", "annotations": {"a": "b", applied: "{\"data\":{\"k\":\"secret-1\"}}"}},
        "type": "Opaque", "data": {"k": "secret-2"}, "stringData": {"k": "secret-3"}
    });
    let told = json!({"metadata": {"name": "s", "annotations": {"a": "b"}}, "type": "Opaque"});
    let secrets = json!({"group": "", "version": "v1", "resource": "secrets"});
    check_secrets(
        &json!({"operation": "CREATE", "resource": secrets, "object": secret}),
        &told,
    );
    check_secrets(
        &json!({
            "operation": "UPDATE", "requestResource": secrets, "object": secret,
            "resource": {"group": "", "version": "v2", "resource": "elsewhere"}
        }),
        &told,
    );
    let accounts = json!({"group": "", "version": "v1", "resource": "serviceaccounts"});
    check_secrets(
        &json!({
            "operation": "CREATE", "resource": accounts, "subResource": "token",
            "object": {"spec": {"audiences": ["a"]}, "status": {"token": "secret-t", "expirationTimestamp": "never"}}
        }),
        &json!({"spec": {"audiences": ["a"]}, "status": {"expirationTimestamp": "never"}}),
    );
    let reviews = json!({"group": "authentication.k8s.io", "version": "v1", "resource": "tokenreviews"});
    check_secrets(
        &json!({
            "operation": "CREATE", "resource": reviews,
            "object": {"spec": {"token": "secret-t", "audiences": []}, "status": {}}
        }),
        &json!({"spec": {"audiences": []}, "status": {}}),
    );
    let maps = json!({"group": "", "version": "v1", "resource": "configmaps"});
    let map = json!({"metadata": {"annotations": {applied: "x"}}, "data": {"k": "v"}});
    check_secrets(
        &json!({"operation": "CREATE", "resource": maps, "object": map}),
        &map,
    );
}
