//! Kubernetes admission control as a library: sources, snapshot and chain behind one facade.
//!
//! An [`Admission`] is made once from static manifests and, if there are any, from configuration of the API. It is
//! immutable and shared between threads. [`Admission::judge`] judges a request by its policies, at once;
//! [`Admission::admit`] takes it through the whole chain: mutating policies, mutating webhooks, both once more where one
//! of them changed the object, validating policies, validating webhooks, and [steps](AdmissionStep) of one's own at any
//! [`Place`] between them. What a verdict depends on besides the request comes from a [`Cluster`]; [`Objects`] is one in
//! memory.
//!
//! ```
//! use pratique::manifest::{ManifestFile, Plugin};
//! use pratique::{Admission, Objects};
//!
//! let policy = br#"
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicy
//! metadata: {name: no-default.static.k8s.io}
//! spec:
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}]
//!   validations: [{expression: "object.metadata.namespace != 'default'", message: choose a namespace}]
//! ---
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicyBinding
//! metadata: {name: no-default.static.k8s.io}
//! spec: {policyName: no-default.static.k8s.io, validationActions: [Deny]}
//! "#;
//! let file = ManifestFile { path: "policy.yaml".into(), content: policy.to_vec() };
//! let admission = Admission::builder().files(&[file], Plugin::ValidatingAdmissionPolicy)?.build()?;
//! assert_eq!(admission.policy_names().collect::<Vec<_>>(), ["no-default.static.k8s.io"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Allowed, denied, undecided
//!
//! An [`Outcome`] has one of three [decisions](AdmissionDecision). A request is undecided where a decision depends on what
//! was not given: the answer to an authorization check ([`NoAuthorizer`]), more of a namespace than its name, params
//! ([`AssumedNamespaces`]). [`Outcome::undecided`] has what is [`Missing`] to which policy or webhook, and such a request is
//! never [allowed](Outcome::allowed). Whoever has to answer yes or no lets the failure policies decide
//! ([`OnUndecided::FailurePolicy`]); [`Admission::needs`] tells beforehand what policies may come to need.
//!
//! ```
//! use std::sync::Arc;
//! use pratique::{Admission, AdmissionDecision, NoAuthorizer, Objects, Surroundings};
//! # use pratique::{manifest::{ManifestFile, Plugin}, types::AdmissionRequest};
//!
//! # let policy = br#"
//! # apiVersion: admissionregistration.k8s.io/v1
//! # kind: ValidatingAdmissionPolicy
//! # metadata: {name: no-quota.static.k8s.io}
//! # spec:
//! #   matchConstraints:
//! #     resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [pods], operations: [CREATE]}]
//! #   validations: [{expression: "!authorizer.group('').resource('quotas').check('use').allowed()"}]
//! # ---
//! # apiVersion: admissionregistration.k8s.io/v1
//! # kind: ValidatingAdmissionPolicyBinding
//! # metadata: {name: no-quota.static.k8s.io}
//! # spec: {policyName: no-quota.static.k8s.io, validationActions: [Deny]}
//! # "#;
//! # let file = ManifestFile { path: "policy.yaml".into(), content: policy.to_vec() };
//! # let admission = Admission::builder().files(&[file], Plugin::ValidatingAdmissionPolicy)?.build()?;
//! # let request: AdmissionRequest<'_> = serde_json::from_str(r#"{"kind": {"version": "v1", "kind": "Pod"},
//! #     "resource": {"version": "v1", "resource": "pods"}, "operation": "CREATE", "object": {"spec": {}}}"#)?;
//! // A policy asks `!authorizer.group('').resource('quotas').check('use').allowed()`.
//! let cluster = Objects::new();
//! let surroundings = Surroundings::new(&cluster, Arc::new(NoAuthorizer));
//! let outcome = admission.judge(&request, surroundings, &mut ())?;
//! assert_eq!(outcome.decision(), AdmissionDecision::Undecided);
//! assert_eq!(outcome.undecided[0].missing.kind(), "authorizer");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # While a program runs
//!
//! [`Builder::live`] leads to a [`Live`], which stays current: the directories that were added are watched, each with its
//! own last good set; [sources](Source) give what an API stores, a [`ClusterView`] what the cluster holds. What changed is
//! compiled aside and swapped in whole, so that a request sees one configuration to its end. A `Live` is a
//! [`tower`](tower_service::Service) service that is ready once every source was loaded; [witnesses](Witness), such as
//! metrics and audit logs, hear of everything.
//!
//! ```
//! use pratique::json::Value;
//! use pratique::{StepOutcome, Admission, Configurations, InMemory, Place, Attributes, step};
//! # use pratique::types::AdmissionRequest;
//!
//! fn no_latest(attributes: Attributes<'_>) -> StepOutcome {
//!     let image = attributes.object.at(&["spec", "image"]).and_then(Value::as_str);
//!     match image.is_some_and(|image| image.ends_with(":latest")) {
//!         true => StepOutcome::deny("name a version"),
//!         false => StepOutcome::allow(),
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let stored = InMemory::unknown();
//! let live = Admission::builder()
//!     .step(Place::BeforeValidatingPolicies, step("no-latest", no_latest))
//!     .live()
//!     .source(stored.clone())
//!     .start()?;
//! assert!(!live.is_ready());
//! stored.replace(Configurations::default());
//! live.ready().await?;
//!
//! let object = pratique::json::parse(br#"{"spec": {"image": "shop:latest"}}"#)?.into_owned();
//! let request = AdmissionRequest { object, ..AdmissionRequest::default() };
//! let outcome = live.admit(&request).await?;
//! assert_eq!(outcome.status.map(|status| status.message).as_deref(), Some("name a version"));
//! # Ok::<(), Box<dyn std::error::Error>>(()) })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! All are on unless turned off; without any, there is no TLS, no runtime and no watcher.
//!
//! - `webhooks`: webhooks are called, by default over HTTPS; needs a tokio runtime. [`Guards`] keep those that fail from
//!   taking everything down with them.
//! - `watch`: directories stay current.
//! - `parallel`: a request that meets very many policies is judged on several cores. What is loaded before the first request is
//!   loaded on all of them in any case, unless [`Builder::workers`] says otherwise.
//! - `metrics`, `audit`: `pratique_metrics::Metrics` and `pratique_audit::Log` are witnesses.

mod admission;
#[cfg(feature = "audit")]
mod audit;
pub mod authorization;
mod builder;
mod chain;
mod clock;
pub mod cluster;
mod compilations;
mod configurations;
mod cores;
mod deadline;
mod expressions;
#[cfg(feature = "webhooks")]
mod guards;
mod hints;
#[cfg(feature = "webhooks")]
mod hooks;
mod ingredients;
mod limits;
pub mod live;
#[cfg(feature = "metrics")]
mod metrics;
mod observer;
mod outcome;
pub mod step;

pub use admission::Admission;
pub use authorization::{Decider, Decisions, NoOpinion};
pub use builder::{Builder, NotEvaluated};
pub use chain::AdmissionContext;
pub use cluster::{AssumedNamespaces, ClusterView, LookUp, Objects, Overlay, SharedObjects};
pub use configurations::Configurations;
pub use cores::Cores;
pub use expressions::Expressions;
#[cfg(feature = "webhooks")]
pub use guards::{Breaking, Guards};
pub use limits::Limits;
pub use live::{
    Answered, Changed, InMemory, Live, LiveBuilder, Reload, ReloadResult, Reviewing, Source, StartError,
    Unavailable, Witness,
};
pub use observer::{ChainObserver, Half, Span};
pub use outcome::{AdmissionDecision, Outcome};
pub use pratique_expression::{Cache, Declarations};
pub use pratique_json as json;
pub use pratique_manifest as manifest;
pub use pratique_merge::json_patch;
pub use pratique_policy as policy;
pub use pratique_policy::authz::{
    Answer, Authorizer, Check, Decision, NoAuthorizer, Question, QuestionSubject, ResourceCheck, Target, User,
};
pub use pratique_policy::{
    Cluster, DenialCause, Form, Interrupt, MemoryBudget, MemoryLimit, Missing, Namespace, Namespaces, Need,
    NeedKind, Observer, OnUndecided, Step, StepResult, Surroundings, Trial, TrialResult, Undecided,
    Unfinished, settle_request,
};
pub use pratique_types as types;
#[cfg(feature = "webhooks")]
pub use pratique_webhook as webhook;
pub use pratique_workers::{Alone, Threads, Workers};
pub use step::{AdmissionStep, Attributes, Place, StepOutcome, step};
