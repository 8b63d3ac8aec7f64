//! What those who look on are told.

use pratique_webhook::{Conditions, EndedCall, Rejection, WebhookObserver};
use serde_json::json;

use crate::scene::{Player, allows, hook, observed, validating};

#[derive(Default)]
struct Notes(Vec<String>);

impl WebhookObserver for Notes {
    fn called(&mut self, called: &EndedCall<'_>) {
        let rejection = match called.rejection {
            None => "-",
            Some(Rejection::Denied) => "denied",
            Some(Rejection::CallFailed) => "failed",
            Some(Rejection::ServerError) => "error",
        };
        let EndedCall {
            webhook,
            code,
            failed_open,
            ..
        } = called;
        let exchanged = (!called.review.is_empty(), !called.answer.is_empty());
        self.0.push(format!(
            "{webhook} {code} {rejection} {failed_open} {exchanged:?}"
        ));
    }

    fn conditions(&mut self, conditions: &Conditions<'_>) {
        let Conditions {
            webhook,
            errors,
            excluded,
            ignored,
            ..
        } = conditions;
        let ignored = ignored.map(|error| format!(" {error}")).unwrap_or_default();
        self.0.push(format!("{webhook} {errors} {excluded}{ignored}"));
    }
}

#[tokio::test(start_paused = true)]
async fn every_call_is_reported() {
    let player = Player::default()
        .plays("a", allows())
        .plays_after("b", json!({"allowed": false}), 1)
        .plays_after("c", json!("out"), 2)
        .plays_after("d", json!("out"), 3);
    let condition = |expression: &str| json!({"matchConditions": [{"name": "c", "expression": expression}]});
    let ignoring = |expressions: &[&str]| {
        let conditions = expressions.iter().enumerate();
        let conditions =
            conditions.map(|(index, text)| json!({"name": format!("c{index}"), "expression": text}));
        let conditions: Vec<_> = conditions.collect();
        json!({"failurePolicy": "Ignore", "matchConditions": conditions})
    };
    let hooks = validating(vec![
        hook("a", condition("true")),
        hook("b", json!({})),
        hook("c", json!({})),
        hook("d", json!({"failurePolicy": "Ignore"})),
        hook("e", condition("false")),
        hook("f", ignoring(&["object.x == 1"])),
        hook("g", ignoring(&["object.x == 1", "false"])),
    ]);
    let mut notes = Notes::default();
    observed(&hooks, &player, &mut notes).await;
    assert_eq!(
        notes.0,
        [
            "a.example.com 0 false",
            "e.example.com 0 true",
            "f.example.com 1 true expression 'object.x == 1' resulted in error: no such key: x",
            "g.example.com 1 true",
            "a.example.com 200 - false (true, true)",
            "b.example.com 400 denied false (true, true)",
            "c.example.com 500 failed false (true, false)",
            "d.example.com 500 - true (true, false)",
        ]
    );
}
