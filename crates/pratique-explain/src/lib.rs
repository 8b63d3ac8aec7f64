//! Explanations of policy decisions.
//!
//! An [`ExplanationRecorder`] observes the evaluation of policies and gives an [`Explanation`]: each policy and binding, and why it
//! does or does not match the request; each expression with its value, its cost, the values of its subexpressions, and
//! the one of these that decided. [`diagram`](Expression::diagram) draws the values below the source:
//!
//! ```text
//! object.spec.replicas <= 5
//!             |        |
//!             7        false
//! ```
//!
//! [`explain_evaluation`] does so for one expression by itself, and an [`EvaluatedExpression`] is all that there is to say of one that
//! somebody typed. [`SourceExpression`] is the tree of an expression as its author wrote it, before macros are expanded.
//!
//! ```
//! use std::sync::Arc;
//!
//! use pratique_expression::Cache;
//! use pratique_explain::ExplanationRecorder;
//! use pratique_policy::authz::NoAuthorizer;
//! use pratique_policy::{Origin, Policies, EvalContext, validate};
//! # use pratique::Objects;
//! use pratique_types::AdmissionRequest;
//!
//! let policy = serde_json::from_value(serde_json::json!({
//!     "metadata": {"name": "few"},
//!     "spec": {
//!         "matchConstraints": {
//!             "resourceRules": [{"apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["*"], "operations": ["*"]}],
//!             "namespaceSelector": {}, "objectSelector": {},
//!         },
//!         "validations": [{"expression": "object.spec.replicas <= 5"}],
//!     },
//! }))?;
//! let binding = serde_json::from_value(serde_json::json!({
//!     "metadata": {"name": "few"},
//!     "spec": {"policyName": "few", "validationActions": ["Deny"]},
//! }))?;
//! let policies = Policies::compile([&policy], [&binding], Origin::Api, &Cache::new());
//! let request: AdmissionRequest<'_> = serde_json::from_str(
//!     r#"{"kind": {"group": "apps", "version": "v1", "kind": "Deployment"}, "operation": "CREATE",
//!         "resource": {"group": "apps", "version": "v1", "resource": "deployments"}, "object": {"spec": {"replicas": 7}}}"#,
//! )?;
//!
//! let cluster = Objects::new();
//! let recorder = ExplanationRecorder::new();
//! let context = EvalContext::new(&cluster, Arc::new(NoAuthorizer)).with_trace(&recorder);
//! validate(&[&policies], &request, context, &mut ())?;
//! let explanation = recorder.explanation();
//! let expression = &explanation.policies[0].bindings[0].rounds[0].expressions[0];
//! assert_eq!(expression.value.as_deref(), Some("false"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod decisive;
mod diagram;
mod evaluated_expression;
mod explanation;
mod failure_help;
mod format;
mod locate;
mod open_evaluation;
mod policy_cost;
mod recorder;
mod source;

pub use diagram::Line;
pub use evaluated_expression::{EvaluatedExpression, ExpressionFault};
pub use explanation::{
    Binding, Explanation, ExplanationRound, Expression, ExpressionDrawing, InnerExpression, MatchOutcome,
    Policy,
};
pub use failure_help::help_for_failure;
pub use format::format_value;
pub use open_evaluation::explain_evaluation;
pub use policy_cost::{CostRecorder, PolicyCost};
pub use pratique_policy::ExpressionId;
pub use recorder::ExplanationRecorder;
pub use source::{ExpressionLogic, SourceExpression};
