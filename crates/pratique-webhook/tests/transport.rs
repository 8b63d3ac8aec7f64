//! Calls against real listeners: what travels, and the words for what goes wrong.
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

use pratique_cel::{MemoryLimit, OutOfMemory};
use pratique_webhook::transport::Credentials;
use pratique_webhook::{Call, CallErrorKind, CallMemory, Caller, HttpCaller};
use pratique_webhook_backend::{self as backend, Listener};
use world::{DEADLINE, Same, World, YES};

#[tokio::test]
async fn a_review_travels() {
    let world = World::new().await;
    world.follow(&[("/x", YES)]);
    let answer = world.call(world.to("$BACKEND/x/?a=b")).await.unwrap();
    assert!(answer.contains(r#""uid":"u-1""#), "{answer}");
    let calls = world.backend.end().await;
    let headers = calls[0].headers.clone().unwrap();
    assert_eq!(
        (calls[0].path.as_str(), calls[0].query.as_str()),
        ("/x", "timeout=5s")
    );
    assert_eq!(headers["User-Agent"], "kube-apiserver-admission");
    assert_eq!(headers["Accept"], "application/json, */*");
    assert_eq!(headers["Content-Type"], "application/json");
    assert_eq!(world.backend.mask(&headers["Host"]), "$BACKEND_ADDR");
}

#[tokio::test]
async fn connections_are_used_again() {
    let world = World::new().await;
    for listener in ["$BACKEND", "$HTTP2"] {
        world.follow(&[("/x", YES)]);
        let before = world.backend.accepted_connections();
        for _ in 0..10 {
            world.call(world.to(&format!("{listener}/x"))).await.unwrap();
        }
        // Not always one: a call that begins before the last one's connection is idle again makes another.
        let connections = world.backend.accepted_connections() - before;
        assert!(connections < 5, "{listener}: {connections} connections");
    }
}

#[tokio::test]
async fn what_keeps_from_connecting() {
    let world = World::new().await;
    world.follow(&[("/x", YES)]);
    let check = async |url: &str, expected: &str| {
        let words = world.words(world.to(url)).await;
        assert_eq!(words, format!("Post \"{url}?timeout=5s\": {expected}"));
    };
    check("$CLOSED/x", "dial tcp $CLOSED_ADDR: connect: connection refused").await;
    check(
        "https://[::1]:1/x",
        "dial tcp [::1]:1: connect: connection refused",
    )
    .await;
    check(
        "https://nosuch.invalid/x",
        "dial tcp: lookup nosuch.invalid: no such host",
    )
    .await;
    check("$PLAIN/x", "http: server gave HTTP response to HTTPS client").await;
    let refused = "tls: failed to verify certificate: x509:";
    check(
        "$UNTRUSTED/x",
        &format!("{refused} certificate signed by unknown authority"),
    )
    .await;
    check(
        "$WRONGHOST/x",
        &format!(
            "{refused} cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs"
        ),
    )
    .await;
    check(
        "$EXPIRED/x",
        &format!("{refused} certificate has expired or is not yet valid: current time $NOW is after $THEN"),
    )
    .await;
    check("$MUTUAL/x", "remote error: tls: certificate required").await;
    check("ftp://127.0.0.1/x", "unsupported protocol scheme \"ftp\"").await;
}

#[tokio::test]
async fn without_a_bundle_the_system_decides() {
    let world = World::new().await;
    let mut call = world.to("$BACKEND/x");
    Arc::make_mut(&mut call.endpoint).ca_bundle = None;
    let words = world.words(call).await;
    assert!(
        words.ends_with("x509: certificate signed by unknown authority"),
        "{words}"
    );
}

#[tokio::test]
async fn a_bad_bundle_makes_no_client() {
    let world = World::new().await;
    let mut call = world.to("$BACKEND/x");
    Arc::make_mut(&mut call.endpoint).ca_bundle = Some(b"not pem".to_vec());
    let error = world.call(call).await.unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Client);
    assert_eq!(
        error.message,
        "could not get REST client: unable to load root certificates: unable to parse bytes as PEM block"
    );
}

#[tokio::test]
async fn services_have_their_own_name() {
    let world = World::new().await;
    world.follow(&[("/x", YES)]);
    let to_service = |name: &str| {
        let mut call = world.to(&format!("https://{name}:443/x"));
        Arc::make_mut(&mut call.endpoint).server_name = Some(name.to_owned());
        call.address = Some(world.backend.address(Listener::Backend).to_string());
        call
    };
    world.call(to_service("hook.webhooks.svc")).await.unwrap();
    let calls = world.backend.end().await;
    assert_eq!(
        calls[0].headers.as_ref().unwrap()["Host"],
        "hook.webhooks.svc:443"
    );
    assert_eq!(
        world.words(to_service("other.webhooks.svc")).await,
        "Post \"https://other.webhooks.svc:443/x?timeout=5s\": tls: failed to verify certificate: x509: certificate \
         is valid for localhost, hook.webhooks.svc, not other.webhooks.svc"
    );
}

#[tokio::test]
async fn answers_that_do_not_come() {
    let world = World::new().await;
    let check = async |listener: &str, script: &str, expected: &str| {
        world.follow(&[("/x", script)]);
        let url = format!("{listener}/x");
        let is_late = expected.ends_with("context deadline exceeded");
        let (call, timeout) = if is_late {
            (world.soon(&url), "1s")
        } else {
            (world.to(&url), "5s")
        };
        let words = world.words(call).await;
        let expected = expected.replace("POST", &format!("Post \"{url}?timeout={timeout}\""));
        assert_eq!(words, expected, "{listener} {script}");
    };
    let body = "unexpected error when reading response body. Please retry. Original error:";
    let late = "context deadline exceeded";
    for listener in ["$BACKEND", "$HTTP2"] {
        check(listener, r#"{"hang": "headers"}"#, &format!("POST: {late}")).await;
        check(listener, r#"{"delayMs": 3600000}"#, &format!("POST: {late}")).await;
        check(
            listener,
            r#"{"hang": "body", "body": "{"}"#,
            &format!("{body} {late}"),
        )
        .await;
        check(
            listener,
            r#"{"hang": "drip", "body": "{"}"#,
            &format!("{body} {late}"),
        )
        .await;
    }
    check("$SILENT", "{}", &format!("POST: {late}")).await;
    check("$BACKEND", r#"{"close": "headers"}"#, "POST: EOF").await;
    check(
        "$BACKEND",
        r#"{"close": "body", "body": "{"}"#,
        &format!("{body} unexpected EOF"),
    )
    .await;
    check(
        "$BACKEND",
        r#"{"close": "reset"}"#,
        "POST: read: connection reset by peer",
    )
    .await;
    let reset = format!("{body} read: connection reset by peer");
    check("$BACKEND", r#"{"close": "midway", "body": "{"}"#, &reset).await;
    let stream = "stream error: stream ID 1; INTERNAL_ERROR; received from peer";
    let cut = "stream error when reading response body, may be caused by closed connection. Please retry. Original \
               error:";
    check(
        "$HTTP2",
        r#"{"close": "body", "body": "{"}"#,
        &format!("{cut} {stream}"),
    )
    .await;
    check("$HTTP2", r#"{"close": "headers"}"#, &format!("POST: {stream}")).await;
}

#[tokio::test]
async fn a_deadline_that_is_over() {
    let world = World::new().await;
    let mut call = world.to("$BACKEND/x");
    call.deadline = Some(Instant::now());
    let error = world.call(call).await.unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Timeout);
    assert_eq!(error.message, "failed to call webhook: context deadline exceeded");
}

#[tokio::test]
async fn large_answers() {
    let mut world = World::new().await;
    world.follow(&[("/x", r#"{"respond": {"allowed": true}, "padBytes": 6000000}"#)]);
    assert!(world.call(world.to("$BACKEND/x")).await.unwrap().len() > 6_000_000);
    world.caller = HttpCaller::builder().largest_answer(1 << 20).build();
    let expected = "unexpected error when reading response body. Please retry. Original error: http: response body too large";
    assert_eq!(world.words(world.to("$BACKEND/x")).await, expected);
    for url in ["$BACKEND/x", "$HTTP2/x"] {
        world.follow(&[("/x", r#"{"hang": "flood"}"#)]);
        assert_eq!(world.words(world.to(url)).await, expected);
    }
}

/// An answer is not read to its end where there is no memory for it, nor kept when it has been read.
#[tokio::test]
async fn answers_are_counted_as_they_are_read() {
    let world = World::new().await;
    world.follow(&[("/x", r#"{"respond": {"allowed": true}, "padBytes": 6000000}"#)]);
    let call = world.to("$BACKEND/x");
    let memory = call.memory.clone();
    let answer = world.caller.call(call).await.unwrap();
    assert!(memory.bytes() >= answer.len(), "{}", memory.bytes());
    for url in ["$BACKEND/x", "$HTTP2/x"] {
        world.follow(&[("/x", r#"{"hang": "flood"}"#)]);
        let call = Call {
            memory: Arc::new(CallMemory::new(&MemoryLimit::new(1 << 20))),
            ..world.to(url)
        };
        let error = world.call(call).await.unwrap_err();
        assert_eq!(error.kind, CallErrorKind::OutOfMemory(OutOfMemory::Limit));
        assert_eq!(
            error.message,
            "failed to call webhook: it takes more memory than a request may have"
        );
    }
}

#[tokio::test]
async fn statuses_and_media_types() {
    let world = World::new().await;
    let check = async |script: &str, expected: &str| {
        world.follow(&[("/x", script)]);
        assert_eq!(world.words(world.to("$BACKEND/x")).await, expected, "{script}");
    };
    check(
        r#"{"status": 404}"#,
        "the server could not find the requested resource",
    )
    .await;
    check(
        r#"{"status": 500, "headers": {"Content-Type": "text/plain"}, "body": "boom\n"}"#,
        "an error on the server (\"boom\") has prevented the request from succeeding",
    )
    .await;
    check(
        r#"{"status": 500, "body": "{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"go away\"}"}"#,
        "go away",
    )
    .await;
    check(
        r#"{"body": ""}"#,
        "0-length response with status code: 200 and content type: application/json",
    )
    .await;
    check(
        r#"{"headers": {"Content-Type": ";"}, "body": "{}"}"#,
        "Internal error occurred: mime: no media type",
    )
    .await;
}

#[tokio::test]
async fn calls_are_repeated_when_asked_for() {
    let world = World::new().await;
    let check = async |script: &str, expected: &str, calls: usize| {
        world.follow(&[("/x", script)]);
        let error = world.call(world.soon("$BACKEND/x")).await.err();
        let words = error
            .map(|error| world.backend.mask(&error.message))
            .unwrap_or_default();
        assert_eq!(words, expected);
        assert_eq!(world.backend.end().await.len(), calls, "{script}");
    };
    let then_good = |status: u16, after: &str| {
        let first = format!(r#"{{"status": {status}, "headers": {{"Retry-After": "{after}"}}}}"#);
        format!(r#"{{"steps": [{first}, {YES}]}}"#)
    };
    for after in ["0", "+0", "-1", "00"] {
        check(&then_good(503, after), "", 2).await;
    }
    check(&then_good(429, "0"), "", 2).await;
    let unable = "failed to call webhook: the server is currently unable to handle the request";
    check(&then_good(503, "1.5"), unable, 1).await;
    let missing = "failed to call webhook: the server could not find the requested resource";
    check(&then_good(404, "0"), missing, 1).await;
    check(r#"{"status": 503, "headers": {"Retry-After": "0"}}"#, unable, 11).await;
    let late = "failed to call webhook: Post \"$BACKEND/x?timeout=1s\": context deadline exceeded";
    check(&then_good(503, "7"), late, 1).await;
}

fn line(call: &backend::Call) -> String {
    let method = call.method.as_deref().unwrap_or("POST");
    let body = if call.review.is_some() { "+" } else { "" };
    let typed = call.headers.as_ref().unwrap().contains_key("Content-Type");
    format!(
        "{method}{body}{} {}?{}",
        if typed { ":" } else { "" },
        call.path,
        call.query
    )
}

#[tokio::test]
async fn redirections_to_plain_http_are_followed_only_if_allowed() {
    let mut world = World::new().await;
    let mut check = async |allowed: bool, status: u16, expected: &str| {
        world.caller = HttpCaller::builder().plain_http_redirects(allowed).build();
        let location = "http://$PLAIN_ADDR/y";
        let script = format!(r#"{{"status": {status}, "headers": {{"Location": "{location}"}}}}"#);
        world.follow(&[("/x", &script), ("/y", YES)]);
        let error = world.call(world.to("$BACKEND/x")).await.err();
        let mut shown: Vec<String> = world.backend.end().await.iter().map(line).collect();
        shown.extend(error.map(|error| world.backend.mask(&error.message)));
        assert_eq!(shown.join(", "), format!("POST+: /x?timeout=5s, {expected}"));
    };
    let refused = "failed to call webhook: Post \"http://$PLAIN_ADDR/y\": redirected from https to http, which is not \
                   followed unless plain HTTP redirects are allowed";
    for status in [302, 307, 308] {
        check(false, status, refused).await;
    }
    // As the reference.
    check(true, 302, "GET /y?").await;
    check(true, 307, "POST+: /y?").await;
}

#[tokio::test]
async fn redirections() {
    let world = World::new().await;
    let check = async |status: u16, location: &str, expected: &str| {
        let script = format!(r#"{{"status": {status}, "headers": {{"Location": "{location}"}}}}"#);
        world.follow(&[("/x", &script), ("/y", YES)]);
        let error = world.call(world.to("$BACKEND/x")).await.err();
        let calls = world.backend.end().await;
        let mut shown: Vec<String> = calls.iter().take(3).map(line).collect();
        shown.extend(error.map(|error| {
            world
                .backend
                .mask(&error.message)
                .replace("failed to call webhook: ", "")
        }));
        assert_eq!(shown.join(", "), format!("POST+: /x?timeout=5s, {expected}"));
    };
    check(307, "/y?z=1", "POST+: /y?z=1").await;
    check(308, "$BACKEND/y", "POST+: /y?").await;
    for status in [301, 302, 303] {
        check(status, "/y", "GET /y?").await;
    }
    check(
        307,
        "$BACKEND/x",
        "POST+: /x?, POST+: /x?, Post \"$BACKEND/x\": stopped after 10 redirects",
    )
    .await;
    check(
        302,
        "/x",
        "GET /x?, GET /x?, Post \"/x\": stopped after 10 redirects",
    )
    .await;
    let nothing = "the server responded with the status code 302 but did not return more information";
    check(302, "", nothing).await;
    let refused = "Post \"$CLOSED/y\": dial tcp $CLOSED_ADDR: connect: connection refused";
    check(307, "$CLOSED/y", refused).await;
    check(
        302,
        "$UNTRUSTED/y",
        "Post \"$UNTRUSTED/y\": tls: failed to verify certificate: x509: certificate signed by unknown authority",
    )
    .await;
    check(
        302,
        "https://[::1/x",
        "Post \"$BACKEND/x?timeout=5s\": failed to parse Location header \"https://[::1/x\": parse \"https://[::1/x\": \
         missing ']' in host",
    )
    .await;
}

#[tokio::test]
async fn credentials_are_shown() {
    let mut world = World::new().await;
    let certificate = (
        world.backend.client_certificate_pem().as_bytes().to_vec(),
        world.backend.client_key_pem().as_bytes().to_vec(),
    );
    let credentials = Credentials {
        token: Some("t".to_owned()),
        certificate: Some(certificate),
        ..Credentials::default()
    };
    world.caller = HttpCaller::builder()
        .credentials(Arc::new(Same(credentials)))
        .build();
    world.follow(&[("/x", YES)]);
    world.call(world.to("$MUTUAL/x")).await.unwrap();
    let calls = world.backend.end().await;
    let headers = calls[0].headers.as_ref().unwrap();
    assert_eq!(headers["Authorization"], "Bearer t");
    assert_eq!(headers["(client certificate)"], "webhook-client");
}

#[tokio::test]
async fn a_connection_that_goes_away_is_replaced() {
    let world = World::new().await;
    for url in ["$HTTP2/x", "$BACKEND/x"] {
        world.follow(&[("/x", r#"{"respond": {"allowed": true}, "leave": true}"#)]);
        for _ in 0..3 {
            world.call(world.to(url)).await.unwrap();
        }
        assert_eq!(world.backend.end().await.len(), 3);
    }
    world.follow(&[("/x", YES)]);
    for url in ["$HTTP2/x", "$BACKEND/x"] {
        world.call(world.to(url)).await.unwrap();
        world.backend.disconnect();
        let start = Instant::now();
        while world.backend.open_connections() > 0 {
            assert!(start.elapsed() < DEADLINE, "still open");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // The client has its turn to hear of it.
        tokio::time::sleep(Duration::from_millis(50)).await;
        world.call(world.to(url)).await.unwrap();
    }
}

#[tokio::test]
async fn certificates_are_remembered() {
    let world = World::new().await;
    let call = world.to("$WRONGHOST/x");
    world.words(call.clone()).await;
    let certificate = world.caller.certificate(&call.endpoint).unwrap();
    assert_eq!(certificate.names, ["other.example.com"]);
    assert!(certificate.not_before < certificate.not_after);
}
