//! What guards webhooks beyond what an API server does, and that none of it happens unless it is asked for.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use pratique::guards::{BreakerSettings, WebhookGuards};
use pratique::observer::AdmissionPhase;
use pratique::policy::DenialCause;
use pratique::webhook::{Answer, Call, CallError, CallErrorKind, Caller};
use pratique::{Admission, AdmissionContext, Live, Objects, Outcome};
use pratique_json::Value;
use tokio::time::{Instant, sleep};

use crate::webhooks::{MUTATING, VALIDATING, webhook};
use crate::world::{NoDecider, configmap_in_shop, file};

/// Webhooks that take a second each. Those whose mark begins with `bad` fail then, the others have nothing against it.
#[derive(Default)]
struct Slow {
    calls: Mutex<Vec<String>>,
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Caller for Slow {
    fn call<'a>(&'a self, call: Call) -> Answer<'a> {
        Box::pin(async move {
            let mark = call.endpoint.url.rsplit('/').next().unwrap().to_owned();
            let fails = mark.starts_with("bad");
            self.calls.lock().unwrap().push(mark);
            let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
            self.most.fetch_max(now, Ordering::Relaxed);
            sleep(Duration::from_secs(1)).await;
            self.now.fetch_sub(1, Ordering::Relaxed);
            if fails {
                return Err(CallError {
                    message: "failed to call webhook: gone".to_owned(),
                    kind: CallErrorKind::Transport,
                });
            }
            let review = pratique_json::parse(&call.body).unwrap();
            let uid = review.at(&["request", "uid"]).and_then(Value::as_str).unwrap();
            let body = format!(
                r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{{"uid":"{uid}","allowed":true}}}}"#
            );
            Ok(body.into())
        })
    }
}

/// Static webhooks of these marks, behind guards.
fn live(guards: WebhookGuards, mutating: &[&str], validating: &[&str], policy: &str) -> (Live, Arc<Slow>) {
    let slow = Arc::new(Slow::default());
    let more = format!("  failurePolicy: {policy}\n");
    let mut builder = Admission::builder().caller(slow.clone()).guards(guards);
    for (plugin, marks) in [(MUTATING, mutating), (VALIDATING, validating)] {
        let all = marks.iter().enumerate();
        let text: String = all
            .map(|(at, mark)| webhook(plugin, &format!("w{at}.static.k8s.io"), mark, &more))
            .collect();
        builder = builder.files([file("w.yaml", &text)], plugin);
    }
    (builder.live().start().unwrap(), slow)
}

async fn admit(live: &Live) -> Outcome {
    live.admit(&configmap_in_shop("")).await.unwrap()
}

fn message(outcome: Outcome) -> String {
    outcome.status.map(|status| status.message).unwrap_or_default()
}

fn breaking(failures: u32, seconds: u64) -> WebhookGuards {
    WebhookGuards {
        breaker: Some(BreakerSettings {
            failures: NonZeroU32::new(failures).unwrap(),
            cool_down: Duration::from_secs(seconds),
        }),
        ..WebhookGuards::default()
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_guarded_unless_it_is_asked_for() {
    let (live, slow) = live(WebhookGuards::default(), &[], &["bad"], "Fail");
    for _ in 0..20 {
        let outcome = admit(&live).await;
        assert_eq!(
            outcome.cause,
            Some(DenialCause::Failure),
            "a call that fails is no denial"
        );
        assert!(message(outcome).ends_with("gone"));
    }
    join_all((0..20).map(|_| admit(&live))).await;
    assert_eq!(slow.calls.lock().unwrap().len(), 40);
    assert_eq!(slow.most.load(Ordering::Relaxed), 20);
}

#[tokio::test(start_paused = true)]
async fn a_webhook_that_fails_is_left_alone() {
    let (live, slow) = live(breaking(3, 10), &[], &["bad", "good"], "Fail");
    for _ in 0..3 {
        assert!(message(admit(&live).await).ends_with("failed to call webhook: gone"));
    }
    let open = "Internal error occurred: failed calling webhook \"bad.example.com\": failed to call webhook: the \
                circuit breaker is open after 3 failures in a row; it is tried again in ";
    for _ in 0..3 {
        let words = message(admit(&live).await);
        assert!(words.starts_with(open), "{words}");
    }
    let count = |mark: &str| {
        slow.calls
            .lock()
            .unwrap()
            .iter()
            .filter(|called| *called == mark)
            .count()
    };
    assert_eq!(
        (count("bad"), count("good")),
        (3, 6),
        "the other one is not concerned"
    );
    sleep(Duration::from_secs(10)).await;
    assert!(message(admit(&live).await).ends_with("gone"));
    assert!(message(admit(&live).await).starts_with(open));
    assert_eq!(count("bad"), 4);
}

#[tokio::test(start_paused = true)]
async fn what_may_be_ignored_is_ignored_at_once() {
    let (live, slow) = live(breaking(1, 60), &["bad"], &[], "Ignore");
    assert!(admit(&live).await.allowed());
    let began = Instant::now();
    assert!(admit(&live).await.allowed());
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert_eq!(slow.calls.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn calls_at_once_are_limited() {
    let guards = WebhookGuards {
        calls_at_once: NonZeroUsize::new(2),
        ..WebhookGuards::default()
    };
    let (live, slow) = live(guards, &[], &["good"], "Fail");
    let began = Instant::now();
    let outcomes = join_all((0..8).map(|_| admit(&live))).await;
    assert!(outcomes.iter().all(Outcome::allowed));
    assert_eq!(began.elapsed(), Duration::from_secs(4));
    assert_eq!(slow.most.load(Ordering::Relaxed), 2);
}

#[tokio::test(start_paused = true)]
async fn all_webhooks_of_a_request_share_a_budget() {
    let guards = WebhookGuards {
        budget: Some(Duration::from_millis(2500)),
        ..WebhookGuards::default()
    };
    // Two mutating ones in turn, then validating ones at once, which are in the middle of it when it is used up.
    let (ignoring, slow) = live(guards, &["a", "b"], &["c", "d"], "Ignore");
    let began = Instant::now();
    assert!(admit(&ignoring).await.allowed());
    assert_eq!(began.elapsed(), Duration::from_millis(2500));
    assert_eq!(*slow.calls.lock().unwrap(), ["a", "b", "c", "d"]);
    assert!(
        admit(&ignoring).await.allowed(),
        "the next request has a budget of its own"
    );
    let (failing, _) = live(guards, &["a", "b", "c", "d"], &[], "Fail");
    assert_eq!(
        message(admit(&failing).await),
        "Internal error occurred: failed calling webhook \"c.example.com\": failed to call webhook: the 2.5s that all \
         webhooks may take are used up"
    );
}

#[tokio::test(start_paused = true)]
async fn a_half_has_a_budget_too() {
    let guards = WebhookGuards {
        budget: Some(Duration::from_millis(500)),
        ..WebhookGuards::default()
    };
    let caller = Arc::new(Slow::default());
    let text = webhook(VALIDATING, "w.static.k8s.io", "a", "");
    let admission = Admission::builder()
        .caller(caller)
        .guards(guards)
        .files([file("w.yaml", &text)], VALIDATING)
        .build()
        .unwrap();
    let objects = Objects::new();
    let context = AdmissionContext::new(&objects).with_decider(&NoDecider);
    let request = configmap_in_shop("");
    let outcome = admission
        .admit_phase(&request, AdmissionPhase::Validating, context, &mut ())
        .await;
    assert!(message(outcome.unwrap()).ends_with("used up"));
}
