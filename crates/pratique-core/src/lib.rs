//! What the admission plugins for policies and webhooks share.
//!
//! [`Attributes`] are a request with its object as it is at this point of the chain, [`EvalContext`] is what its evaluation
//! depends on besides, such as the [`Cluster`]. A [`RequestMatcher`] tells what a request matches a policy or a webhook as,
//! [`evaluate_conditions`] combines the results of match conditions, and a [`Reinvocation`] remembers what has to be invoked
//! again after the object changed. An [`ObjectModel`] defaults the object after each change, as a server does. [`AuditAnnotations`] and the functions of [`status`] make what an API server answers and
//! records.
//!
//! ```
//! use pratique_core::{AuditAnnotations, ConditionError, FailurePolicy, EvaluationHalt, AdmissionPhase, evaluate_conditions};
//!
//! assert_eq!(AdmissionPhase::Mutating.policy_plugin(), "MutatingAdmissionPolicy");
//!
//! // A false condition outweighs errors; otherwise the failure policy decides about them.
//! let error = || Ok::<_, EvaluationHalt>(Err("no such key: a".to_owned()));
//! let outcome = evaluate_conditions([error(), Ok(Ok(false))], FailurePolicy::Fail.on_condition_error())?;
//! assert_eq!((outcome.matches, outcome.errors), (Ok(false), 1));
//! let outcome = evaluate_conditions([error(), Ok(Ok(true))], FailurePolicy::Fail.on_condition_error())?;
//! assert_eq!(outcome.matches, Err(ConditionError::Failed("no such key: a".to_owned())));
//!
//! // Keys are qualified names.
//! let mut annotations = AuditAnnotations::default();
//! annotations.add("guard.example.com/reason".to_owned(), "closed".to_owned());
//! annotations.add("reason".to_owned(), "dropped".to_owned());
//! assert_eq!(annotations.into_map().len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod annotations;
mod attributes;
mod cause;
mod cluster;
mod conditions;
mod eval_context;
mod evaluation;
mod failure_policy;
mod matcher;
mod namespace_object;
mod needs;
pub mod object_model;
mod outcome;
mod phase;
mod reinvocation;
pub mod status;
pub mod trace;

pub use annotations::AuditAnnotations;
pub use attributes::Attributes;
pub use cause::DenialCause;
pub use cluster::{Cluster, EmptyCluster, ParamScope};
pub use conditions::{ConditionError, ConditionsOutcome, OnConditionError, evaluate_conditions};
pub use eval_context::{EvalContext, typed_value};
pub use evaluation::{
    EvaluationHalt, OUT_OF_BUDGET, UnfinishedEvaluation, compilation_error, evaluation_error,
};
pub use failure_policy::FailurePolicy;
pub use matcher::{MatchFailure, RequestMatcher};
pub use namespace_object::{NamespaceObject, without_type_meta};
pub use needs::{DecisionNeed, NeedKind};
pub use object_model::{ObjectModel, ObjectMutator};
pub use outcome::ValidationOutcome;
pub use phase::{AdmissionPhase, AdmissionPhases};
pub use pratique_exclusion::Origin;
pub use pratique_expression::{MissingDependency, OnUndecided, UndecidedDecision};
pub use pratique_match::{Namespace, Namespaces};
pub use reinvocation::Reinvocation;
