//! Admission while its sources change: readiness, atomic swaps, and a stop that waits for everything.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::world::{configmap, file, mutating, mutating_policy, run, trail, validating, validating_policy};
use pratique::cluster::SharedObjects;
use pratique::expressions::Expressions;
use pratique::live::InMemory;
use pratique::manifest::{Options, load_api_files};
use pratique::policy::OnUndecided;
use pratique::step::{Place, StepOutcome};
use pratique::{Admission, AdmissionDecision, AdmissionStep, Attributes, Configurations, Live, Unavailable};
use tower_service::Service;

/// The configuration that a text has.
fn configurations(text: &str) -> Configurations {
    let expressions = Expressions::new(Arc::default());
    let options = Options::new(&expressions);
    load_api_files(&[file("api.yaml", text)], &options)
        .unwrap()
        .into()
}

fn code(live: &Live) -> i32 {
    let response = run(live.review(&configmap(""))).unwrap();
    response.result.map_or(200, |status| status.code)
}

#[test]
fn sources_are_in_effect_once_settled() {
    let source = InMemory::new(Configurations::default());
    let builder = mutating(Admission::builder(), &[("m", "Never")]);
    let live = builder.live().source(source.clone()).start().unwrap();
    assert_eq!(trail(&run(live.admit(&configmap(""))).unwrap()), "m");
    source.replace(configurations(&mutating_policy("api", "a", "Never")));
    live.settle();
    assert_eq!(trail(&run(live.admit(&configmap(""))).unwrap()), "ma");
    source.update(|configurations| configurations.mutating_bindings.clear());
    live.settle();
    assert_eq!(trail(&run(live.admit(&configmap(""))).unwrap()), "m");
}

#[test]
fn it_is_ready_when_every_source_is_known() {
    let (first, second) = (InMemory::unknown(), InMemory::unknown());
    let live = Admission::builder().live();
    let live = live.source(first.clone()).source(second.clone()).start().unwrap();
    let mut ready = pin!(live.ready());
    let mut context = Context::from_waker(Waker::noop());
    assert!(ready.as_mut().poll(&mut context).is_pending());
    assert_eq!(run(live.admit(&configmap(""))), Err(Unavailable::NotReady));
    first.replace(configurations(&validating_policy("p", "false")));
    live.settle();
    assert!(!live.is_ready() && live.current().is_none());
    second.replace(Configurations::default());
    live.settle();
    assert_eq!(ready.as_mut().poll(&mut context), Poll::Ready(Ok(())));
    assert_eq!(code(&live), 422);
}

#[test]
fn it_is_a_service() {
    let source = InMemory::unknown();
    let mut service = validating(Admission::builder(), "false")
        .live()
        .source(source.clone())
        .start()
        .unwrap();
    let mut context = Context::from_waker(Waker::noop());
    assert!(Service::poll_ready(&mut service, &mut context).is_pending());
    source.replace(Configurations::default());
    service.settle();
    let mut other = service.clone();
    run(poll_fn(|context| other.poll_ready(context))).unwrap();
    let response = run(other.call(configmap(""))).unwrap();
    assert!(!response.allowed && response.uid == "u");
    service.stop();
    assert_eq!(
        run(poll_fn(|context| other.poll_ready(context))),
        Err(Unavailable::Stopped)
    );
}

#[test]
fn stopping_ends_everything_but_the_requests_under_way() {
    let live = validating(Admission::builder(), "false").live().start().unwrap();
    let request = configmap("");
    let admission = live.current().unwrap();
    live.stop();
    live.stop();
    assert_eq!(run(live.admit(&request)), Err(Unavailable::Stopped));
    assert!(admission.policy_names().next().is_some());
    // Nothing changes any more, so there is nothing to wait for.
    live.settle();
}

#[test]
fn each_request_sees_one_cluster() {
    let cluster = SharedObjects::default();
    let live = validating(
        Admission::builder(),
        "namespaceObject.metadata.labels.open == 'yes'",
    )
    .live()
    .cluster(cluster.clone())
    .start()
    .unwrap();
    let mut request = configmap("");
    request.namespace = "shop".to_owned();
    let code = |request: &_| {
        run(live.review(request))
            .unwrap()
            .result
            .map_or(200, |status| status.code)
    };
    assert_eq!(code(&request), 404);
    for (label, expected) in [("no", 422), ("yes", 200)] {
        let namespace = format!(
            r#"{{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"shop","labels":{{"open":"{label}"}}}}}}"#
        );
        let namespace = pratique::json::parse(namespace.as_bytes()).unwrap().into_owned();
        cluster.update(|objects| assert!(objects.insert(namespace.clone()).is_none()));
        assert_eq!(code(&request), expected, "{label}");
    }
}

#[test]
fn without_a_cluster_more_than_names_is_undecided() {
    let decision = |expression: &str| {
        let live = validating(Admission::builder(), expression)
            .live()
            .start()
            .unwrap();
        let mut request = configmap("");
        request.namespace = "shop".to_owned();
        run(live.admit(&request)).unwrap().decision()
    };
    use AdmissionDecision::{Allowed, Denied, Undecided};
    assert_eq!(decision("namespaceObject.metadata.name == 'shop'"), Allowed);
    assert_eq!(decision("namespaceObject.metadata.name != 'shop'"), Denied);
    assert_eq!(decision("!('env' in namespaceObject.metadata.labels)"), Undecided);
    assert_eq!(
        decision("!authorizer.path('/x').check('get').allowed()"),
        Undecided
    );
}

#[cfg(feature = "metrics")]
#[test]
fn what_is_undecided_is_counted() {
    let metrics = pratique_metrics::Metrics::new("me");
    let builder = validating(
        Admission::builder(),
        "!authorizer.path('/x').check('get').allowed()",
    );
    let live = builder.on_undecided(OnUndecided::FailurePolicy).live();
    let live = live.observer(metrics.clone()).start().unwrap();
    assert_eq!(code(&live), 422);
    let counted = r#"pratique_undecided_total{name="v.static.k8s.io",plugin="ValidatingAdmissionPolicy",reason="authorizer"} 1"#;
    let text = metrics.text();
    assert!(text.contains(counted), "{text}");
}

#[test]
fn what_did_not_change_is_not_compiled_again() {
    let text: String = (0..50)
        .map(|n| validating_policy(&format!("p{n}"), "true"))
        .collect();
    let source = InMemory::new(configurations(&text));
    let live = Admission::builder()
        .live()
        .source(source.clone())
        .start()
        .unwrap();
    let before = live.current().unwrap();
    source.update(|configurations| {
        configurations.validating_policies.remove(0);
    });
    live.settle();
    assert!(!Arc::ptr_eq(&before, &live.current().unwrap()));
}

#[test]
fn changes_are_waited_for() {
    let source = InMemory::unknown();
    let live = Admission::builder().live();
    let live = live.source(source.clone()).start().unwrap();
    let mut context = Context::from_waker(Waker::noop());
    let first = {
        let mut first = pin!(live.changed(None));
        assert!(
            first.as_mut().poll(&mut context).is_pending(),
            "nothing is known yet"
        );
        source.replace(Configurations::default());
        live.settle();
        run(first).unwrap()
    };
    assert!(Arc::ptr_eq(&first, &live.current().unwrap()));
    let changed = tokio::runtime::Builder::new_current_thread().build().unwrap();
    // What wakes the task is the change.
    let second = changed.block_on(async {
        let other = source.clone();
        let changing =
            std::thread::spawn(move || other.replace(configurations(&validating_policy("p", "false"))));
        let second = live.changed(Some(&first)).await;
        changing.join().unwrap();
        second
    });
    assert!(!Arc::ptr_eq(&first, &second.unwrap()));
    assert_eq!(code(&live), 422);
    live.stop();
    assert_eq!(
        run(live.changed(Some(&first))).map(drop),
        Err(Unavailable::Stopped)
    );
}

/// A step that never ends.
struct Endless;

impl AdmissionStep for Endless {
    fn name(&self) -> &str {
        "endless"
    }

    async fn evaluate(&self, _: Attributes<'_>) -> StepOutcome {
        std::future::pending().await
    }
}

#[test]
fn a_request_that_nobody_waits_for_leaves_nothing_behind() {
    let builder = Admission::builder().step(Place::Schema, Endless);
    let mut live = builder.live().start().unwrap();
    let before = live.current().unwrap();
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..3 {
        let mut answer = live.call(configmap(""));
        assert!(answer.as_mut().poll(&mut context).is_pending());
    }
    // That of the handle, and the one here.
    assert_eq!(Arc::strong_count(&before), 2);
    live.stop();
}

#[cfg(feature = "webhooks")]
#[tokio::test]
async fn a_request_has_its_time() {
    let builder = Admission::builder().step(Place::Schema, Endless);
    let live = builder.live().deadline(std::time::Duration::from_millis(10));
    let live = live.start().unwrap();
    let response = live.review(&configmap("")).await.unwrap();
    assert_eq!(response.result.map(|status| status.code), Some(504));
}
