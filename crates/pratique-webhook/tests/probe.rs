//! Webhooks that are asked whether they are there.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

mod world;

use pratique_webhook::{HttpCaller, probe_mutating, probe_validating};
use serde_json::{Value, json};
use world::{World, YES};

fn webhook(world: &World, url: &str, more: Value) -> Value {
    let mut webhook = json!({
        "name": "h.example.com",
        "clientConfig": {"url": world.backend.fill(url), "caBundle": world.backend.fill("$CA")},
        "rules": [{"apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments"], "operations": ["UPDATE"]}],
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "timeoutSeconds": 30,
        "failurePolicy": "Ignore",
        "objectSelector": {"matchLabels": {"a": "b"}},
        "matchConditions": [{"name": "never", "expression": "false"}],
    });
    for (field, value) in more.as_object().unwrap() {
        webhook[field] = value.clone();
    }
    webhook
}

#[tokio::test]
async fn webhooks_are_asked_whatever_they_select() {
    let world = World::new().await;
    world.follow(&[
        ("/x", YES),
        ("/no", r#"{"respond": {"allowed": false}}"#),
        ("/bad", r#"{"body": "{}"}"#),
    ]);
    let hook = |url: &str| webhook(&world, url, json!({}));
    let webhooks = [
        hook("$BACKEND/x"),
        hook("$BACKEND/no"),
        hook("$BACKEND/bad"),
        hook("$EXPIRED/x"),
        hook("$CLOSED/x"),
    ];
    let configuration = json!({"metadata": {"name": "c"}, "webhooks": webhooks});
    let validating = serde_json::from_value(configuration.clone()).unwrap();
    let mutating = serde_json::from_value(configuration).unwrap();
    for mutates in [false, true] {
        let caller = HttpCaller::default();
        let probed = if mutates {
            probe_mutating(&mutating, &caller).await
        } else {
            probe_validating(&validating, &caller).await
        };
        let words: Vec<String> = probed
            .iter()
            .map(|probed| {
                probed
                    .answered
                    .as_ref()
                    .err()
                    .map_or("answers".to_owned(), |why| world.backend.mask(why))
            })
            .collect();
        assert_eq!(words[..2], ["answers", "answers"]);
        assert!(
            words[2].contains("failed calling webhook \"h.example.com\""),
            "{}",
            words[2]
        );
        assert!(
            words[3].contains("has expired or is not yet valid"),
            "{}",
            words[3]
        );
        assert!(words[4].ends_with("connect: connection refused"), "{}", words[4]);
        assert_eq!(probed[0].certificate.as_ref().unwrap().subject, "backend");
        assert_eq!(probed[3].certificate.as_ref().unwrap().subject, "backend");
        assert_eq!(probed[4].certificate, None);
        assert_eq!(world.backend.mask(&probed[0].url), "$BACKEND/x");
    }
    let calls = world.backend.end().await;
    let review = calls[0].review.as_ref().unwrap();
    assert_eq!(review["request"]["dryRun"], true);
    assert_eq!(review["request"]["operation"], "UPDATE");
    assert_eq!(review["request"]["resource"]["resource"], "deployments");
}
