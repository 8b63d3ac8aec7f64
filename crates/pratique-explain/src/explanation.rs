//! What an explanation consists of.

use pratique_manifest::Location;
use pratique_policy::{Does, Origin, Part};
use serde::{Serialize, Serializer};

use crate::diagram::{self, Line};

/// How a request was judged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// All policies, in the order in which they were asked.
    pub policies: Vec<Policy>,
}

/// A policy and what it made of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    /// What it does.
    #[serde(serialize_with = "does_name")]
    pub does: Does,
    /// Where it comes from.
    #[serde(serialize_with = "origin_name")]
    pub origin: Origin,
    /// Its name.
    pub name: String,
    /// Where it stands, if that is known.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "place")]
    pub location: Option<Location>,
    /// Whether it meets the request.
    #[serde(flatten)]
    pub match_outcome: MatchOutcome,
    /// Its bindings, if it does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<Binding>,
}

/// Whether a policy or a binding meets a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "meets", content = "why")]
pub enum MatchOutcome {
    /// It does.
    Yes,
    /// It does not, and why.
    No(String),
    /// It depends on what was not given, and on what.
    Undecided(String),
    /// It cannot be told, or the policy cannot judge, and why.
    Failed(String),
}

/// A binding of a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Binding {
    /// Its name.
    pub name: String,
    /// Whether it meets the request.
    #[serde(flatten)]
    pub match_outcome: MatchOutcome,
    /// One for each param, or one without.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<Round>,
}

/// The expressions of a policy over one param.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Round {
    /// The namespace and name of the param, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<String>,
    /// Whether it was the policy's turn before, as other policies changed the object since.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// What was evaluated, in order; variables come before what reads them, and once.
    pub expressions: Vec<Expression>,
    /// Whether it cost more than it may, which ends the evaluation.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exhausted: bool,
    /// What all of it cost, variables as often as the server evaluates them.
    pub cost: u64,
}

/// An expression and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Expression {
    /// Which expression of the policy it is.
    pub place: Place,
    /// The name of a match condition, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where it stands, if that is known.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "place")]
    pub location: Option<Location>,
    /// Its text.
    #[serde(rename = "expression")]
    pub text: String,
    /// Its value in CEL's notation, cut if it is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The error that took the place of a value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What it cost, without variables.
    pub cost: u64,
    /// The innermost expression in it that made it false or an error; none where that is the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// The expressions in it that were evaluated, in the order in which they stand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inner: Vec<Inner>,
}

/// An expression within an expression.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Inner {
    /// Where its value belongs in the text, in code points.
    pub offset: u32,
    /// Its own text.
    #[serde(rename = "expression")]
    pub text: String,
    /// Its value, or its error after `error: `. Of several times that it was evaluated, the last.
    pub value: String,
    /// How often it was evaluated.
    pub times: usize,
}

/// Which of a policy's expressions it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// `matchConditions[i]`
    Condition(usize),
    /// A variable.
    Variable(String),
    /// `validations[i]`
    Validation(usize),
    /// `validations[i].messageExpression`
    Message(usize),
    /// `auditAnnotations[i]`
    Annotation(usize),
    /// `mutations[i]`
    Mutation(usize),
}

impl Expression {
    /// Its text with the values of what is in it below.
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

    /// Whether it came out false.
    pub fn is_false(&self) -> bool {
        self.value.as_deref() == Some("false")
    }
}

impl Place {
    /// The field of a policy's `spec` that it stands in.
    pub fn field(&self) -> String {
        match self {
            Place::Condition(index) => format!("matchConditions[{index}]"),
            Place::Variable(name) => format!("variables.{name}"),
            Place::Validation(index) => format!("validations[{index}]"),
            Place::Message(index) => format!("validations[{index}].messageExpression"),
            Place::Annotation(index) => format!("auditAnnotations[{index}]"),
            Place::Mutation(index) => format!("mutations[{index}]"),
        }
    }
}

impl From<Part<'_>> for Place {
    fn from(part: Part<'_>) -> Self {
        match part {
            Part::Condition(index) => Place::Condition(index),
            Part::Variable(name) => Place::Variable(name.to_owned()),
            Part::Validation(index) => Place::Validation(index),
            Part::Message(index) => Place::Message(index),
            Part::Annotation(index) => Place::Annotation(index),
            Part::Mutation(index) => Place::Mutation(index),
        }
    }
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.field())
    }
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is that of the serializer"
)]
fn does_name<S: Serializer>(does: &Does, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match does {
        Does::Mutate => "MutatingAdmissionPolicy",
        Does::Validate => "ValidatingAdmissionPolicy",
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
