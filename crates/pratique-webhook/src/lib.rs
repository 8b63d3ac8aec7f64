//! Admission webhooks: which ones a request goes to, the calls, and what their answers do.
//!
//! [`MutatingWebhooks`] and [`ValidatingWebhooks`] are the compiled webhooks of one origin, immutable and shared between
//! tasks. [`mutate`] sends a request to the mutating ones, one after the other, and gives what they [made of
//! it](Mutated); [`validate`] sends it to the validating ones, all at once, and gives their [`Verdict`]. How reviews
//! travel is the business of a [`Caller`]; what else is to be known of the cluster is in the [`Surroundings`]. Nothing
//! goes on once the future of a request is dropped.

mod annotations;
mod answer;
mod call;
mod caller;
mod conditions;
mod configurations;
mod endpoint;
mod fields;
mod meeting;
mod mutate;
mod observer;
mod outcome;
mod patch;
mod reinvocation;
mod review;
mod statuses;
mod surroundings;
pub mod transport;
mod validate;
mod version;
mod webhook;
mod wire;

pub use caller::{Answer, Call, CallError, CallErrorKind, Caller, Endpoint};
pub use configurations::{MutatingWebhooks, ValidatingWebhooks};
pub use endpoint::{Service, Services};
pub use mutate::mutate;
pub use observer::{Called, Conditions, Does, Observer, Rejection};
pub use outcome::{Mutated, Unanswered, Verdict};
pub use pratique_exclusion::Origin;
pub use reinvocation::Reinvocation;
pub use surroundings::{Pending, Submission, Surroundings};
pub use transport::HttpCaller;
pub use validate::validate;
