//! Requests that are carried out and not stored, about objects that are stored.
#![allow(clippy::unwrap_used, reason = "a test that fails may stop")]

use pratique_json::Value;
use pratique_objects::ObjectCodec;
use pratique_registry::{Placeholders, Registry, Request, Store, Target};

/// All that there is: under any name.
struct Everything(&'static str);

impl Store for Everything {
    fn get(&self, _: &str, _: &str, _: &str, _: &str) -> Option<Value<'static>> {
        Some(pratique_json::parse(self.0.as_bytes()).unwrap())
    }

    fn has_everything(&self) -> bool {
        true
    }
}

/// The code and the message that answer a request, or nothing.
fn answer(stored: &'static str, path: &str, body: &str) -> String {
    let placeholders = Placeholders::default();
    let objects = ObjectCodec::with_placeholder(placeholders.time.clone());
    let stored = Everything(stored);
    let registry = Registry {
        scheme: &objects,
        store: &stored,
        placeholders: &placeholders,
        release: Some((1, 37)),
    };
    let request = Request {
        target: Target::parse(path).unwrap(),
        body: body.as_bytes(),
        without_managed_fields: true,
        without_stored: true,
        ..Request::default()
    };
    let received = registry.receive(request).unwrap();
    let status = match registry.prepare(received) {
        Ok(prepared) => prepared.refused,
        Err(refusal) => Some(refusal.status),
    };
    status.map_or_else(String::new, |status| {
        format!("{} {}", status.code, status.message)
    })
}

const BOUND: &str = "/api/v1/namespaces/web/pods/a/binding";

fn bind(pod: &'static str, identity: &str) -> String {
    let binding = format!(
        r#"{{"apiVersion": "v1", "kind": "Binding", "metadata": {{"name": "a"{identity}}}, "target": {{"kind": "Node", "name": "n"}}}}"#
    );
    answer(pod, BOUND, &binding)
}

#[test]
fn pods_are_assigned_once() {
    let conflict =
        |what: &str| format!("409 Operation cannot be fulfilled on pods/binding \"a\": pod a {what}");
    for (spec, expected) in [
        (r#"{"metadata": {"name": "a", "uid": "u"}}"#, String::new()),
        (
            r#"{"metadata": {"name": "a"}, "spec": {"nodeName": "m"}}"#,
            conflict("is already assigned to node \"m\""),
        ),
        (
            r#"{"metadata": {"name": "a"}, "spec": {"schedulingGates": [{"name": "g"}]}}"#,
            conflict("has non-empty .spec.schedulingGates"),
        ),
        (
            r#"{"metadata": {"name": "a", "deletionTimestamp": "2020-01-01T00:00:00Z"}}"#,
            conflict("is being deleted, cannot be assigned to a host"),
        ),
    ] {
        assert_eq!(bind(spec, ""), expected, "{spec}");
    }
    let other = bind(r#"{"metadata": {"name": "a", "uid": "u"}}"#, r#", "uid": "v""#);
    assert!(
        other.ends_with("UID in precondition: v, UID in object meta: u"),
        "{other}"
    );
    assert_eq!(
        bind(r#"{"metadata": {"name": "a", "uid": "u"}}"#, r#", "uid": "u""#),
        ""
    );
}

#[test]
fn tokens_are_of_an_account_and_bound_to_what_there_is() {
    const ACCOUNT: &str =
        r#"{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a", "uid": "u"}}"#;
    let ask = |metadata: &str, reference: &str| {
        let request = format!(
            r#"{{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "metadata": {{{metadata}}},
                "spec": {{"boundObjectRef": {reference}}}}}"#
        );
        answer(
            ACCOUNT,
            "/api/v1/namespaces/web/serviceaccounts/a/token",
            &request,
        )
    };
    for (metadata, reference, expected) in [
        ("", "null", ""),
        (r#""uid": "u""#, "null", ""),
        (
            r#""uid": "v""#,
            "null",
            "409 Operation cannot be fulfilled on TokenRequest.authentication.k8s.io \"a\": the UID in the token request (v) does not \
             match the UID of the service account (u)",
        ),
        (
            r#""name": "b""#,
            "null",
            "422 TokenRequest.authentication.k8s.io \"a\" is invalid: metadata.name: Invalid value: \"b\": must match the service account \
             name if specified",
        ),
        (
            "",
            r#"{"apiVersion": "v1", "kind": "Pod", "name": "p"}"#,
            "404 pods \"p\" not found",
        ),
        (
            "",
            r#"{"apiVersion": "v1", "kind": "Pod"}"#,
            "400 Name parameter required.",
        ),
        (
            "",
            r#"{"apiVersion": "apps/v1", "kind": "Deployment", "name": "p"}"#,
            "400 cannot bind token to object of type apps/v1, Kind=Deployment",
        ),
    ] {
        assert_eq!(ask(metadata, reference), expected, "{metadata} {reference}");
    }
}
