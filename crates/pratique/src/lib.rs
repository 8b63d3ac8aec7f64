//! Kubernetes admission control as a library: the same decisions and messages as kube-apiserver.
//!
//! An [`Admission`] is made of ValidatingAdmissionPolicies, MutatingAdmissionPolicies and webhook configurations. It is
//! immutable and shared between threads. Given an [`AdmissionRequest`], it gives an [`Outcome`]:
//!
//! ```
//! use std::sync::Arc;
//!
//! use pratique::authorization::NoAuthorizer;
//! use pratique::{Admission, AdmissionRequest, ManifestFile, ManifestPlugin, Objects, EvalContext};
//!
//! let policy = r#"
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicy
//! metadata: {name: few-replicas.static.k8s.io}
//! spec:
//!   matchConstraints:
//!     resourceRules: [{apiGroups: [apps], apiVersions: [v1], resources: [deployments], operations: [CREATE, UPDATE]}]
//!   validations: [{expression: "object.spec.replicas <= 5", message: no more than 5 replicas}]
//! ---
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicyBinding
//! metadata: {name: few-replicas.static.k8s.io}
//! spec: {policyName: few-replicas.static.k8s.io, validationActions: [Deny]}
//! "#;
//! let file = ManifestFile { path: "policy.yaml".into(), content: policy.into() };
//! let admission = Admission::builder().files([file], ManifestPlugin::ValidatingAdmissionPolicy).build()?;
//!
//! let request: AdmissionRequest<'_> = serde_json::from_str(r#"{
//!     "kind": {"group": "apps", "version": "v1", "kind": "Deployment"}, "name": "web", "namespace": "shop",
//!     "resource": {"group": "apps", "version": "v1", "resource": "deployments"}, "operation": "CREATE",
//!     "object": {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 7}}
//! }"#)?;
//! // A cluster of which only the names of namespaces are known, without an authorizer.
//! let mut cluster = Objects::new();
//! cluster.assume_namespaces();
//! let context = EvalContext::new(&cluster, Arc::new(NoAuthorizer));
//!
//! let outcome = admission.admit_policies(&request, context, &mut ())?;
//! assert!(!outcome.allowed());
//! let status = outcome.status.ok_or("no status")?;
//! assert_eq!(status.code, 422);
//! assert!(status.message.ends_with("denied request: no more than 5 replicas"), "{}", status.message);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`admit_policies`](Admission::admit_policies) evaluates policies alone, without waiting for anything. The whole chain is
//! [`admit`](Admission::admit): mutating policies, mutating webhooks, both once more where one of them changed the object,
//! validating policies, validating webhooks, and [steps](step) of the program's own at any place between them. Its other
//! inputs are in an [`AdmissionContext`]:
//!
//! ```
//! # use pratique::{Admission, AdmissionContext, AdmissionRequest, Objects};
//! # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
//! # let (admission, request) = (Admission::builder().build()?, AdmissionRequest::default());
//! use std::time::{Duration, Instant};
//!
//! let cluster = Objects::new();
//! let context = AdmissionContext::new(&cluster).with_limits(Instant::now() + Duration::from_secs(10));
//! let outcome = admission.admit(&request, context, &mut ()).await?;
//! assert!(outcome.allowed());
//! # Ok::<(), Box<dyn std::error::Error>>(()) })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Staying current
//!
//! [`AdmissionBuilder::live`] leads to a [`Live`], which stays current: the directories that were added are watched, and each
//! keeps its last valid set; a [`Source`](live::Source) has the configuration that an API stores, a
//! [`ClusterView`](cluster::ClusterView) the objects of the cluster. Changes are compiled on another thread and swapped in as a
//! whole, so a request sees one configuration to its end. [`Live::service`] is a [`tower`](tower_service::Service) service of
//! [`AdmissionRequest`]s that is ready once every source was loaded; `pratique-server` has one of HTTP requests.
//! [Observers](live::AdmissionObserver), such as metrics and audit logs, receive all events.
//!
//! ```
//! use pratique::json::Value;
//! use pratique::live::InMemory;
//! use pratique::observer::AdmissionPhase;
//! use pratique::step::{StepPlace, StepOutcome, step};
//! use pratique::{Admission, AdmissionReview, Attributes, Configurations};
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
//!     .step(StepPlace::BeforeValidatingPolicies, step("no-latest", no_latest))
//!     .live()
//!     .source(stored.clone())
//!     .start()?;
//! assert!(!live.is_ready());
//! stored.replace(Configurations::default());
//! live.ready().await?;
//!
//! let review = AdmissionReview::parse(br#"{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
//!     "kind": {"group": "shop.example.com", "version": "v1", "kind": "Stall"}, "operation": "CREATE",
//!     "resource": {"group": "shop.example.com", "version": "v1", "resource": "stalls"},
//!     "object": {"spec": {"image": "shop:latest"}}}}"#)?;
//! let answer = live.answer(&review, AdmissionPhase::Validating).await?;
//! let status = answer.response.and_then(|response| response.result).ok_or("it is allowed")?;
//! assert_eq!(status.message, "name a version");
//! # Ok::<(), Box<dyn std::error::Error>>(()) })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What an API server sends
//!
//! Policies and webhooks match a request by its operation, its resource and its namespace. A request that says none of
//! these, or the kind `Deployment` where the resource `deployments` is meant, matches nothing, and what matches nothing is
//! allowed. So a `Live` answers only what an API server can have sent ([`AdmissionRequest::validate`]), and everything else
//! is an [error](AdmitError), unless the program says that it has validated the request
//! ([`admit_as_given`](Live::admit_as_given)). The methods of [`Admission`] take requests as they are given:
//! [`AdmissionReview::into_valid_request`] and `validate` are for those.
//!
//! An API server calls a webhook in one of the two phases, so [`review`](Live::review), [`answer`](Live::answer) and
//! [`service`](Live::service) are told which: [`AdmissionPhase::Mutating`](observer::AdmissionPhase) or
//! [`AdmissionPhase::Validating`](observer::AdmissionPhase), whose responses never have a patch. A [step](step::StepPlace) runs in the phase of its
//! place.
//!
//! # Allowed, denied, undecided
//!
//! An [`Outcome`] has one of three [decisions](AdmissionDecision). A request is undecided if a decision depends on
//! something that was not given: the answer to an authorization check ([`NoAuthorizer`](authorization::NoAuthorizer)), more of a namespace
//! than its name, params ([`AssumedNamespaces`](cluster::AssumedNamespaces)). [`Outcome::undecided`] lists what is
//! [`MissingDependency`](policy::MissingDependency) for which policy or webhook; such a request is never [allowed](Outcome::allowed). A program
//! that has to answer yes or no lets the failure policies decide ([`OnUndecided::FailurePolicy`](policy::OnUndecided)), and
//! [`Admission::needs`] lists in advance what policies may need.
//!
//! ```
//! # use std::sync::Arc;
//! # use pratique::authorization::NoAuthorizer;
//! # use pratique::{Admission, AdmissionDecision, AdmissionRequest, ManifestFile, ManifestPlugin, Objects, EvalContext};
//! # let policy = r#"
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
//! # let file = ManifestFile { path: "policy.yaml".into(), content: policy.into() };
//! # let admission = Admission::builder().files([file], ManifestPlugin::ValidatingAdmissionPolicy).build()?;
//! # let request: AdmissionRequest<'_> = serde_json::from_str(r#"{"kind": {"version": "v1", "kind": "Pod"},
//! #     "resource": {"version": "v1", "resource": "pods"}, "operation": "CREATE", "object": {"spec": {}}}"#)?;
//! # let cluster = Objects::new();
//! # let context = EvalContext::new(&cluster, Arc::new(NoAuthorizer));
//! // A policy evaluates `!authorizer.group('').resource('quotas').check('use').allowed()`.
//! let outcome = admission.admit_policies(&request, context, &mut ())?;
//! assert_eq!(outcome.decision(), AdmissionDecision::Undecided);
//! assert_eq!(outcome.undecided[0].missing.kind(), "authorizer");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules
//!
//! The types that every program needs are here; the others are in modules by purpose. [`types`], [`json`],
//! [`manifest`], [`policy`] and [`webhook`] are whole crates, with the types that those of this crate consist of.
//!
//! # Features
//!
//! All but `aws-lc-rs` are on by default; without any, there is no TLS, no runtime and no watcher.
//!
//! - `webhooks`: webhooks are called, by default over HTTPS; needs a tokio runtime. [`WebhookGuards`](guards::WebhookGuards) limit the damage of those
//!   that fail.
//! - `watch`: directories are watched for changes.
//! - `parallel`: a request that matches very many policies is evaluated on several cores. What is loaded before the first
//!   request is loaded on all of them in any case, unless [`AdmissionBuilder::workers`] says otherwise.
//! - `objects`: [`api_objects`], objects as an API server decodes, defaults and prepares them between the steps of a request.
//! - `ring`, `aws-lc-rs`: the crypto provider of TLS, if the program installs none; by default `ring`.
//! - `metrics`, `audit`: `pratique_metrics::Metrics` and `pratique_audit::Log` are observers.

mod admission;
mod admission_config;
#[cfg(feature = "objects")]
pub mod api_objects;
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
pub mod expressions;
#[cfg(feature = "webhooks")]
pub mod guards;
#[cfg(feature = "webhooks")]
mod image_backend;
mod image_reviews;
mod limits;
pub mod live;
#[cfg(feature = "metrics")]
mod metrics;
pub mod observer;
mod outcome;
mod panics;
pub mod plugins;
mod settings;
pub mod step;
#[cfg(feature = "webhooks")]
mod webhooks;

/// Threads that a program lends to loading and to requests that match very many policies.
pub mod workers {
    pub use pratique_workers::{ScopedThreads, Sequential, Workers};

    pub use crate::cores::MachineCores;
}

pub use pratique_json as json;
pub use pratique_manifest as manifest;
pub use pratique_merge::json_patch;
pub use pratique_policy as policy;
pub use pratique_types as types;
#[cfg(feature = "webhooks")]
pub use pratique_webhook as webhook;

pub use admission::Admission;
pub use builder::{AdmissionBuilder, BuildError, NotEvaluated};
pub use chain::AdmissionContext;
pub use cluster::Objects;
pub use configurations::Configurations;
pub use limits::Limits;
pub use live::{AdmitError, Live, LiveBuilder, StartError, UnavailableReason};
#[doc(hidden)]
pub use outcome::OutcomeMemory;
pub use outcome::{AdmissionDecision, Outcome};
pub use plugins::PluginInputs;
pub use pratique_manifest::{ManifestFile, ManifestPlugin};
pub use pratique_plugin::PluginChain;
pub use pratique_policy::{EvalContext, ObjectModel, UnfinishedEvaluation, object_model};
pub use pratique_schema::{FeatureGates, FeatureGatesError, Release, ReleaseError, ServerVersion};
pub use pratique_types::{AdmissionRequest, AdmissionResponse, AdmissionReview};
pub use step::{AdmissionStep, Attributes};
