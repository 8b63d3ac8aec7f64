//! Admission while its sources change: readiness, atomic swaps, and a stop that waits for everything.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::world::{
    configmap_in_shop, file, mutating, mutating_policy, run, trail, validating, validating_policy,
};
use pratique::cluster::SharedObjects;
use pratique::expressions::Expressions;
use pratique::live::InMemory;
use pratique::manifest::{LoadOptions, Loader};
use pratique::observer::{AdmissionPhase, AdmissionPhases};
use pratique::policy::OnUndecided;
use pratique::step::{StepOutcome, StepPlace, step};
use pratique::{
    Admission, AdmissionDecision, AdmissionReview, AdmissionStep, Attributes, Configurations, Limits, Live,
    UnavailableReason,
};
use tower_service::Service;

/// The configuration that a text has.
fn configurations(text: &str) -> Configurations {
    let expressions = Expressions::new(Arc::default());
    let options = LoadOptions::new(&expressions);
    Loader::for_api(&options)
        .load_files(&[file("api.yaml", text)])
        .unwrap()
        .into()
}

fn code(live: &Live) -> i32 {
    let response = run(live.review(&configmap_in_shop(""), AdmissionPhases::Both)).unwrap();
    response.result.map_or(200, |status| status.code)
}

#[test]
fn sources_are_in_effect_once_settled() {
    let source = InMemory::new(Configurations::default());
    let builder = mutating(Admission::builder(), &[("m", "Never")]);
    let live = builder.live().source(source.clone()).start().unwrap();
    assert_eq!(trail(&run(live.admit(&configmap_in_shop(""))).unwrap()), "m");
    source.replace(configurations(&mutating_policy("api", "a", "Never")));
    live.settle();
    assert_eq!(trail(&run(live.admit(&configmap_in_shop(""))).unwrap()), "ma");
    source.update(|configurations| configurations.mutating_bindings.clear());
    live.settle();
    assert_eq!(trail(&run(live.admit(&configmap_in_shop(""))).unwrap()), "m");
}

#[test]
fn it_is_ready_when_every_source_is_known() {
    let (first, second) = (InMemory::unknown(), InMemory::unknown());
    let live = Admission::builder().live();
    let live = live.source(first.clone()).source(second.clone()).start().unwrap();
    let mut ready = pin!(live.ready());
    let mut context = Context::from_waker(Waker::noop());
    assert!(ready.as_mut().poll(&mut context).is_pending());
    assert_eq!(
        run(live.admit(&configmap_in_shop(""))),
        Err(UnavailableReason::NotReady.into())
    );
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
    let live = validating(Admission::builder(), "false")
        .live()
        .source(source.clone())
        .start()
        .unwrap();
    let mut service = live.service(AdmissionPhase::Validating);
    let mut context = Context::from_waker(Waker::noop());
    assert!(Service::poll_ready(&mut service, &mut context).is_pending());
    source.replace(Configurations::default());
    live.settle();
    let mut other = service.clone();
    run(poll_fn(|context| other.poll_ready(context))).unwrap();
    let response = run(other.call(configmap_in_shop(""))).unwrap();
    assert!(!response.allowed && response.uid == "u");
    live.stop();
    assert_eq!(
        run(poll_fn(|context| other.poll_ready(context))),
        Err(UnavailableReason::Stopped.into())
    );
}

#[test]
fn stopping_ends_everything_but_the_requests_under_way() {
    let live = validating(Admission::builder(), "false").live().start().unwrap();
    let request = configmap_in_shop("");
    let admission = live.current().unwrap();
    live.stop();
    live.stop();
    assert_eq!(run(live.admit(&request)), Err(UnavailableReason::Stopped.into()));
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
    let request = configmap_in_shop("");
    let code = |request: &_| {
        run(live.review(request, AdmissionPhases::Both))
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
        cluster.update(|objects| objects.insert(namespace.clone()).unwrap());
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
        run(live.admit(&configmap_in_shop(""))).unwrap().decision()
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
    let text = metrics.to_text();
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
        Err(UnavailableReason::Stopped)
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
    let builder = Admission::builder().step(StepPlace::Schema, Endless);
    let live = builder.live().start().unwrap();
    let mut service = live.service(AdmissionPhases::Both);
    let before = live.current().unwrap();
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..3 {
        let mut answer = service.call(configmap_in_shop(""));
        assert!(answer.as_mut().poll(&mut context).is_pending());
    }
    // That of the handle, and the one here.
    assert_eq!(Arc::strong_count(&before), 2);
    live.stop();
}

#[cfg(feature = "webhooks")]
#[tokio::test]
async fn a_request_has_its_time() {
    let builder = Admission::builder().step(StepPlace::Schema, Endless);
    let live = builder.live().deadline(std::time::Duration::from_millis(10));
    let live = live.start().unwrap();
    let response = live
        .review(&configmap_in_shop(""), AdmissionPhases::Both)
        .await
        .unwrap();
    assert_eq!(response.result.map(|status| status.code), Some(504));
}

/// A review of the creation of a ConfigMap, with a text replaced by another.
fn review(text: &str, by: &str) -> String {
    let review = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE","namespace":"shop",
        "kind":{"group":"","version":"v1","kind":"ConfigMap"},
        "resource":{"group":"","version":"v1","resource":"configmaps"},
        "object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"trail":""}}}}"#;
    assert!(review.contains(text), "{text}");
    review.replace(text, by)
}

#[test]
fn what_no_api_server_sends_is_no_request() {
    let live = validating(Admission::builder(), "false").live().start().unwrap();
    let error = |text: &str, by: &str| {
        let text = review(text, by);
        let review = AdmissionReview::parse(text.as_bytes()).unwrap();
        let error = run(live.answer(&review, AdmissionPhase::Validating)).unwrap_err();
        if let Some(request) = &review.request {
            let refused = request.validate().is_err();
            assert_eq!(run(live.admit(request)).is_err(), refused);
            assert_eq!(run(live.review(request, AdmissionPhases::Both)).is_err(), refused);
            let called = run(live
                .service(AdmissionPhase::Validating)
                .call(request.clone().into_owned()));
            assert_eq!(called.is_err(), refused);
        }
        error.to_string()
    };
    let request = "no API server sends the request of this AdmissionReview: ";
    let operation = "operation: must be one of CREATE, UPDATE, DELETE and CONNECT";
    assert_eq!(
        error(r#""operation":"CREATE","#, ""),
        format!("{request}{operation}")
    );
    assert!(error("\"configmaps\"", "\"ConfigMap\"").contains("is not the name of a resource"));
    assert!(error("\"configmaps\"", "\"configmap\"").contains("those of configmaps, not of configmap"));
    assert!(error("\"shop\"", "\"\"").contains("configmaps belong to namespaces"));
    assert!(
        error(
            "\"group\":\"\",\"version\":\"v1\",\"kind\"",
            "\"group\":\"apps\",\"version\":\"v1\",\"kind\""
        )
        .contains("kind: ")
    );
    assert!(error("admission.k8s.io/v1", "admission.k8s.io/v3").starts_with("expected an AdmissionReview"));
    assert!(error("\"AdmissionReview\"", "\"Review\"").starts_with("expected an AdmissionReview"));

    // A program that says that it has validated a request gets what policies say of it.
    let mut request = configmap_in_shop("");
    request.operation = pratique::types::Operation::None;
    assert!(run(live.admit(&request)).is_err());
    let outcome = run(live.admit_as_given(&request, AdmissionPhases::Both, Limits::default())).unwrap();
    assert!(outcome.allowed(), "no rule matches it");
}

#[test]
fn an_answer_has_the_version_that_was_asked() {
    let live = validating(Admission::builder(), "false").live().start().unwrap();
    for version in ["admission.k8s.io/v1", "admission.k8s.io/v1beta1"] {
        let text = review("admission.k8s.io/v1", version);
        let review = AdmissionReview::parse(text.as_bytes()).unwrap();
        let answer = run(live.answer(&review, AdmissionPhase::Validating)).unwrap();
        assert_eq!(answer.api_version, version);
        let response = answer.response.unwrap();
        assert_eq!((response.uid.as_str(), response.allowed), ("u", false));
    }
}

#[test]
fn a_validating_answer_has_no_patch() {
    let live = mutating(Admission::builder(), &[("m", "Never")])
        .live()
        .start()
        .unwrap();
    let patched = |phases: AdmissionPhases| {
        run(live.review(&configmap_in_shop(""), phases))
            .unwrap()
            .patch
            .is_some()
    };
    assert!(patched(AdmissionPhase::Mutating.into()) && patched(AdmissionPhases::Both));
    assert!(!patched(AdmissionPhase::Validating.into()));

    // A step runs in the phase of its place.
    for (place, phase) in [
        (StepPlace::BeforeMutatingPolicies, AdmissionPhase::Mutating),
        (StepPlace::Schema, AdmissionPhase::Mutating),
        (StepPlace::BeforeValidatingPolicies, AdmissionPhase::Validating),
    ] {
        assert_eq!(place.phase(), phase);
        let deny = step("deny", |_| StepOutcome::deny("no"));
        let live = Admission::builder().step(place, deny).live().start().unwrap();
        let denied =
            |phase: AdmissionPhase| !run(live.review(&configmap_in_shop(""), phase)).unwrap().allowed;
        assert_eq!(
            denied(AdmissionPhase::Mutating),
            phase == AdmissionPhase::Mutating
        );
        assert_eq!(
            denied(AdmissionPhase::Validating),
            phase == AdmissionPhase::Validating
        );
    }
}

/// A step that panics, in the way of its number.
struct Panicking(u8);

impl AdmissionStep for Panicking {
    fn name(&self) -> &str {
        "panicking"
    }

    #[allow(clippy::manual_async_fn, reason = "one that panics before there is a future")]
    fn evaluate(&self, _: Attributes<'_>) -> impl Future<Output = StepOutcome> + Send {
        assert!(self.0 != 0, "before there is a future");
        let polled = self.0;
        async move {
            assert!(polled != 1, "when it is polled");
            /// A value that panics when it is dropped.
            struct Bomb;
            impl Drop for Bomb {
                fn drop(&mut self) {
                    panic!("when it is dropped");
                }
            }
            let _bomb = Bomb;
            StepOutcome::allow()
        }
    }
}

/// The codes of the answers that it was told of.
#[derive(Default)]
struct Told(std::sync::Mutex<Vec<i32>>);

/// An observer that the test shares.
struct Observer(Arc<Told>);

impl pratique::live::AdmissionObserver for Observer {
    fn answered(&self, answered: &pratique::live::AnsweredRequest<'_>) {
        let status = answered.outcome.status.as_ref();
        let Observer(told) = self;
        told.0
            .lock()
            .unwrap()
            .push(status.map_or(200, |status| status.code));
    }
}

#[test]
fn a_step_that_panics_refuses_its_request_only() {
    for way in 0..3 {
        for place in [
            StepPlace::BeforeMutatingPolicies,
            StepPlace::AfterValidatingWebhooks,
        ] {
            let told = Arc::new(Told::default());
            let builder = Admission::builder().step(place, Panicking(way));
            let live = builder.live().observer(Observer(told.clone())).start().unwrap();
            let outcome = run(live.admit(&configmap_in_shop(""))).unwrap();
            let status = outcome.status.unwrap();
            assert_eq!(
                (status.code, status.message.as_str()),
                (
                    500,
                    r#"Internal error occurred: admission step "panicking" panicked"#
                )
            );
            assert_eq!(outcome.refused_by.as_deref(), Some("panicking"));
            assert_eq!(*told.0.lock().unwrap(), [500]);
            assert!(live.is_ready());
        }
    }
}

#[cfg(feature = "metrics")]
#[test]
fn a_panic_is_counted() {
    let metrics = pratique_metrics::Metrics::new("me");
    let builder = Admission::builder().step(StepPlace::BeforeValidatingPolicies, Panicking(1));
    let live = builder.live().observer(metrics.clone()).start().unwrap();
    assert_eq!(code(&live), 500);
    let text = metrics.to_text();
    let counted = text
        .lines()
        .any(|line| line.contains(r#"name="panicking""#) && line.contains(r#"rejected="true""#));
    assert!(counted, "{text}");
}
