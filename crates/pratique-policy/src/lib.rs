//! Admission policies: compiled once, evaluated for each request.
//!
//! [`MutatingPolicies`] and [`Policies`] are the compiled policies of one origin with their bindings, immutable and
//! shared between threads. [`mutate`] runs the mutating ones on a request's object and returns the [outcome](MutatedRequest);
//! [`validate`] evaluates the validating ones for a request, perhaps with the mutated object, and returns the decision
//! of an API server as a [`ValidationOutcome`]: the status of a denial, warnings and audit annotations. Neither does I/O: facts
//! about the cluster come from a [`Cluster`], and an authorization check without an answer ends the call with
//! [`UnfinishedEvaluation::Pending`], to be repeated once there is one. A policy that needs something that was not given (the answer
//! to a check, more of a namespace than its name) is [`UndecidedDecision`], and so is the request, unless another policy denies it.
//!
//! ```
//! use std::sync::Arc;
//!
//! use pratique_policy::authz::NoAuthorizer;
//! use pratique_policy::types::AdmissionRequest;
//! use pratique_policy::{Cache, EmptyCluster, EvalContext, Origin, Policies, validate};
//!
//! let policy = serde_json::from_value(serde_json::json!({
//!     "metadata": {"name": "few"},
//!     "spec": {
//!         "matchConstraints": {
//!             "resourceRules": [{"apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["*"], "operations": ["*"]}],
//!             "namespaceSelector": {}, "objectSelector": {},
//!         },
//!         "validations": [{"expression": "object.spec.replicas <= 5", "message": "too many"}],
//!     },
//! }))?;
//! let binding = serde_json::from_value(serde_json::json!({
//!     "metadata": {"name": "few"},
//!     "spec": {"policyName": "few", "validationActions": ["Deny"]},
//! }))?;
//! let policies = Policies::compile([&policy], [&binding], Origin::Api, &Cache::new());
//!
//! let request: AdmissionRequest<'_> = serde_json::from_str(
//!     r#"{"kind": {"group": "apps", "version": "v1", "kind": "Deployment"}, "operation": "CREATE", "name": "web",
//!         "resource": {"group": "apps", "version": "v1", "resource": "deployments"}, "object": {"spec": {"replicas": 7}}}"#,
//! )?;
//! let cluster = EmptyCluster::new();
//! let context = EvalContext::new(&cluster, Arc::new(NoAuthorizer));
//! let verdict = validate(&[&policies], &request, context, &mut ())?;
//! let status = verdict.status.ok_or("allowed")?;
//! assert!(status.message.ends_with("denied request: too many"), "{}", status.message);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod annotations;
mod arena;
mod batch;
mod binding;
mod cause;
mod compiled_expressions;
mod conditions;
mod constraints;
mod denial;
mod evaluator;
mod few;
mod groups;
mod ignored_failures;
mod inputs;
mod matcher;
mod memo;
mod mutating;
mod names;
mod needs;
mod observer;
mod params;
mod policies;
mod policy_core;
mod policy_set;
mod recompile;
mod round;
mod scratch;
mod session;
mod trial;
mod typed_roots;
mod unmatched_reason;
mod validating;
mod variable_names;
mod variables;

use pratique_core::trace;
use pratique_typed as typed;
use pratique_typed::decode;

pub use mutating::{
    Form, MutatedRequest, MutatingPolicies, MutationStep, Reinvocation, StepResult, mutate, mutate_once,
    same, seen_the_same,
};
pub use observer::{
    Conditions, Effect, ErrorType, FailedPart, IgnoredFailure, MutationAttempt, ObservedDecision,
    PolicyObserver,
};
pub use policies::Policies;
pub use pratique_cel::library::authz;
pub use pratique_cel::{HeldMemory, Interrupt, MemoryBudget, MemoryLimit, OutOfMemory};
pub use pratique_core::object_model;
pub use pratique_core::trace::{ExpressionId, MatchOutcome, PolicyTrace, TracedPolicy};
pub use pratique_core::{
    AdmissionPhase, AdmissionPhases, Attributes, Cluster, DecisionNeed, DenialCause, EmptyCluster,
    EvalContext, MissingDependency, Namespace, NamespaceObject, Namespaces, NeedKind, ObjectModel,
    OnUndecided, Origin, ParamScope, UndecidedDecision, UnfinishedEvaluation, ValidationOutcome,
};
pub use pratique_expression::Cache;
pub use pratique_json as json;
pub use pratique_typed::settle_request;
pub use pratique_types as types;
pub use pratique_workers::Workers;
pub use trial::{Trial, TrialResult};
pub use validating::validate;
