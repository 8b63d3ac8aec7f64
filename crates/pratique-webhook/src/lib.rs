//! Admission webhooks: matching, calls, and the effects of their answers.
//!
//! [`MutatingWebhooks`] and [`ValidatingWebhooks`] are the compiled webhooks of one origin, immutable and shared between
//! tasks. [`mutate`] sends a request to the mutating ones, one after the other, and returns [the result](MutatedRequest);
//! [`validate`] sends it to the validating ones concurrently, and returns a [`ValidationOutcome`]. A [`Caller`] delivers
//! reviews; a [`WebhookContext`] has the view of the cluster and the limits. Dropping the future of a request cancels its
//! calls.
//!
//! The caller over HTTPS is [`transport`]'s [`HttpCaller`]. Another one can stand in for a webhook within a test:
//!
//! ```
//! # use std::sync::Arc;
//! use pratique_cel::library::authz;
//! use pratique_expression::Cache;
//! use pratique_match::{Equivalents, Namespaces};
//! use pratique_schema::Release;
//! use pratique_types::AdmissionRequest;
//! use pratique_webhook::{Answer, Call, Caller, Origin, ValidatingWebhooks, WebhookContext, validate};
//!
//! /// Denies everything.
//! struct DenyAll;
//!
//! impl Caller for DenyAll {
//!     fn call<'a>(&'a self, call: Call) -> Answer<'a> {
//!         assert_eq!(call.endpoint.url, "https://guard.example/pods");
//!         let review: serde_json::Value = serde_json::from_slice(&call.body).unwrap();
//!         let answer = serde_json::json!({
//!             "apiVersion": "admission.k8s.io/v1",
//!             "kind": "AdmissionReview",
//!             "response": {"uid": review["request"]["uid"], "allowed": false, "status": {"message": "closed today"}},
//!         });
//!         Box::pin(async move { Ok(answer.to_string().into()) })
//!     }
//! }
//!
//! # struct Nowhere;
//! # impl Namespaces for Nowhere {
//! #     fn namespace<'a>(&'a self, _: &str) -> pratique_match::Namespace<'a> { pratique_match::Namespace::Absent }
//! # }
//! # #[derive(Debug)]
//! # struct NoAnswer;
//! # impl authz::Authorizer for NoAnswer {
//! #     fn authorize(&self, _: &authz::Check<'_>) -> authz::Answer { authz::Answer::Pending }
//! # }
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let configuration = serde_json::from_value(serde_json::json!({
//!     "metadata": {"name": "guard"},
//!     "webhooks": [{
//!         "name": "guard.example.com",
//!         "clientConfig": {"url": "https://guard.example/pods"},
//!         "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}],
//!         "admissionReviewVersions": ["v1"],
//!         "sideEffects": "None",
//!         "timeoutSeconds": 5,
//!     }],
//! })).unwrap();
//! let webhooks = ValidatingWebhooks::compile([&configuration], Origin::Api, &Cache::new());
//! let request: AdmissionRequest<'_> = serde_json::from_str(
//!     r#"{"kind": {"version": "v1", "kind": "Pod"}, "resource": {"version": "v1", "resource": "pods"}, "name": "p",
//!         "namespace": "default", "operation": "CREATE", "object": {"apiVersion": "v1", "kind": "Pod"}}"#,
//! ).unwrap();
//! let equivalents = Equivalents::of_release(Release::latest().resources());
//! let context = WebhookContext::new(&equivalents, &Nowhere, Arc::new(NoAnswer));
//! let outcome = validate(&[&webhooks], &request, &context, &DenyAll, &mut ()).await.unwrap();
//! let status = outcome.status.unwrap();
//! assert_eq!(status.message, r#"admission webhook "guard.example.com" denied the request: closed today"#);
//! # });
//! ```
//!
//! # Beyond the reference
//!
//! An API server calls a webhook that fails, or is slow, again with each request. Callers that wrap another one limit that:
//! [`transport::Breaker`] is a circuit breaker that opens after consecutive failures, [`transport::LimitedCaller`] bounds the
//! concurrent calls of a webhook, and [`transport::Budget`] the time that all calls for a request take. A call that one of
//! them refuses fails at once, and the webhook's failure policy decides. Counts are by endpoint.
//!
//! ```
//! use std::time::Duration;
//! use pratique_webhook::HttpCaller;
//! use pratique_webhook::transport::{Breaker, LimitedCaller};
//!
//! let caller = LimitedCaller::new(HttpCaller::default(), 64);
//! let caller = Breaker::new(caller, 5, Duration::from_secs(10));
//! # let _ = caller;
//! ```

mod annotations;
mod answer;
mod call;
mod caller;
mod conditions;
mod configurations;
mod context;
mod endpoint;
mod fields;
mod memory;
mod mutate;
mod object_error;
mod observer;
mod order;
mod outcome;
mod patch;
mod patching;
mod probe;
mod quantities;
mod reinvocation;
mod review;
mod run;
mod spelling;
mod statuses;
pub mod transport;
mod validate;
mod version;
mod webhook;
mod wire;

pub use caller::{Answer, Call, CallError, CallErrorKind, Caller, Endpoint};
pub use configurations::{MutatingWebhooks, ValidatingWebhooks};
pub use context::{PendingChecks, WebhookContext};
pub use endpoint::{Service, Services};
pub use memory::CallMemory;
pub use mutate::mutate;
pub use observer::{Conditions, EndedCall, Rejection, WebhookObserver};
pub use outcome::MutatedRequest;
pub use pratique_core::{
    AdmissionPhase, Attributes, DecisionNeed, DenialCause, EvalContext, MissingDependency, NeedKind,
    OnUndecided, Origin, UndecidedDecision, UnfinishedEvaluation, ValidationOutcome,
};
pub use probe::{ProbeResult, probe_mutating, probe_validating};
pub use reinvocation::Reinvocation;
pub use transport::HttpCaller;
pub use validate::validate;
