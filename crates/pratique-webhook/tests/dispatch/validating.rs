//! All at once, and all to their end.

use serde_json::json;

use crate::scene::{Player, allows, hook, validated, validating};

#[tokio::test(start_paused = true)]
async fn the_first_refusal_to_arrive_counts_and_all_finish() {
    let denies = |message: &str| {
        let warning = format!("from {message}");
        json!({"allowed": false, "status": {"message": message, "code": 409}, "warnings": [warning]})
    };
    let player = Player::default()
        .plays_after("slow", denies("slow"), 300)
        .plays_after("fast", denies("fast"), 100)
        .plays(
            "yes",
            json!({"allowed": true, "warnings": ["from yes"], "auditAnnotations": {"k": "v", "no key": "v"}}),
        );
    let hooks = ["slow", "fast", "yes"].map(|path| hook(path, json!({})));
    let verdict = validated(&validating(hooks.to_vec()), &player).await;
    let status = verdict.status.unwrap();
    assert_eq!(
        (status.message.as_str(), status.code),
        (
            "admission webhook \"fast.example.com\" denied the request: fast",
            409
        )
    );
    assert_eq!(verdict.warnings, ["from yes", "from fast", "from slow"]);
    let noted: Vec<(&str, &str)> = verdict
        .audit_annotations
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect();
    assert_eq!(noted, [("yes.example.com/k", "v")]);
}

#[tokio::test]
async fn no_webhook_is_called_if_one_match_is_undecided() {
    let player = Player::default().plays("a", allows()).plays("b", allows());
    let selects = json!({"namespaceSelector": {"matchLabels": {"a": "b"}}});
    let hooks = validating(vec![hook("a", json!({})), hook("b", selects)]);
    let verdict = validated(&hooks, &player).await;
    let status = verdict.status.unwrap();
    assert_eq!(
        (status.message.as_str(), status.code),
        ("namespaces \"ns\" not found", 404)
    );
    assert!(player.paths().is_empty());
}

#[tokio::test]
async fn a_webhook_that_selects_other_objects_is_not_called() {
    let player = Player::default().plays("a", allows()).plays("b", allows());
    let selects = json!({"objectSelector": {"matchLabels": {"a": "b"}}});
    let other = json!({"rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["services"], "operations": ["*"]}]});
    let hooks = validating(vec![
        hook("a", selects),
        hook("a", other),
        hook("a", json!({"rules": []})),
        hook("b", json!({})),
    ]);
    assert!(validated(&hooks, &player).await.allowed());
    assert_eq!(player.paths(), ["b"]);
}
