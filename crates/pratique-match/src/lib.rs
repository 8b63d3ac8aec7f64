//! Which admission policies and webhooks a request meets: rules, scopes, selectors, equivalent resources.
//!
//! Everything is compiled when policies are loaded; a request only compares. [`MatchIndex`] finds the few
//! that can match at all, [`MatchResources`] decides.

mod equivalents;
mod index;
mod mismatch;
mod request;
mod resources;
mod rules;
mod selector;

pub use equivalents::{Equivalent, Equivalents};
pub use index::MatchIndex;
pub use mismatch::{Mismatch, RuleField};
pub use request::{NAME_LABEL, Namespace, Namespaces, Target, labels_of};
pub use resources::{MatchError, MatchResources, Matched};
pub use rules::{Found, Rule, Rules};
pub use selector::{InvalidSelector, Labels, Selector};
