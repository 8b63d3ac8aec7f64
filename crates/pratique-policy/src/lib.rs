//! Admission policies: compiled once, evaluated for each request.
//!
//! [`MutatingPolicies`] and [`Policies`] are the compiled policies of one origin with their bindings, immutable and
//! shared between threads. [`mutate`] lets the mutating ones change a request's object, and gives what they [made of
//! it](Mutated); [`validate`] puts a request, perhaps with the changed object, before the validating ones and gives the
//! [`Verdict`] that an API server would give: the status of a denial, warnings and audit annotations. Neither does
//! I/O: what they have to know of the cluster they ask a [`Cluster`], and an authorization check that has no answer yet
//! ends the call with [`Unfinished::Pending`], to be repeated when it has. What an evaluation needs and was not given (the
//! answer to a check, more of a namespace than its name) leaves its policy [`Undecided`], and so the request, unless another
//! policy denies it.

mod annotations;
mod binding;
mod cause;
mod cluster;
mod compiled;
mod conditions;
mod constraints;
mod denial;
mod evaluate;
mod few;
mod groups;
mod hook;
mod meeting;
mod memo;
mod mutating;
mod names;
mod namespace;
mod needs;
mod observer;
mod outcome;
mod params;
mod policies;
mod renew;
mod session;
mod sweep;
mod trace;
mod trial;
mod validate;
mod validator;
mod variables;

use pratique_typed as typed;
use pratique_typed::decode;

pub use cause::DenialCause;
pub use cluster::{Cluster, ParamScope};
pub use mutating::{
    Form, Mutated, MutatingPolicies, Reinvocation, Step, StepResult, mutate, mutate_once, same,
};
pub use namespace::NamespaceObject;
pub use needs::{Need, NeedKind};
pub use observer::{Conditions, Decision, Effect, ErrorType, Mutating, Observer};
pub use outcome::{Unfinished, Verdict};
pub use policies::Policies;
pub use pratique_cel::library::authz;
pub use pratique_cel::{Interrupt, MemoryBudget, MemoryLimit};
pub use pratique_exclusion::Origin;
pub use pratique_expression::{Missing, OnUndecided, Undecided};
pub use pratique_match::{Namespace, Namespaces};
pub use pratique_typed::settle_request;
pub use pratique_workers::Workers;
pub use session::{Submission, Surroundings};
pub use trace::{Does, Met, Part, Subject, Trace};
pub use trial::{Trial, TrialResult};
pub use validate::validate;
