//! The parts of an explanation.

use pratique_manifest::Location;
use pratique_policy::{AdmissionPhase, ExpressionId, Origin};
use serde::{Serialize, Serializer};

use crate::diagram::{self, Line};

/// How policies evaluated a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// All policies, in the order of evaluation.
    pub policies: Vec<Policy>,
}

/// A policy and how it evaluated a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    /// Whether it mutates or validates.
    #[serde(rename = "does", serialize_with = "plugin_name")]
    pub phase: AdmissionPhase,
    /// Its origin: static manifests or the API.
    #[serde(serialize_with = "origin_name")]
    pub origin: Origin,
    /// Its name.
    pub name: String,
    /// Its location, if that is known.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "place")]
    pub location: Option<Location>,
    /// The same with its end, in a [drawn](Explanation::drawn) explanation.
    #[serde(rename = "at", skip_serializing_if = "Option::is_none")]
    pub drawn_location: Option<Location>,
    /// Whether it matches the request.
    #[serde(flatten)]
    pub match_outcome: MatchOutcome,
    /// Its bindings, if it matches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<Binding>,
}

/// Whether a policy or a binding matches a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "meets", content = "why")]
pub enum MatchOutcome {
    /// It does.
    Yes,
    /// It does not match, for this reason.
    No(String),
    /// It depends on this missing input.
    Undecided(String),
    /// Matching failed, or the policy cannot be evaluated, for this reason.
    Failed(String),
}

/// A binding of a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Binding {
    /// Its name.
    pub name: String,
    /// Whether it matches the request.
    #[serde(flatten)]
    pub match_outcome: MatchOutcome,
    /// One round for each param, or one without.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<ExplanationRound>,
}

/// The expressions of a policy over one param.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExplanationRound {
    /// The namespace and name of the param, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<String>,
    /// Whether the policy was reinvoked, after other policies changed the object.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// The evaluated expressions, in order; variables come once, before the expressions that read them.
    pub expressions: Vec<Expression>,
    /// Whether the cost limit was exceeded, which ends the evaluation.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exhausted: bool,
    /// The total cost; variables count as often as the server evaluates them.
    pub cost: u64,
}

/// An expression and its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Expression {
    /// Which expression of the policy it is.
    pub place: ExpressionId,
    /// The name of a match condition, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its location, if that is known.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "place")]
    pub location: Option<Location>,
    /// Its text.
    #[serde(rename = "expression")]
    pub text: String,
    /// Its value in CEL syntax, cut if it is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The error, if it has no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What to do about the error, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<&'static str>,
    /// Fields that a mutation left as empty lists or maps: the server leaves them out, and the next mutation does not see
    /// them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Its cost, without that of variables.
    pub cost: u64,
    /// The innermost subexpression that made it false or fail; `None` if that is the whole expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// The subexpressions that were evaluated, in source order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inner: Vec<InnerExpression>,
    /// What programs show of it, in a [drawn](Explanation::drawn) explanation.
    #[serde(flatten)]
    pub drawing: Option<Box<ExpressionDrawing>>,
}

/// What programs show of an expression, which text does not need: the location with its end, and the lines of the diagram.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExpressionDrawing {
    /// Its location, if that is known.
    #[serde(rename = "at", skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// Its diagram.
    pub diagram: Vec<Line>,
}

/// A subexpression.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InnerExpression {
    /// The position of its value in the text, in code points.
    pub offset: u32,
    /// Its text.
    #[serde(rename = "expression")]
    pub text: String,
    /// Its value, or its error after `error: `; that of the last evaluation.
    pub value: String,
    /// The number of evaluations.
    pub times: usize,
}

impl Explanation {
    /// The same with the ends of locations and with diagrams, for programs that show them beside the texts of policies.
    #[must_use]
    pub fn drawn(mut self) -> Self {
        for policy in &mut self.policies {
            policy.drawn_location.clone_from(&policy.location);
            let rounds = policy.bindings.iter_mut().flat_map(|binding| &mut binding.rounds);
            for expression in rounds.flat_map(|round| &mut round.expressions) {
                let (location, diagram) = (expression.location.clone(), expression.diagram());
                expression.drawing = Some(Box::new(ExpressionDrawing { location, diagram }));
            }
        }
        self
    }
}

impl Expression {
    /// Draws the text with the values of its subexpressions below.
    pub fn diagram(&self) -> Vec<Line> {
        let values = self.inner.iter().map(|inner| {
            let times = match inner.times {
                0 | 1 => String::new(),
                times => format!(" (last of {times})"),
            };
            (inner.offset as usize, format!("{}{times}", inner.value))
        });
        diagram::draw(&self.text, values.collect())
    }

    /// Whether its value is false.
    pub fn is_false(&self) -> bool {
        self.value.as_deref() == Some("false")
    }
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is that of the serializer"
)]
fn plugin_name<S: Serializer>(phase: &AdmissionPhase, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match phase {
        AdmissionPhase::Mutating => "MutatingAdmissionPolicy",
        AdmissionPhase::Validating => "ValidatingAdmissionPolicy",
    })
}

/// `file:line:column`
fn place<S: Serializer>(location: &Option<Location>, serializer: S) -> Result<S::Ok, S::Error> {
    match location {
        Some(Location { file, start, .. }) => {
            serializer.collect_str(&format_args!("{file}:{}:{}", start.line, start.column))
        }
        None => serializer.serialize_none(),
    }
}

fn origin_name<S: Serializer>(origin: &Origin, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match origin {
        Origin::Static => "static",
        Origin::Api => "api",
    })
}
