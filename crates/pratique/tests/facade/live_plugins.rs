//! Plugins of a chain that stays current: their state, what they count, and what they wait for.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pratique::cluster::{SharedObjects, WithState};
use pratique::live::InMemory;
use pratique::object_model::{ObjectModel, ObjectMutator};
use pratique::observer::AdmissionPhases;
use pratique::plugins::{
    Effects, Handler, ImageBackend, ImageReviewAnswer, ImageReviewing, MissingState, Plugin, PluginContext,
    Rejection, StateKind, StateObjects,
};
use pratique::policy::{NeedKind, OnUndecided};
use pratique::types::{AdmissionRequest, GroupVersionKind, Operation, Reason, Status};
use pratique::{
    Admission, AdmissionDecision, Attributes, Configurations, Live, LiveBuilder, Objects, PluginChain,
};

use crate::world::{configmap_in_shop, mutating, run, trail};

/// A plugin that validates by a function.
struct Validator<F>(F);

const VALIDATOR: Handler = Handler::new("Validator", &Operation::ALL)
    .validating()
    .asking_authorizer()
    .needing(&[StateKind::NAMESPACE, StateKind::SERVICE_ACCOUNT]);

impl<F> Plugin for Validator<F>
where
    F: Fn(&Attributes<'_>, &PluginContext<'_>) -> Result<(), Rejection> + Send + Sync,
{
    fn handler(&self) -> &Handler {
        &VALIDATOR
    }

    fn validate(
        &self,
        attributes: &Attributes<'_>,
        context: &PluginContext<'_>,
        _: &mut Effects,
    ) -> Result<(), Rejection> {
        (self.0)(attributes, context)
    }
}

fn builder<F>(validate: F) -> LiveBuilder
where
    F: Fn(&Attributes<'_>, &PluginContext<'_>) -> Result<(), Rejection> + Send + Sync + 'static,
{
    let chain = PluginChain::new(vec![Box::new(Validator(validate))]);
    let admission = Admission::builder().plugins(chain);
    admission.on_undecided(OnUndecided::FailurePolicy).live()
}

fn object(text: &str) -> pratique::json::Value<'static> {
    pratique::json::parse(text.as_bytes()).unwrap().into_owned()
}

/// Needs the namespace of a request, and a service account in it.
fn look_up(attributes: &Attributes<'_>, context: &PluginContext<'_>) -> Result<(), Rejection> {
    let namespace = &attributes.request.namespace;
    context.state.find(StateKind::NAMESPACE, "", namespace)?;
    let account = context
        .state
        .find(StateKind::SERVICE_ACCOUNT, namespace, "default")?;
    match account {
        Some(_) => Ok(()),
        None => Err(Status::failure(Reason::Forbidden, "no account").into()),
    }
}

/// A request in the namespace `team`.
fn request() -> AdmissionRequest<'static> {
    AdmissionRequest {
        namespace: "team".to_owned(),
        ..configmap_in_shop("")
    }
}

/// The message of the answer; empty if the request is allowed.
fn message(live: &Live) -> String {
    let response = run(live.review(&request(), AdmissionPhases::Both)).unwrap();
    assert_eq!(response.allowed, response.result.is_none());
    response.result.map(|status| status.message).unwrap_or_default()
}

#[test]
fn state_that_is_not_known_allows_nothing() {
    let assumed = builder(look_up).start().unwrap();
    assert_eq!(
        message(&assumed),
        r#"Validator is undecided: Namespace objects named "team" are not known"#
    );
    let outcome = run(assumed.admit(&request())).unwrap();
    assert_eq!(outcome.decision(), AdmissionDecision::Undecided);

    let mut objects = Objects::new();
    objects
        .insert(object(
            r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team"}}"#,
        ))
        .unwrap();
    let cluster = SharedObjects::new(objects);
    let live = builder(look_up).cluster(cluster.clone()).start().unwrap();
    assert_eq!(
        message(&live),
        r#"Validator is undecided: ServiceAccount objects named "default" in namespace "team" are not known"#
    );
    let mut state = StateObjects::default();
    state.complete("", "ServiceAccount");
    let live = builder(look_up)
        .cluster(WithState::new(cluster.clone(), state.clone()))
        .start()
        .unwrap();
    assert_eq!(message(&live), "no account");
    state
        .insert(object(
            r#"{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"default","namespace":"team"}}"#,
        ))
        .unwrap();
    let live = builder(look_up)
        .cluster(WithState::new(cluster, state))
        .start()
        .unwrap();
    assert_eq!(message(&live), "");
}

#[test]
fn needs_of_plugins_are_listed() {
    let live = builder(look_up).start().unwrap();
    let admission = live.current().unwrap();
    let needs: Vec<_> = admission
        .plugin_needs()
        .into_iter()
        .map(|need| (need.name, need.kind))
        .collect();
    let need = |kind| ("Validator".to_owned(), kind);
    assert_eq!(needs, [need(NeedKind::PluginState), need(NeedKind::Authorizer)]);
    assert_eq!(admission.plugin_names().collect::<Vec<_>>(), ["Validator"]);
}

#[test]
fn plugins_outlive_reloads() {
    let count = AtomicUsize::new(0);
    let counted = move |_: &Attributes<'_>, _: &PluginContext<'_>| {
        let count = count.fetch_add(1, Ordering::Relaxed);
        Err(Status::failure(Reason::Forbidden, count.to_string()).into())
    };
    let source = InMemory::new(Configurations::default());
    let live = builder(counted).source(source.clone()).start().unwrap();
    assert_eq!((message(&live), message(&live)), ("0".to_owned(), "1".to_owned()));
    let before = live.current();
    source.replace(Configurations::default());
    live.settle();
    assert!(!Arc::ptr_eq(&before.unwrap(), &live.current().unwrap()));
    assert_eq!(message(&live), "2");
}

/// Allows images by name, and counts how often it is asked.
struct Images(Arc<AtomicUsize>);

impl ImageBackend for Images {
    fn review(&self, review: String) -> ImageReviewing<'_> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            match review.as_str() {
                "good" => Ok("fine".to_owned()),
                _ => Err(Rejection::error("not reached")),
            }
        })
    }
}

#[test]
fn the_image_backend_is_asked_once() {
    let ask = |_: &Attributes<'_>, context: &PluginContext<'_>| {
        let both = ["good", "bad"].map(|review| context.images.review(review));
        match both {
            [ImageReviewAnswer::Unknown, _] => Err(MissingState::ImageReview.into()),
            [ImageReviewAnswer::Pending, _] | [_, ImageReviewAnswer::Pending] => Err(Rejection::Pending),
            [
                ImageReviewAnswer::Answered(answer),
                ImageReviewAnswer::Failed(error),
            ] => {
                let message = format!("{answer}, {error}");
                Err(Status::failure(Reason::Forbidden, message).into())
            }
            _ => Ok(()),
        }
    };
    let asked = Arc::new(AtomicUsize::new(0));
    let live = builder(ask).image_backend(Images(asked.clone())).start().unwrap();
    assert_eq!(message(&live), "fine, not reached");
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    let live = builder(ask).start().unwrap();
    assert_eq!(
        message(&live),
        "Validator is undecided: the image policy backend was not asked"
    );
}

/// Sets a field to a mark.
struct Marking(&'static str);

impl ObjectModel for Marking {
    fn set_defaults(
        &self,
        _: &GroupVersionKind,
        object: &mut pratique::json::Value<'_>,
        _: ObjectMutator<'_>,
    ) {
        if let Some(pratique::json::Value::Object(data)) = object.get_mut("data") {
            data.insert("marked", self.0);
        }
    }
}

#[test]
fn each_request_has_the_model_of_its_time() {
    let count = AtomicUsize::new(0);
    let models = move || -> Arc<dyn ObjectModel + Send + Sync> {
        let first = count.fetch_add(1, Ordering::Relaxed) == 0;
        Arc::new(Marking(if first { "first" } else { "later" }))
    };
    let live = mutating(Admission::builder(), &[("m", "Never")]).live();
    let live = live.object_models(models).start().unwrap();
    for expected in ["\"first\"", "\"later\""] {
        let outcome = run(live.admit(&configmap_in_shop(""))).unwrap();
        assert_eq!(trail(&outcome), "m");
        let marked = outcome
            .object
            .unwrap()
            .at(&["data", "marked"])
            .map(ToString::to_string);
        assert_eq!(marked.as_deref(), Some(expected));
    }
}
