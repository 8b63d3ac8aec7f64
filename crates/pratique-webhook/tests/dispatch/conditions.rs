//! Match conditions, and the checks that they leave open.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pratique_cel::library::authz;
use pratique_cel::{Interrupt, MemoryLimit};
use pratique_match::Equivalents;
use pratique_testkit::NoNamespaces;
use pratique_webhook::{PendingChecks, UnfinishedEvaluation, WebhookContext, validate};
use serde_json::json;

use crate::scene::{Player, allows, hook, request, validated, validating};

/// Whether a webhook with conditions is called; else what the request is refused with.
async fn check(conditions: &[&str], failure_policy: &str, called: bool, refused: &str) {
    let conditions: Vec<_> = conditions
        .iter()
        .map(|expression| json!({"name": "c", "expression": expression}))
        .collect();
    let player = Player::default().plays("a", allows());
    let hooks = validating(vec![hook(
        "a",
        json!({"matchConditions": conditions, "failurePolicy": failure_policy}),
    )]);
    let status = validated(&hooks, &player).await.status;
    assert_eq!(status.map(|status| status.message).unwrap_or_default(), refused);
    assert_eq!(!player.paths().is_empty(), called);
}

#[tokio::test]
async fn one_false_condition_beats_errors() {
    let error = "pods \"p\" is forbidden: expression 'object.no == 1' resulted in error: no such key: no";
    check(&["object.metadata.name == 'p'"], "Fail", true, "").await;
    check(&["object.no == 1"], "Fail", false, error).await;
    check(&["object.no == 1"], "Ignore", false, "").await;
    check(&["object.no == 1", "false"], "Fail", false, "").await;
    check(
        &["object.no == 1", "object.none"],
        "Fail",
        false,
        "pods \"p\" is forbidden: [expression 'object.no == 1' resulted in error: no such key: no, compilation error: \
         must evaluate to bool but got dyn]",
    )
    .await;
    check(
        &["namespaceObject == null && request.resource.resource == 'pods'"],
        "Fail",
        true,
        "",
    )
    .await;
}

/// Answers once somebody waited for it.
#[derive(Debug, Default)]
struct Later(AtomicBool);

impl authz::Authorizer for Later {
    fn authorize(&self, _: &authz::Check<'_>) -> authz::Answer {
        if self.0.load(Ordering::SeqCst) {
            authz::Answer::Decided(authz::AuthorizerDecision {
                allowed: true,
                ..authz::AuthorizerDecision::default()
            })
        } else {
            authz::Answer::Pending
        }
    }
}

impl PendingChecks for Later {
    fn answered<'a>(&'a self) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        Box::pin(async { !self.0.swap(true, Ordering::SeqCst) })
    }
}

#[tokio::test]
async fn open_checks_are_waited_for() {
    let expression = "authorizer.path('/x').check('get').allowed()";
    let hooks = validating(vec![hook(
        "a",
        json!({"matchConditions": [{"name": "c", "expression": expression}]}),
    )]);
    let (request, equivalents, later) = (request(), Equivalents::new(), Arc::new(Later::default()));
    let player = Player::default().plays("a", allows());
    let context = WebhookContext::new(&equivalents, &NoNamespaces, later.clone());
    let verdict = validate(&[&hooks], &request, &context, &player, &mut ()).await;
    assert_eq!(verdict, Err(UnfinishedEvaluation::Pending));
    let context = context.with_pending(&*later);
    let verdict = validate(&[&hooks], &request, &context, &player, &mut ()).await;
    assert!(verdict.unwrap().allowed());
    assert_eq!(player.paths(), ["a"]);
}

#[tokio::test]
async fn conditions_are_stopped_whatever_the_failure_policy() {
    let hooks = |expression: &str| {
        validating(vec![hook(
            "a",
            json!({"failurePolicy": "Ignore", "matchConditions": [{"name": "c", "expression": expression}]}),
        )])
    };
    let (request, equivalents, player) = (request(), Equivalents::new(), Player::default());
    let context = WebhookContext::new(&equivalents, &NoNamespaces, Arc::new(Later::default()));
    let interrupt = Interrupt::new();
    interrupt.set();
    let interrupted = context.clone().with_interrupt(&interrupt);
    let long = hooks("lists.range(10000).all(x, x >= 0)");
    let verdict = validate(&[&long], &request, &interrupted, &player, &mut ()).await;
    assert_eq!(verdict, Err(UnfinishedEvaluation::Interrupted));
    let bounded = context.with_memory(&MemoryLimit::new(1 << 20));
    let large = hooks("lists.range(10000).map(x, [x, x, x, x, x, x]).size() > 0");
    let verdict = validate(&[&large], &request, &bounded, &player, &mut ()).await;
    assert_eq!(verdict, Err(UnfinishedEvaluation::MemoryLimit));
    assert!(player.paths().is_empty());
}
