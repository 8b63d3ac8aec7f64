//! Requests.

use std::collections::BTreeMap;

use pratique_review::ReviewTexts;
use serde::Deserialize;

/// A request.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Request {
    /// Policies are loaded, linted and, if there is an object, evaluated.
    Evaluate(Box<Evaluate>),
    /// An expression is evaluated by itself.
    Expression(Expression),
    /// The version of this crate.
    Version {},
}

/// Policies and a request to evaluate.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Evaluate {
    /// What is reviewed.
    #[serde(flatten)]
    pub texts: ReviewTexts,
    /// Whether the worst-case cost of each expression is estimated.
    pub costs: bool,
    /// Whether a decision is wanted soon: lints, which take longer than it, are left out, but for those of objects that do not
    /// count, or that only some servers have.
    pub without_lints: bool,
}

/// An expression to evaluate, in the environment of an API server.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Expression {
    /// Its text.
    pub expression: String,
    /// The variables: all have type `dyn`.
    pub variables: BTreeMap<String, serde_json::Value>,
    /// Variables as a text: a mapping in YAML or JSON.
    pub variables_text: String,
    /// The most that it may cost: 1,000,000 by default, as for one expression of a policy.
    pub cost_limit: Option<u64>,
}
