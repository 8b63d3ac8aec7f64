//! A request, its webhooks, and somebody who plays them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use pratique_expression::Cache;
use pratique_json::Value;
use pratique_match::Equivalents;
use pratique_testkit::{NoNamespaces, NoOpinion};
use pratique_types::AdmissionRequest;
use pratique_types::configuration::StaticOrder;
use pratique_webhook::{
    Answer, Attributes, Call, CallError, CallErrorKind, Caller, MutatedRequest, MutatingWebhooks, Origin,
    Reinvocation, ValidatingWebhooks, ValidationOutcome, WebhookContext, WebhookObserver, mutate, validate,
};
use serde_json::{Value as Json, json};

/// Plays webhooks: each path answers with a response, after a while.
#[derive(Default)]
pub(crate) struct Player {
    answers: HashMap<String, (Json, Duration)>,
    pub(crate) calls: Mutex<Vec<Played>>,
    pub(crate) at_work: Arc<AtomicUsize>,
}

/// A call that came.
#[derive(Clone, Debug)]
pub(crate) struct Played {
    pub(crate) path: String,
    pub(crate) timeout: Option<u64>,
    pub(crate) review: Json,
}

/// Counts a call while it is at work.
struct AtWork(Arc<AtomicUsize>);

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Player {
    /// A path answers with a response; a text instead is why it does not, and null says that it is not known.
    pub(crate) fn plays(self, path: &str, response: Json) -> Self {
        self.plays_after(path, response, 0)
    }

    pub(crate) fn plays_after(mut self, path: &str, response: Json, millis: u64) -> Self {
        self.answers
            .insert(path.to_owned(), (response, Duration::from_millis(millis)));
        self
    }

    /// The paths that were called, in order.
    pub(crate) fn paths(&self) -> Vec<String> {
        let calls = self.calls.lock().unwrap();
        calls.iter().map(|call| call.path.clone()).collect()
    }
}

impl Caller for Player {
    fn call<'a>(&'a self, call: Call) -> Answer<'a> {
        let path = call.endpoint.url.rsplit('/').next().unwrap().to_owned();
        let mut review: Json = serde_json::from_slice(&call.body).unwrap();
        let uid = review["request"].as_object_mut().unwrap().remove("uid").unwrap();
        let version = review["apiVersion"].clone();
        self.calls.lock().unwrap().push(Played {
            path: path.clone(),
            timeout: call.timeout.map(|timeout| timeout.as_secs()),
            review,
        });
        self.at_work.fetch_add(1, Ordering::SeqCst);
        let at_work = AtWork(self.at_work.clone());
        Box::pin(async move {
            let _at_work = at_work;
            let (mut response, delay) = self.answers[&path].clone();
            tokio::time::sleep(delay).await;
            if response.is_null() {
                return Err(CallError {
                    message: "nobody knows".to_owned(),
                    kind: CallErrorKind::Unknown,
                });
            }
            if let Some(why) = response.as_str() {
                return Err(CallError {
                    message: format!("failed to call webhook: {why}"),
                    kind: CallErrorKind::Status(500),
                });
            }
            let response = response.as_object_mut().unwrap();
            response.entry("uid").or_insert(uid);
            let answer = json!({"apiVersion": version, "kind": "AdmissionReview", "response": response});
            Ok(Bytes::from(answer.to_string()))
        })
    }
}

/// A response that allows.
pub(crate) fn allows() -> Json {
    json!({"allowed": true})
}

/// A response that allows, and adds a label.
pub(crate) fn labels(label: &str) -> Json {
    let patch = json!([{"op": "add", "path": format!("/metadata/labels/{label}"), "value": "x"}]);
    let patch = pratique_json::base64::encode(patch.to_string().as_bytes());
    json!({"allowed": true, "patchType": "JSONPatch", "patch": patch})
}

/// A webhook for pods at a path, with more fields or others.
pub(crate) fn hook(path: &str, more: Json) -> Json {
    let mut hook = json!({
        "name": format!("{path}.example.com"),
        "clientConfig": {"url": format!("https://hooks.example/{path}")},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["*"]}],
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "timeoutSeconds": 5,
    });
    for (field, value) in more.as_object().unwrap() {
        hook[field] = value.clone();
    }
    hook
}

/// The mutating webhooks of configurations.
pub(crate) fn mutating(origin: Origin, configurations: &[(&str, Vec<Json>)]) -> MutatingWebhooks {
    let configurations = configurations.iter().map(|(name, webhooks)| {
        serde_json::from_value(json!({"metadata": {"name": name}, "webhooks": webhooks})).unwrap()
    });
    let configurations: Vec<_> = configurations.collect();
    MutatingWebhooks::compile(&configurations, origin, &Cache::new())
}

/// The validating webhooks of one configuration of the API.
pub(crate) fn validating(webhooks: Vec<Json>) -> ValidatingWebhooks {
    let configuration = json!({"metadata": {"name": "v"}, "webhooks": webhooks});
    let configuration = serde_json::from_value(configuration).unwrap();
    ValidatingWebhooks::compile([&configuration], Origin::Api, &Cache::new())
}

/// A request to create a pod.
pub(crate) fn request() -> AdmissionRequest<'static> {
    serde_json::from_str(
        r#"{"uid": "r", "kind": {"version": "v1", "kind": "Pod"}, "resource": {"version": "v1", "resource": "pods"},
            "name": "p", "namespace": "ns", "operation": "CREATE", "userInfo": {"username": "ann"},
            "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {}, "name": "p"}, "spec": {}}}"#,
    )
    .unwrap()
}

/// The context of a request in an empty cluster, where objects are taken as they come.
pub(crate) fn context(equivalents: &Equivalents) -> WebhookContext<'_> {
    WebhookContext::new(equivalents, &NoNamespaces, Arc::new(NoOpinion)).without_types()
}

/// One turn of mutating webhooks.
pub(crate) async fn mutated(sets: &[&MutatingWebhooks], player: &Player) -> MutatedRequest {
    mutated_in_order(StaticOrder::default(), sets, player).await
}

/// Likewise, with static webhooks where they are wanted.
pub(crate) async fn mutated_in_order(
    order: StaticOrder,
    sets: &[&MutatingWebhooks],
    player: &Player,
) -> MutatedRequest {
    let (request, equivalents) = (request(), Equivalents::new());
    let context = context(&equivalents).with_static_order(order);
    let mut turns = Reinvocation::default();
    mutate(sets, &request, &context, &mut turns, player, &mut ())
        .await
        .unwrap()
}

/// Both turns of mutating webhooks, as far as they are due; `between` changes the object meanwhile.
pub(crate) async fn mutated_twice(
    sets: &[&MutatingWebhooks],
    player: &Player,
    between: Option<Value<'static>>,
) -> Vec<MutatedRequest> {
    request_mutated_twice(&request(), sets, player, between).await
}

/// Likewise, of a request.
pub(crate) async fn request_mutated_twice(
    request: &AdmissionRequest<'static>,
    sets: &[&MutatingWebhooks],
    player: &Player,
    between: Option<Value<'static>>,
) -> Vec<MutatedRequest> {
    let equivalents = Equivalents::new();
    turns_of(request, sets, player, between, context(&equivalents)).await
}

/// Likewise, of a request whose object has the Go type of its kind.
pub(crate) async fn typed_mutated_twice(sets: &[&MutatingWebhooks], player: &Player) -> Vec<MutatedRequest> {
    let equivalents = Equivalents::new();
    let context = WebhookContext::new(&equivalents, &NoNamespaces, Arc::new(NoOpinion));
    turns_of(&request(), sets, player, None, context).await
}

async fn turns_of(
    request: &AdmissionRequest<'static>,
    sets: &[&MutatingWebhooks],
    player: &Player,
    between: Option<Value<'static>>,
    context: WebhookContext<'_>,
) -> Vec<MutatedRequest> {
    let mut turns = Reinvocation::default();
    let first = mutate(sets, request, &context, &mut turns, player, &mut ()).await;
    let first = first.unwrap();
    if !turns.is_due() && between.is_none() {
        return vec![first];
    }
    turns.begin_second();
    let object = between.or(first.object.clone());
    let attributes = Attributes::written(request, object.as_ref().unwrap_or(&request.object));
    let second = mutate(sets, attributes, &context, &mut turns, player, &mut ()).await;
    vec![first, second.unwrap()]
}

/// What validating webhooks say.
pub(crate) async fn validated(set: &ValidatingWebhooks, player: &Player) -> ValidationOutcome {
    observed(set, player, &mut ()).await
}

/// What validating webhooks say, while somebody looks on.
pub(crate) async fn observed(
    set: &ValidatingWebhooks,
    player: &Player,
    observer: &mut dyn WebhookObserver,
) -> ValidationOutcome {
    let (request, equivalents) = (request(), Equivalents::new());
    let context = context(&equivalents);
    validate(&[set], &request, &context, player, observer)
        .await
        .unwrap()
}
