//! Generates objects of built-in kinds for a policy, and evaluates the policy over them.
//!
//! A warning about a policy is worth as much as the object that shows it. This crate makes such objects:
//! [`PolicyReads`] finds out which fields a policy's expressions read and what they compare them with, [`make`](generate())
//! makes objects that have such fields and a shape that an API server takes, an [`Evaluator`] puts them before the
//! policy, by the same engine that answers requests, and [`most_expensive`] looks for one that costs as much as an
//! evaluation may.
//!
//! Results are deterministic: the same policy gives the same objects.
//!
//! ```
//! use pratique_sample::Policy;
//!
//! let policy = serde_json::from_value(serde_json::json!({
//!     "metadata": {"name": "few"},
//!     "spec": {
//!         "matchConstraints": {"resourceRules": [
//!             {"apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments"], "operations": ["CREATE"]},
//!         ]},
//!         "validations": [{"expression": "object.spec.replicas <= 5"}],
//!     },
//! }))?;
//! let policy = Policy::Validating(&policy);
//! assert_eq!(policy.expressions().len(), 1);
//! let served = policy.served();
//! assert_eq!(served[0].0.kind.kind, "Deployment");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cost;
mod evaluate;
mod generate;
mod grow;
mod policy;
mod random;
mod reads;
mod scalar;

pub use cost::{Budget, CostExample, Goal, LARGEST, most_expensive};
pub use evaluate::{Evaluated, Evaluator, ExpressionId, PartValue};
pub use generate::{ObjectSpec, generate};
pub use policy::{Policy, PolicyExpression};
pub use reads::{PolicyReads, Reads, Step, Text};
