//! The CEL environments of Kubernetes admission: what the expressions of policies and webhooks may name, what each
//! of them may yield, and what an API server says of those that do not.
//!
//! Expressions of one policy are compiled by a [`Composition`], which knows the variables compiled before. Equal
//! expressions are compiled once: a [`Cache`] is shared between policies and outlives reloads.

mod cache;
mod closed;
mod composition;
mod declarations;
mod environments;
mod error;
mod expression;
mod in_use;
mod missing;
mod namespace;
mod request;
mod types;
mod words;
mod yields;

pub use cache::Cache;
pub use closed::{Closed, Definition, Sees};
pub use composition::{Composition, declared_type};
pub use declarations::{Declarations, Use};
pub use environments::{Slots, environment, slots};
pub use error::ExpressionError;
pub use expression::Expression;
pub use missing::{Missing, OnUndecided, Undecided};
pub use namespace::NamedNamespace;
pub use request::{Authorizers, request_value};
pub use types::{NAMESPACE_TYPE, REQUEST_TYPE, VARIABLES_TYPE};
pub use words::word_at;
