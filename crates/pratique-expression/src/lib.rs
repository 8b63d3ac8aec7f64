//! The CEL environments of Kubernetes admission: the variables and types that expressions of policies and webhooks may
//! name, the types that each may return, and an API server's messages for those that do not compile.
//!
//! Expressions of one policy are compiled by a [`Composition`], which knows the variables compiled before. Equal
//! expressions are compiled once: a [`Cache`] is shared between policies and outlives reloads.
//!
//! ```
//! use pratique_expression::{Cache, Composition, Declarations, ExpressionPurpose};
//!
//! let cache = Cache::new();
//! let mut policy = Composition::new(&cache);
//! policy.variable("limit", "int(params.data.limit)", Declarations { params: true, ..Declarations::default() })?;
//!
//! let declarations = Declarations { params: true, variables: true, ..Declarations::default() };
//! let validation = policy.compile("object.spec.replicas <= variables.limit", ExpressionPurpose::Validation, declarations)?;
//! assert_eq!(validation.variables_read().map(|all| all.len()), Some(1));
//!
//! // A validation yields a boolean.
//! let error = policy.compile("variables.limit", ExpressionPurpose::Validation, declarations).unwrap_err();
//! assert_eq!(error.to_string(), "must evaluate to bool but got int");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assumed_request;
mod bound;
mod cache;
mod composition;
mod declarations;
mod device;
mod environments;
mod error;
mod expression;
mod identity;
mod missing;
mod namespace;
mod old_object;
mod partly_known;
mod request;
mod return_types;
mod token;
mod types;
mod weak_map;

pub use assumed_request::partly_known_request;
pub use bound::{BoundExpression, Definition, InputSet};
pub use cache::Cache;
pub use composition::{Composition, declared_type};
pub use declarations::{Declarations, ExpressionPurpose};
pub use device::compile_device_expression;
pub use environments::{CURRENT_MINOR, Slots, environment, slots};
pub use error::ExpressionError;
pub use expression::Expression;
pub use missing::{MissingDependency, OnUndecided, UndecidedDecision};
pub use namespace::{UNKNOWN_NAMESPACE, named_namespace};
pub use old_object::UNKNOWN_OBJECT;
pub use partly_known::PartlyKnown;
pub use request::{Authorizers, request_value};
pub use token::{name_at, token_at};
pub use types::{NAMESPACE_TYPE, REQUEST_TYPE, VARIABLES_TYPE};
