//! Params that are looked up while a request waits.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::world::{configmap, file, run};
use pratique::cluster::{Objects, ParamScope, ParamSource};
use pratique::expressions::Expressions;
use pratique::json::Value;
use pratique::manifest::{LoadOptions, Loader};
use pratique::types::{AdmissionRequest, GroupVersionKind};
use pratique::{Admission, AdmissionContext, AdmissionDecision, Configurations, Outcome};

/// Has limits in namespaces, and counts who asks.
#[derive(Default)]
struct Limits {
    asked: Mutex<Vec<String>>,
    is_away: bool,
}

impl ParamSource for Limits {
    fn scope(&self, kind: &GroupVersionKind) -> Option<ParamScope> {
        (kind.kind == "Limit").then_some(ParamScope::Namespaced)
    }

    async fn params(&self, kind: &GroupVersionKind, namespace: &str) -> Option<Arc<[Value<'static>]>> {
        // Some other task has its turn.
        let mut turns = 2;
        std::future::poll_fn(|context| {
            turns -= 1;
            context.waker().wake_by_ref();
            match turns {
                0 => std::task::Poll::Ready(()),
                _ => std::task::Poll::Pending,
            }
        })
        .await;
        self.asked
            .lock()
            .unwrap()
            .push(format!("{}/{namespace}", kind.kind));
        if self.is_away {
            return None;
        }
        let limit = |(name, longest): (&str, u32)| {
            let text = format!(
                r#"{{"apiVersion":"example.com/v1","kind":"Limit","longest":{longest},
                    "metadata":{{"name":"{name}","namespace":"{namespace}","labels":{{"for":"names"}}}}}}"#
            );
            pratique::json::parse(text.as_bytes()).unwrap().into_owned()
        };
        Some([("second", 100), ("first", 2)].map(limit).into())
    }
}

const POLICIES: &str = "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: limit}
spec:
  paramKind: {apiVersion: example.com/v1, kind: Limit}
  matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [configmaps], operations: ['*']}]}
  validations: [{expression: object.data.trail.size() <= params.longest, messageExpression: string(params.metadata.name)}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: limit}
spec:
  policyName: limit
  paramRef: {PARAMS, parameterNotFoundAction: Deny}
  validationActions: [Deny]
";

/// Static policies have no params: these are of the API.
fn policies(param_ref: &str) -> Configurations {
    let text = POLICIES.replace("PARAMS", param_ref);
    let expressions = Expressions::new(Arc::default());
    let options = LoadOptions::new(&expressions);
    Loader::for_api(&options)
        .load_files(&[file("v.yaml", &text)])
        .unwrap()
        .into()
}

fn admission(param_ref: &str) -> Admission {
    let builder = Admission::builder().configurations(policies(param_ref));
    builder.build().unwrap()
}

fn request(trail: &str, namespace: &str) -> AdmissionRequest<'static> {
    AdmissionRequest {
        namespace: namespace.to_owned(),
        ..configmap(trail)
    }
}

fn objects() -> Objects {
    let mut objects = Objects::new();
    objects.assume_namespaces();
    objects
}

fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap().block_on(future)
}

fn admit(param_ref: &str, request: &AdmissionRequest<'_>, source: &Limits) -> Outcome {
    let objects = objects();
    let context = AdmissionContext::new(&objects).with_params(source);
    block_on(admission(param_ref).admit(request, context, &mut ())).unwrap()
}

fn message(outcome: Outcome) -> Option<String> {
    outcome.status.map(|status| {
        let whole = status.message;
        whole.rsplit(": ").next().unwrap_or_default().to_owned()
    })
}

#[test]
fn params_are_looked_up_for_the_namespace_of_the_request() {
    let source = Limits::default();
    assert_eq!(
        message(admit("name: second", &request("abc", "shop"), &source)),
        None
    );
    assert_eq!(
        message(admit("name: first", &request("abc", "shop"), &source)).as_deref(),
        Some("first")
    );
    assert_eq!(
        message(admit("name: first", &request("ab", "shop"), &source)),
        None
    );
    assert_eq!(
        *source.asked.lock().unwrap(),
        ["Limit/shop"; 3],
        "once for each request"
    );
    let other = "name: first, namespace: other";
    assert_eq!(
        message(admit(other, &request("abc", "shop"), &source)).as_deref(),
        Some("first")
    );
    assert_eq!(source.asked.lock().unwrap().last().unwrap(), "Limit/other");
}

#[test]
fn params_are_selected_and_missed_as_those_of_the_cluster() {
    let source = Limits::default();
    let selected = "selector: {matchLabels: {for: names}}";
    assert_eq!(
        message(admit(selected, &request("abc", "shop"), &source)).as_deref(),
        Some("first")
    );
    let missing = admit("name: third", &request("a", "shop"), &source);
    assert_eq!(
        message(missing).as_deref(),
        Some("no params found for policy binding with `Deny` parameterNotFoundAction")
    );
}

#[test]
fn what_cannot_be_had_is_undecided() {
    let source = Limits {
        is_away: true,
        ..Limits::default()
    };
    let outcome = admit("name: first", &request("a", "shop"), &source);
    assert_eq!(outcome.decision(), AdmissionDecision::Undecided);
    assert_eq!(outcome.undecided[0].missing.kind(), "params");
}

#[test]
fn a_request_that_needs_none_asks_for_none() {
    let source = Limits::default();
    let secret = AdmissionRequest {
        resource: pratique::types::GroupVersionResource::new("", "v1", "secrets"),
        ..request("abc", "shop")
    };
    assert!(admit("name: first", &secret, &source).allowed());
    assert!(source.asked.lock().unwrap().is_empty());
}

#[test]
fn a_running_admission_has_a_source_too() {
    let builder = Admission::builder().configurations(policies("name: first"));
    let live = builder.live().params(Limits::default()).start().unwrap();
    let denied = block_on(live.admit(&request("abc", "shop"))).unwrap();
    assert_eq!(message(denied).as_deref(), Some("first"));
    live.stop();
}

/// A source that never answers.
struct Silent;

impl ParamSource for Silent {
    fn scope(&self, _: &GroupVersionKind) -> Option<ParamScope> {
        Some(ParamScope::Namespaced)
    }

    async fn params(&self, _: &GroupVersionKind, _: &str) -> Option<Arc<[Value<'static>]>> {
        std::future::pending().await
    }
}

#[test]
#[cfg(feature = "webhooks")]
fn a_source_has_no_longer_than_the_request() {
    let objects = objects();
    let context = AdmissionContext::new(&objects)
        .with_params(&Silent)
        .with_limits(Instant::now() + Duration::from_millis(20));
    let outcome = block_on(admission("name: first").admit(&request("a", "shop"), context, &mut ()));
    assert_eq!(outcome.unwrap().status.map(|status| status.code), Some(504));
}

/// Outside of the chain, pending params are not looked up.
#[test]
fn without_a_source_params_are_those_of_the_cluster() {
    let (objects, request) = (objects(), request("a", "shop"));
    let context = AdmissionContext::new(&objects);
    let outcome = run(admission("name: first").admit(&request, context, &mut ())).unwrap();
    // The kind is not known there.
    assert!(!outcome.allowed());
}
