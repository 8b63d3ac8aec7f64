//! Nothing outlives its time.

use std::sync::atomic::Ordering;
use std::time::Duration;

use pratique_cel::Interrupt;
use pratique_match::Equivalents;
use pratique_webhook::{Origin, Reinvocation, mutate, validate};
use serde_json::{Value as Json, json};
use tokio::time::Instant;

use crate::scene::{Player, allows, context, hook, mutating, request, validated, validating};

#[tokio::test(start_paused = true)]
async fn each_has_its_own_time() {
    let player = Player::default()
        .plays_after("a", allows(), 60_000)
        .plays_after("b", allows(), 60_000);
    let began = Instant::now();
    let hooks = validating(vec![
        hook("a", json!({"timeoutSeconds": 2})),
        hook("b", json!({"timeoutSeconds": 3, "failurePolicy": "Ignore"})),
    ]);
    let verdict = validated(&hooks, &player).await;
    assert_eq!(
        verdict.status.unwrap().message,
        "Internal error occurred: failed calling webhook \"a.example.com\": failed to call webhook: Post \
         \"https://hooks.example/a?timeout=2s\": context deadline exceeded"
    );
    assert!(began.elapsed() < Duration::from_millis(3200));
    assert_eq!(player.at_work.load(Ordering::SeqCst), 0);
    let told: Vec<_> = player
        .calls
        .lock()
        .unwrap()
        .iter()
        .map(|call| call.timeout)
        .collect();
    assert_eq!(told, [Some(2), Some(3)]);
}

#[tokio::test(start_paused = true)]
async fn the_request_cuts_the_time_of_webhooks() {
    let (request, equivalents) = (request(), Equivalents::new());
    // So long that the machine does not take it before a webhook is called.
    let deadline = Instant::now() + Duration::from_millis(28_500);
    let context = context(&equivalents).with_deadline(deadline.into_std());
    let ignoring = json!({"failurePolicy": "Ignore", "timeoutSeconds": 30});

    let player = Player::default().plays_after("a", allows(), 60_000);
    let hooks = mutating(
        Origin::Api,
        &[("m", vec![hook("a", ignoring.clone()), hook("a", json!({}))])],
    );
    let mut turns = Reinvocation::default();
    let mutated = mutate(&[&hooks], &request, &context, &mut turns, &player, &mut ()).await;
    let status = mutated.unwrap().status.unwrap();
    assert_eq!(
        (status.message.as_str(), status.code),
        ("Timeout: request did not complete within requested timeout", 504)
    );
    assert_eq!(player.calls.lock().unwrap()[0].timeout, Some(29));
    assert_eq!(player.paths(), ["a"]);

    // By now nothing is left: nobody is called.
    let player = Player::default().plays("a", allows());
    let hooks = validating(vec![hook("a", ignoring)]);
    let verdict = validate(&[&hooks], &request, &context, &player, &mut ()).await;
    assert_eq!(verdict.unwrap().status.unwrap().code, 504);
    assert!(player.paths().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_dropped_request_ends_its_calls() {
    let player = Player::default()
        .plays_after("a", allows(), 60_000)
        .plays_after("b", allows(), 60_000);
    let hooks = validating(vec![hook("a", json!({})), hook("b", json!({}))]);
    let validation = validated(&hooks, &player);
    let validation = tokio::time::timeout(Duration::from_millis(10), validation).await;
    assert!(validation.is_err());
    assert_eq!(player.paths().len(), 2);
    assert_eq!(player.at_work.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn patches_are_interrupted() {
    let (request, equivalents) = (request(), Equivalents::new());
    let interrupt = Interrupt::new();
    interrupt.set();
    let patched = async |operations: usize| {
        let add = json!({"op": "add", "path": "/metadata/labels/a", "value": "x"});
        let patch = Json::Array(vec![add; operations]).to_string();
        let patch = pratique_json::base64::encode(patch.as_bytes());
        let player = Player::default().plays(
            "a",
            json!({"allowed": true, "patchType": "JSONPatch", "patch": patch}),
        );
        let hooks = mutating(Origin::Api, &[("m", vec![hook("a", json!({}))])]);
        let context = context(&equivalents).with_interrupt(&interrupt);
        let mut turns = Reinvocation::default();
        let mutated = mutate(&[&hooks], &request, &context, &mut turns, &player, &mut ()).await;
        mutated.unwrap().status
    };
    // A small one is done before anybody asks.
    assert_eq!(patched(1).await, None);
    let status = patched(10_000).await.unwrap();
    assert_eq!(
        (status.message.as_str(), status.code),
        ("Timeout: request did not complete within requested timeout", 504)
    );
}
