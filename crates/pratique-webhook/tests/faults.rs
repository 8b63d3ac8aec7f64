//! What webhooks can do to a request: whatever it is, the failure policy decides, in time, and nothing is left behind.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

mod world;

use std::sync::Arc;
use std::time::{Duration, Instant};

use pratique_expression::Cache;
use pratique_match::Equivalents;
use pratique_schema::Release;
use pratique_testkit::{NoNamespaces, NoOpinion};
use pratique_types::{AdmissionRequest, Status};
use pratique_webhook::{
    Caller, HttpCaller, MutatingWebhooks, Origin, Reinvocation, ValidatingWebhooks, WebhookContext, mutate,
    validate,
};
use pratique_webhook_backend::Backend;
use serde_json::json;
use tokio::runtime::Handle;
use world::{DEADLINE, World};

/// Seconds in which everything ends that ends by itself, even on a machine with much else to do: the most that a webhook
/// may have.
const LONG: u32 = 30;

fn configuration(backend: &Backend, url: &str, policy: &str, timeout: u32) -> serde_json::Value {
    json!({"metadata": {"name": "c"}, "webhooks": [{
        "name": "h.example.com",
        "clientConfig": {"url": backend.fill(url), "caBundle": backend.fill("$CA")},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["*"]}],
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": policy,
        "timeoutSeconds": timeout,
    }]})
}

fn request() -> AdmissionRequest<'static> {
    serde_json::from_str(
        r#"{"uid": "r", "kind": {"version": "v1", "kind": "Pod"}, "resource": {"version": "v1", "resource": "pods"},
            "name": "p", "namespace": "ns", "operation": "CREATE", "userInfo": {"username": "ann"},
            "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {}}}"#,
    )
    .unwrap()
}

/// Why a request is refused by a webhook at a URL that validates, or mutates.
async fn refusal(
    backend: &Backend,
    url: &str,
    (policy, timeout): (&str, u32),
    mutates: bool,
    caller: &dyn Caller,
) -> Option<Box<Status>> {
    let configuration = configuration(backend, url, policy, timeout);
    let (request, equivalents) = (request(), Equivalents::of_release(Release::latest().resources()));
    let context = WebhookContext::new(&equivalents, &NoNamespaces, Arc::new(NoOpinion)).without_types();
    if mutates {
        let configuration = serde_json::from_value(configuration).unwrap();
        let webhooks = MutatingWebhooks::compile([&configuration], Origin::Api, &Cache::new());
        let mut turns = Reinvocation::default();
        let mutated = mutate(&[&webhooks], &request, &context, &mut turns, caller, &mut ()).await;
        return mutated.unwrap().status;
    }
    let configuration = serde_json::from_value(configuration).unwrap();
    let webhooks = ValidatingWebhooks::compile([&configuration], Origin::Api, &Cache::new());
    let verdict = validate(&[&webhooks], &request, &context, caller, &mut ()).await;
    verdict.unwrap().status
}

/// Until neither connections nor tasks are left of what was done.
async fn nothing_is_left(backend: &Backend, tasks: usize, what: &str) {
    let began = Instant::now();
    loop {
        let alive = Handle::current().metrics().num_alive_tasks();
        let open = backend.open_connections();
        if open == 0 && alive <= tasks {
            return;
        }
        let waited = began.elapsed();
        assert!(
            waited < DEADLINE,
            "{what}: {open} connections, {alive} tasks of {tasks}"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A script's fault ends as the policy says: with these words in the message, or not at all.
async fn check(world: &mut World, fault: (&str, &str, &str)) {
    for (policy, mutates) in [
        ("Fail", false),
        ("Ignore", false),
        ("Fail", true),
        ("Ignore", true),
    ] {
        check_one(world, fault, policy, mutates).await;
    }
}

async fn check_one(world: &mut World, fault: (&str, &str, &str), policy: &str, mutates: bool) {
    let (url, script, words) = fault;
    let is_late = words == "context deadline exceeded";
    let hangs = is_late && !script.contains("Retry-After");
    let timeout = if is_late { 1 } else { LONG };
    let tasks = Handle::current().metrics().num_alive_tasks();
    world.follow(&[("/x", script), ("/y", script)]);
    world.caller = HttpCaller::builder().largest_answer(1 << 20).build();
    let what = format!("{url} {script} {policy} {mutates}");
    let refused = refusal(&world.backend, url, (policy, timeout), mutates, &world.caller);
    let status = tokio::time::timeout(DEADLINE, refused).await.expect(&what);
    match status {
        Some(status) if policy == "Fail" => {
            let message = world.backend.mask(&status.message);
            let start = "Internal error occurred: failed calling webhook \"h.example.com\": ";
            assert!(
                message.starts_with(start) && message.contains(words),
                "{what}: {message}"
            );
            assert_eq!(status.code, 500, "{what}");
        }
        other => assert!(other.is_none() && policy == "Ignore", "{what}: {other:?}"),
    }
    if hangs && !url.starts_with("$HTTP2") {
        // Nobody can use such a connection any more, though its client is there.
        nothing_is_left(&world.backend, usize::MAX, &what).await;
    }
    world.caller = HttpCaller::default();
    world.backend.end().await;
    nothing_is_left(&world.backend, tasks, &what).await;
}

const YES: &str = r#"{"respond": {"allowed": true}}"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_fail() {
    let mut world = World::new().await;
    for fault in [
        ("$CLOSED/x", YES, "connect: connection refused"),
        ("$PLAIN/x", YES, "server gave HTTP response to HTTPS client"),
        ("$SILENT/x", YES, "context deadline exceeded"),
        ("$NOISE/x", YES, "malformed HTTP response"),
        (
            "$UNTRUSTED/x",
            YES,
            "x509: certificate signed by unknown authority",
        ),
        (
            "$EXPIRED/x",
            YES,
            "x509: certificate has expired or is not yet valid",
        ),
        ("$WRONGHOST/x", YES, "doesn't contain any IP SANs"),
        ("$MUTUAL/x", YES, "remote error: tls: certificate required"),
    ] {
        check(&mut world, fault).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_break_off() {
    let mut world = World::new().await;
    for fault in [
        ("$BACKEND/x", r#"{"close": "headers"}"#, "EOF"),
        ("$BACKEND/x", r#"{"close": "reset"}"#, "connection reset by peer"),
        (
            "$BACKEND/x",
            r#"{"close": "body", "body": "{"}"#,
            "unexpected EOF",
        ),
        (
            "$BACKEND/x",
            r#"{"close": "midway", "body": "{"}"#,
            "connection reset by peer",
        ),
        ("$HTTP2/x", r#"{"close": "headers"}"#, "stream error"),
        ("$HTTP2/x", r#"{"close": "reset"}"#, "failed to call webhook"),
        ("$HTTP2/x", r#"{"close": "body", "body": "{"}"#, "stream error"),
        (
            "$HTTP2/x",
            r#"{"close": "midway", "body": "{"}"#,
            "when reading response body",
        ),
    ] {
        check(&mut world, fault).await;
    }
}

const SLOW: [&str; 4] = [
    r#"{"hang": "headers"}"#,
    r#"{"delayMs": 3600000, "respond": {"allowed": true}}"#,
    r#"{"hang": "body", "body": "{"}"#,
    r#"{"hang": "drip", "body": "{"}"#,
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_take_their_time() {
    let mut world = World::new().await;
    for script in SLOW {
        let fault = ("$BACKEND/x", script, "context deadline exceeded");
        check_one(&mut world, fault, "Fail", false).await;
        check_one(&mut world, fault, "Ignore", true).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_that_take_their_time() {
    let mut world = World::new().await;
    for script in SLOW {
        let fault = ("$HTTP2/x", script, "context deadline exceeded");
        check_one(&mut world, fault, "Ignore", false).await;
        check_one(&mut world, fault, "Fail", true).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_are_none() {
    let mut world = World::new().await;
    let wrong_uid = r#"{"respond": {"allowed": true, "uid": "other"}}"#;
    for url in ["$BACKEND/x", "$HTTP2/x"] {
        for (script, words) in [
            (r#"{"hang": "flood"}"#, "http: response body too large"),
            (
                r#"{"respond": {"allowed": true}, "padBytes": 2000000}"#,
                "http: response body too large",
            ),
            (r#"{"body": "\u0000\u0001garbage"}"#, "failed to call webhook"),
            (r#"{"body": ""}"#, "0-length response"),
            (wrong_uid, "expected response.uid="),
        ] {
            check(&mut world, (url, script, words)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statuses_that_are_no_success() {
    let mut world = World::new().await;
    for url in ["$BACKEND/x", "$HTTP2/x"] {
        for (script, words) in [
            (
                r#"{"status": 302, "headers": {"Location": "/z"}}"#,
                "could not find the requested resource",
            ),
            (
                r#"{"status": 307, "headers": {"Location": "/y"}}"#,
                "stopped after 10 redirects",
            ),
            (r#"{"status": 404}"#, "could not find the requested resource"),
            (r#"{"status": 429}"#, "too many requests"),
            (r#"{"status": 500}"#, "an error on the server"),
            (
                r#"{"status": 503, "headers": {"Retry-After": "9"}}"#,
                "context deadline exceeded",
            ),
        ] {
            check(&mut world, (url, script, words)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_go_away() {
    let world = World::new().await;
    world.follow(&[(
        "/x",
        r#"{"respond": {"allowed": true}, "delayMs": 20, "leave": true}"#,
    )]);
    for url in ["$BACKEND/x", "$HTTP2/x"] {
        let calls = (0..8).map(|_| refusal(&world.backend, url, ("Fail", LONG), false, &world.caller));
        for status in futures_util::future::join_all(calls).await {
            assert_eq!(status, None, "{url}");
        }
        assert_eq!(
            refusal(&world.backend, url, ("Fail", LONG), true, &world.caller).await,
            None
        );
    }
}

/// A stream that is refused, by itself or with its connection, was not taken up: it is asked again, at first at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_that_are_refused() {
    let world = World::new().await;
    for refusal in ["stream", "leave", "calm"] {
        let once = format!(r#"{{"steps": [{{"refuse": "{refusal}"}}, {YES}]}}"#);
        let later = format!(r#"{{"steps": [{YES}, {{"refuse": "{refusal}"}}, {YES}]}}"#);
        for (script, calls) in [(once, [2, 1]), (later, [1, 2])] {
            let start = Instant::now();
            // A busy machine may take longer, though not each time.
            while !are_at_once(&world, &script, calls).await {
                assert!(start.elapsed() < DEADLINE, "{script}: only after a pause");
            }
        }
    }
}

/// Makes two calls, which ask so many times each. Returns whether neither took as long as a pause before asking again.
async fn are_at_once(world: &World, script: &str, calls: [usize; 2]) -> bool {
    world.follow(&[("/x", script)]);
    let mut are_at_once = true;
    for calls in calls {
        let before = world.backend.calls().len();
        let began = Instant::now();
        let status = refusal_of(world, LONG).await;
        assert_eq!(status, None, "{script}");
        assert_eq!(world.backend.calls().len() - before, calls, "{script}");
        are_at_once &= began.elapsed() < Duration::from_millis(500);
    }
    are_at_once
}

async fn refusal_of(world: &World, timeout: u32) -> Option<Box<Status>> {
    refusal(
        &world.backend,
        "$HTTP2/x",
        ("Fail", timeout),
        false,
        &world.caller,
    )
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_that_are_refused_for_ever() {
    let mut world = World::new().await;
    let late = "context deadline exceeded";
    check_one(
        &mut world,
        ("$HTTP2/x", r#"{"refuse": "stream"}"#, late),
        "Fail",
        false,
    )
    .await;
    check_one(
        &mut world,
        ("$HTTP2/x", r#"{"refuse": "leave"}"#, late),
        "Ignore",
        true,
    )
    .await;
    let words = "http2: Transport received GOAWAY from server ErrCode:ENHANCE_YOUR_CALM";
    check(&mut world, ("$HTTP2/x", r#"{"refuse": "calm"}"#, words)).await;
    let start = Instant::now();
    loop {
        world.follow(&[("/x", r#"{"refuse": "stream"}"#)]);
        refusal_of(&world, 1).await;
        let calls = world.backend.calls().len();
        assert!(calls <= 2, "{calls} calls within a second");
        if calls == 2 {
            break;
        }
        // A busy machine may take a second before it asks again at once, though not each time.
        assert!(start.elapsed() < DEADLINE, "not at once");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_is_dropped_leaves_nothing() {
    let mut world = World::new().await;
    let tasks = Handle::current().metrics().num_alive_tasks();
    for url in ["$BACKEND/x", "$HTTP2/x", "$SILENT/x"] {
        world.follow(&[("/x", r#"{"hang": "headers"}"#)]);
        let dropped = refusal(&world.backend, url, ("Fail", LONG), false, &world.caller);
        assert!(
            tokio::time::timeout(Duration::from_millis(100), dropped)
                .await
                .is_err()
        );
        if url != "$HTTP2/x" {
            nothing_is_left(&world.backend, usize::MAX, url).await;
        }
        world.caller = HttpCaller::default();
        world.backend.end().await;
        nothing_is_left(&world.backend, tasks, url).await;
    }
}
