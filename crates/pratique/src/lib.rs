//! Kubernetes admission control as a library: sources, snapshot and chain behind one facade.
//!
//! An [`Admission`] is made once from static manifests and, if there are any, from policies of the API. It is
//! immutable and shared between threads; [`Admission::judge`] judges a request by it. What a verdict depends on
//! besides the request comes from a [`Cluster`]; [`Objects`] is one in memory.
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

mod admission;
#[cfg(feature = "audit")]
mod audit;
mod authorization;
mod builder;
mod chain;
mod configurations;
mod deadline;
mod expressions;
mod hints;
#[cfg(feature = "webhooks")]
mod hooks;
mod ingredients;
mod live;
#[cfg(feature = "metrics")]
mod metrics;
mod objects;
mod observer;
mod outcome;
mod step;

pub use admission::Admission;
pub use authorization::{Decider, Decisions, NoOpinion, Question, QuestionSubject};
pub use builder::{Builder, NotEvaluated};
pub use chain::Context;
pub use configurations::Configurations;
pub use expressions::Expressions;
pub use live::{
    Answered, Changed, ClusterView, InMemory, Live, LiveBuilder, Reload, ReloadResult, Reviewing,
    SharedObjects, Source, StartError, Unavailable, Witness,
};
pub use objects::Objects;
pub use observer::{ChainObserver, Half, Span};
pub use outcome::Outcome;
pub use pratique_expression::{Cache, Declarations};
pub use pratique_json as json;
pub use pratique_manifest as manifest;
pub use pratique_merge::json_patch;
pub use pratique_policy::authz::{Answer, Authorizer, Check, Decision, ResourceCheck, Target, User};
pub use pratique_policy::{
    Cluster, Form, Observer, Step, StepResult, Submission, Surroundings, Trial, TrialResult, Unfinished,
};
pub use pratique_types as types;
#[cfg(feature = "webhooks")]
pub use pratique_webhook as webhook;
pub use step::{Acted, Acting, AdmissionStep, Place, step};
