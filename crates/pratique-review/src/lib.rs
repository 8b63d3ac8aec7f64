//! What a cluster does to an object, and why: the one engine behind every tool.
//!
//! A [`ReviewInput`] is a request with what a server says when it decodes the object. A [`Reviewer`] prepares it as a server does
//! before admission, evaluates as much of the server's chain as is asked, and gives a [`Review`]: the outcome, the decisions of
//! policies, defaults, steps, exchanges with webhooks, the explanation.
//!
//! [`sorted`] divides the objects of files into static manifests and objects of the API, as a server would have them; policies
//! without a binding are [`Unbound`], and [`SourceFiles`] recognises what is no object of the API by its nature. [`chain`] runs a
//! request through a server's whole chain, step by step.
//!
//! Without the feature `webhooks`, which needs a runtime, policies are evaluated, and nothing else of a server's chain.

pub mod chain;
mod decisions;
#[cfg(feature = "webhooks")]
mod exchange;
mod findings;
mod input;
mod matches;
mod pod_policies;
mod policies;
mod preparation;
mod resource_rules;
mod review_decision;
mod reviewer;
pub mod sorted;
mod source_files;
mod unbound;
#[cfg(feature = "webhooks")]
mod whole_chain;

pub use decisions::{DecisionRecorder, PolicyAction, PolicyDecision};
#[cfg(feature = "webhooks")]
pub use exchange::WebhookExchange;
pub use findings::{FindingAction, ReviewFinding};
pub use input::{ParentWorkload, ReceiveFailure, ReviewInput, decode_warnings};
pub use pod_policies::PodPolicies;
pub use policies::{add_policies, reads_managed_fields};
pub use preparation::{FieldValidation, Preparation, PreparedObject};
pub use resource_rules::resource_rules;
pub use review_decision::ReviewDecision;
pub use reviewer::{PolicyRecord, Review, Reviewer};
pub use source_files::{SourceFile, SourceFiles, SourceKind, may_have_object};
pub use unbound::{Orphan, Unbound, bind, orphans, unbound};
#[cfg(feature = "webhooks")]
pub use whole_chain::WholeChain;
