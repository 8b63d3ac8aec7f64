//! Webhooks of which it depends on what was not given whether they are called.

use std::sync::Arc;

use pratique_cel::library::authz::NoAuthorizer;
use pratique_match::Equivalents;
use pratique_testkit::NamesOnly;
use pratique_webhook::{
    MutatedRequest, NeedKind, OnUndecided, Origin, Reinvocation, UndecidedDecision, ValidationOutcome,
    WebhookContext, WebhookObserver, mutate, validate,
};
use serde_json::{Value as Json, json};

use crate::scene::{Player, allows, hook, labels, mutating, request, validating};

/// Keeps what is told of.
#[derive(Default)]
struct Told(Vec<UndecidedDecision>);

impl WebhookObserver for Told {
    fn undecided(&mut self, undecided: &UndecidedDecision) {
        self.0.push(undecided.clone());
    }
}

fn context(equivalents: &Equivalents, on_undecided: OnUndecided) -> WebhookContext<'_> {
    let context = WebhookContext::new(equivalents, &NamesOnly, Arc::new(NoAuthorizer));
    context.without_types().on_undecided(on_undecided)
}

/// Asks two validating webhooks, the first as it is given; gives whom was called, too.
async fn ask(first: Json, on_undecided: OnUndecided) -> (ValidationOutcome, Vec<String>, usize) {
    let hooks = validating(vec![hook("a", first), hook("b", json!({}))]);
    let player = Player::default().plays("a", allows()).plays("b", allows());
    let (request, equivalents, mut told) = (request(), Equivalents::new(), Told::default());
    let context = context(&equivalents, on_undecided);
    let verdict = validate(&[&hooks], &request, &context, &player, &mut told).await;
    (verdict.unwrap(), player.paths(), told.0.len())
}

fn asks() -> Json {
    let expression = "!authorizer.path('/x').check('get').allowed()";
    json!({"matchConditions": [{"name": "c", "expression": expression}]})
}

fn selects(labels: Json) -> Json {
    json!({"namespaceSelector": {"matchLabels": labels}})
}

#[tokio::test]
async fn conditions_and_selectors_are_reported() {
    for (hook, text) in [
        (
            asks(),
            r#"ValidatingAdmissionWebhook 'a.example.com' is undecided: it is not known whether user "ann" may get /x"#,
        ),
        (
            selects(json!({"env": "prod"})),
            r#"ValidatingAdmissionWebhook 'a.example.com' is undecided: the labels of namespace "ns" are not known, and namespaceSelector env=prod selects by them"#,
        ),
    ] {
        let (verdict, called, told) = ask(hook, OnUndecided::Report).await;
        let texts: Vec<String> = verdict
            .undecided
            .iter()
            .map(UndecidedDecision::to_string)
            .collect();
        assert_eq!(texts, [text]);
        assert!(!verdict.allowed() && verdict.status.is_none());
        // Another may refuse the request all the same.
        assert_eq!(called, ["b"]);
        assert_eq!(told, 1);
    }
}

#[tokio::test]
async fn names_settle_what_they_can() {
    let name = "kubernetes.io/metadata.name";
    let (verdict, called, _) = ask(selects(json!({ name: "ns" })), OnUndecided::Report).await;
    assert!(verdict.allowed());
    assert_eq!(called.len(), 2);
    let (verdict, called, _) = ask(
        selects(json!({ name: "other", "env": "prod" })),
        OnUndecided::Report,
    )
    .await;
    assert!(verdict.allowed());
    assert_eq!(called, ["b"]);
}

#[tokio::test]
async fn the_failure_policy_decides_where_it_is_to() {
    let with = |mut hook: Json, policy: &str| {
        hook["failurePolicy"] = policy.into();
        hook
    };
    for hook in [asks(), selects(json!({"env": "prod"}))] {
        let (verdict, called, told) = ask(with(hook.clone(), "Fail"), OnUndecided::FailurePolicy).await;
        let message = verdict.status.map(|status| status.message).unwrap_or_default();
        let start = "pods \"p\" is forbidden: ValidatingAdmissionWebhook 'a.example.com' is undecided: ";
        assert!(message.starts_with(start), "{message}");
        assert!(verdict.undecided.is_empty() && called.is_empty());
        assert_eq!(told, 1);
        let (verdict, called, told) = ask(with(hook, "Ignore"), OnUndecided::FailurePolicy).await;
        assert!(verdict.allowed());
        assert_eq!(called, ["b"]);
        assert_eq!(told, 1);
    }
}

#[tokio::test]
async fn mutating_webhooks_end_there() {
    let player = Player::default().plays("a", labels("a")).plays("b", labels("b"));
    let change = async |on_undecided: OnUndecided, policy: &str| -> MutatedRequest {
        let mut asks = asks();
        asks["failurePolicy"] = policy.into();
        let hooks = mutating(Origin::Api, &[("m", vec![hook("a", json!({})), hook("b", asks)])]);
        let (request, equivalents) = (request(), Equivalents::new());
        let context = context(&equivalents, on_undecided);
        let mut turns = Reinvocation::default();
        let mutated = mutate(&[&hooks], &request, &context, &mut turns, &player, &mut ()).await;
        mutated.unwrap()
    };
    let reported = change(OnUndecided::Report, "Fail").await;
    assert!(!reported.allowed() && reported.status.is_none() && reported.object.is_none());
    let name = reported
        .undecided
        .map(|undecided| (undecided.plugin, undecided.name));
    assert_eq!(
        name,
        Some(("MutatingAdmissionWebhook".into(), "b.example.com".to_owned()))
    );
    assert!(change(OnUndecided::FailurePolicy, "Fail").await.status.is_some());
    let ignored = change(OnUndecided::FailurePolicy, "Ignore").await;
    assert!(ignored.allowed() && ignored.object.is_some());
    assert_eq!(player.paths(), ["a", "a", "a"]);
}

#[test]
fn needs_follow_from_conditions_and_selectors() {
    let needs = |more: Json| {
        let hooks = validating(vec![hook("a", more)]);
        let needs: Vec<_> = hooks.needs().map(|need| need.kind).collect();
        needs
    };
    assert_eq!(needs(json!({})), []);
    assert_eq!(needs(asks()), [NeedKind::Authorizer]);
    assert_eq!(
        needs(selects(json!({"env": "prod"}))),
        [NeedKind::NamespaceLabels]
    );
    assert_eq!(needs(selects(json!({"kubernetes.io/metadata.name": "ns"}))), []);
}

#[tokio::test]
async fn answers_that_are_not_known_are_undecided() {
    let text =
        "ValidatingAdmissionWebhook 'a.example.com' is undecided: it is not known what the webhook answers";
    for (policy, on_undecided, b, refused, undecided) in [
        ("Fail", OnUndecided::Report, allows(), false, 1),
        // Failing open is for calls that failed, which nobody knows of this one.
        ("Ignore", OnUndecided::Report, allows(), false, 1),
        ("Fail", OnUndecided::Report, json!({"allowed": false}), true, 1),
        ("Fail", OnUndecided::FailurePolicy, allows(), true, 0),
        ("Ignore", OnUndecided::FailurePolicy, allows(), false, 0),
    ] {
        let hooks = validating(vec![
            hook("a", json!({"failurePolicy": policy})),
            hook("b", json!({})),
        ]);
        let player = Player::default().plays("a", Json::Null).plays("b", b);
        let (request, equivalents, mut told) = (request(), Equivalents::new(), Told::default());
        let context = context(&equivalents, on_undecided);
        let verdict = validate(&[&hooks], &request, &context, &player, &mut told).await;
        let verdict = verdict.unwrap();
        assert_eq!(verdict.status.is_some(), refused, "{policy} {on_undecided:?}");
        let texts: Vec<String> = verdict
            .undecided
            .iter()
            .map(UndecidedDecision::to_string)
            .collect();
        assert_eq!(texts, vec![text; undecided], "{policy} {on_undecided:?}");
        assert_eq!(told.0.len(), 1);
        assert_eq!(player.paths().len(), 2);
    }
}

#[tokio::test]
async fn no_mutating_webhook_follows_an_answer_that_is_not_known() {
    let player = Player::default().plays("a", labels("a")).plays("b", Json::Null);
    let hooks = [(
        "m",
        vec![hook("a", json!({})), hook("b", json!({})), hook("c", json!({}))],
    )];
    let hooks = mutating(Origin::Api, &hooks);
    let (request, equivalents) = (request(), Equivalents::new());
    let context = context(&equivalents, OnUndecided::Report);
    let mut turns = Reinvocation::default();
    let mutated = mutate(&[&hooks], &request, &context, &mut turns, &player, &mut ()).await;
    let undecided = mutated.unwrap().undecided.map(|undecided| undecided.to_string());
    let text =
        "MutatingAdmissionWebhook 'b.example.com' is undecided: it is not known what the webhook answers";
    assert_eq!(undecided.as_deref(), Some(text));
    assert_eq!(player.paths(), ["a", "b"]);
}
