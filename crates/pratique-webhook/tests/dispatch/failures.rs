//! What failures lead to.

use pratique_types::AdmissionRequest;
use pratique_webhook::{Origin, Reinvocation, mutate, validate};
use serde_json::{Value, json};

use crate::scene::{Player, allows, context, hook, mutated, mutating, request, validated, validating};

const FAILED: &str =
    "Internal error occurred: failed calling webhook \"a.example.com\": failed to call webhook: out";

#[tokio::test]
async fn failures_refuse_or_are_noted() {
    for (policy, refused) in [("Fail", true), ("Ignore", false)] {
        let player = Player::default().plays("a", json!("out")).plays("b", allows());
        let failing = hook("a", json!({"failurePolicy": policy}));
        let hooks = mutating(Origin::Api, &[("m", vec![failing.clone(), hook("b", json!({}))])]);
        let mutated = mutated(&[&hooks], &player).await;
        let key = "failed-open.mutation.webhook.admission.k8s.io/round_0_index_0";
        assert_eq!(mutated.audit_annotations.contains_key(key), !refused);
        assert_eq!(
            mutated.status.map(|status| status.message),
            refused.then(|| FAILED.to_owned())
        );
        assert_eq!(player.paths().len(), if refused { 1 } else { 2 });

        let player = Player::default().plays("a", json!("out")).plays("b", allows());
        let verdict = validated(&validating(vec![hook("b", json!({})), failing]), &player).await;
        let key = "failed-open.validating.webhook.admission.k8s.io/round_0_index_1";
        assert_eq!(verdict.audit_annotations.contains_key(key), !refused);
        assert_eq!(
            verdict.status.map(|status| status.message),
            refused.then(|| FAILED.to_owned())
        );
        assert_eq!(player.paths().len(), 2);
    }
}

/// What a mutating webhook's answer leads to, whether failures are ignored or not.
async fn check(answer: Value, failing: &str, ignoring: &str) {
    for (policy, expected) in [("Fail", failing), ("Ignore", ignoring)] {
        let player = Player::default().plays("a", answer.clone());
        let hooks = mutating(
            Origin::Api,
            &[("m", vec![hook("a", json!({"failurePolicy": policy}))])],
        );
        let status = mutated(&[&hooks], &player).await.status;
        let message = status.map(|status| status.message).unwrap_or_default();
        assert_eq!(message, expected, "{policy}");
    }
}

fn patching(patch: &str, of: &str) -> Value {
    let patch = pratique_json::base64::encode(patch.as_bytes());
    json!({"allowed": true, "patch": patch, "patchType": of})
}

#[tokio::test]
async fn what_is_ignored_and_what_is_not() {
    const CALLING: &str = "Internal error occurred: failed calling webhook \"a.example.com\": ";
    check(
        patching("{", "JSONPatch"),
        &format!("{CALLING}received undecodable patch in webhook response: unexpected end of JSON input"),
        "",
    )
    .await;
    check(
        patching(r#"[{"op":"test","path":"/kind","value":"Pod"}]"#, "MergePatch"),
        &format!("{CALLING}unsupported patch type \"MergePatch\""),
        "",
    )
    .await;
    check(
        json!({"allowed": true, "patchType": "JSONPatch"}),
        &format!(
            "{CALLING}received invalid webhook response: webhook returned response.patchType but not response.patch"
        ),
        "",
    )
    .await;
    let removed = "Internal error occurred: error in remove for path: '/spec/x': Unable to remove nonexistent key: \
                   x: missing value";
    check(
        patching(r#"[{"op":"remove","path":"/spec/x"}]"#, "JSONPatch"),
        removed,
        removed,
    )
    .await;
}

#[tokio::test]
async fn dry_runs_have_no_side_effects() {
    let request = AdmissionRequest {
        dry_run: Some(true),
        ..request()
    };
    let nil = "Internal error occurred: failed calling webhook \"a.example.com\": Webhook SideEffects is nil";
    let refuses = "admission webhook \"a.example.com\" does not support dry run";
    for (side_effects, expected) in [
        ("None", ""),
        ("NoneOnDryRun", ""),
        ("Some", refuses),
        ("Unknown", refuses),
        ("", nil),
    ] {
        let player = Player::default().plays("a", allows());
        let hooks = validating(vec![hook("a", json!({"sideEffects": side_effects}))]);
        let equivalents = pratique_match::Equivalents::new();
        let context = context(&equivalents);
        let verdict = validate(&[&hooks], &request, &context, &player, &mut ()).await;
        let message = verdict.unwrap().status.map(|status| status.message);
        assert_eq!(message.unwrap_or_default(), expected, "{side_effects}");
        assert_eq!(player.paths().len(), usize::from(expected.is_empty()));
    }
}

#[tokio::test]
async fn what_is_deleted_cannot_be_changed() {
    let request: AdmissionRequest<'_> = AdmissionRequest {
        operation: pratique_types::Operation::Delete,
        object: pratique_json::Value::Null,
        ..request()
    };
    let player = Player::default().plays("a", crate::scene::labels("a"));
    let hooks = mutating(
        Origin::Api,
        &[("m", vec![hook("a", json!({"failurePolicy": "Ignore"}))])],
    );
    let equivalents = pratique_match::Equivalents::new();
    let context = context(&equivalents);
    let mut turns = Reinvocation::default();
    let mutated = mutate(&[&hooks], &request, &context, &mut turns, &player, &mut ()).await;
    assert_eq!(
        mutated.unwrap().status.unwrap().message,
        "Internal error occurred: admission webhook \"a.example.com\" attempted to modify the object, which is not \
         supported for this operation"
    );
}
