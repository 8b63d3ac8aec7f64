//! Admission webhooks: which ones a request goes to, the calls, and what their answers do.
//!
//! [`MutatingWebhooks`] and [`ValidatingWebhooks`] are the compiled webhooks of one origin, immutable and shared between
//! tasks. [`mutate`] sends a request to the mutating ones, one after the other, and gives what they [made of
//! it](Mutated); [`validate`] sends it to the validating ones, all at once, and gives their [`Verdict`]. How reviews
//! travel is the business of a [`Caller`]; what else is to be known of the cluster is in the [`Surroundings`]. Nothing
//! goes on once the future of a request is dropped.
//!
//! Over HTTPS that is [`transport`]'s [`HttpCaller`]. Any other caller will do, such as one that
//! plays a webhook within a test:
//!
//! ```
//! # use std::sync::Arc;
//! use pratique_cel::library::authz;
//! use pratique_expression::Cache;
//! use pratique_match::{Equivalents, Namespaces};
//! use pratique_types::AdmissionRequest;
//! use pratique_webhook::{Answer, Call, Caller, Origin, Surroundings, ValidatingWebhooks, validate};
//!
//! /// Says no to everything.
//! struct No;
//!
//! impl Caller for No {
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
//! # struct Nobody;
//! # impl authz::Authorizer for Nobody {
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
//! let equivalents = Equivalents::builtin();
//! let surroundings = Surroundings::new(&equivalents, &Nowhere, Arc::new(Nobody));
//! let verdict = validate(&[&webhooks], &request, &surroundings, &No, &mut ()).await.unwrap();
//! let status = verdict.status.unwrap();
//! assert_eq!(status.message, r#"admission webhook "guard.example.com" denied the request: closed today"#);
//! # });
//! ```
//!
//! # What the reference does not have
//!
//! An API server calls a webhook that fails, or is slow, again with each request. Callers that wrap callers do something
//! about that for those who want it: [`transport::Breaker`] leaves a webhook alone after failures in a row,
//! [`transport::Limited`] bounds the calls of one that are under way at once, [`transport::Budget`] the time that all take
//! for a request. A call that is refused so fails like any other, only at once: the webhook's failure policy decides. What
//! is counted is counted by endpoint.
//!
//! ```
//! use std::time::Duration;
//! use pratique_webhook::HttpCaller;
//! use pratique_webhook::transport::{Breaker, Limited};
//!
//! let caller = Limited::new(HttpCaller::default(), 64);
//! let caller = Breaker::new(caller, 5, Duration::from_secs(10));
//! # let _ = caller;
//! ```

mod annotations;
mod answer;
mod call;
mod caller;
mod conditions;
mod configurations;
mod endpoint;
mod fields;
mod meeting;
mod memory;
mod mutate;
mod needs;
mod observer;
mod order;
mod outcome;
mod patch;
mod probe;
mod quantities;
mod reinvocation;
mod review;
mod spelling;
mod statuses;
mod surroundings;
pub mod transport;
mod undecided;
mod validate;
mod version;
mod webhook;
mod wire;

pub use caller::{Answer, Call, CallError, CallErrorKind, Caller, Endpoint};
pub use configurations::{MutatingWebhooks, ValidatingWebhooks};
pub use endpoint::{Service, Services};
pub use memory::CallMemory;
pub use mutate::mutate;
pub use needs::Need;
pub use observer::{Called, Conditions, Does, Observer, Rejection};
pub use outcome::{Mutated, Unanswered, Verdict};
pub use pratique_exclusion::Origin;
pub use pratique_expression::{Missing, OnUndecided, Undecided};
pub use probe::{Probed, probe_mutating, probe_validating};
pub use reinvocation::Reinvocation;
pub use surroundings::{Attributes, Pending, Surroundings};
pub use transport::HttpCaller;
pub use validate::validate;
