//! Observing the evaluation of policies, step by step: for explanations of decisions, and for the coverage of tests.

use pratique_cel::ast::ExprId;
use pratique_cel::value::Evaluation;
use pratique_cel::{Activation, Context, EvaluationObserver, Program, Value};
use pratique_exclusion::Origin;
use pratique_expression::MissingDependency;
use pratique_match::Mismatch;
use serde::{Serialize, Serializer};

use crate::phase::AdmissionPhase;

/// Observes the evaluation of policies. The methods do nothing unless implemented.
///
/// Events come in order, and nested: policies; within them, if they match, bindings; within them, if they match, rounds with
/// one param each; within them expressions, in which variables may begin and end. Without a trace, none of this costs
/// anything.
pub trait PolicyTrace {
    /// A policy was matched with the request. All events up to the next policy belong to it.
    fn policy(&self, policy: TracedPolicy<'_>, outcome: MatchOutcome<'_>) {
        let _ = (policy, outcome);
    }

    /// A binding of the policy was matched with the request.
    fn binding(&self, binding: &str, outcome: MatchOutcome<'_>) {
        let _ = (binding, outcome);
    }

    /// The policy is evaluated with a param, null where it has none.
    fn round(&self, params: &Value<'_>) {
        let _ = params;
    }

    /// The evaluation of an expression, with this text, begins.
    fn begin(&self, id: ExpressionId<&str>, text: &str) {
        let _ = (id, text);
    }

    /// Whether [`value`](Self::value) is called. Evaluation is faster without.
    fn wants_values(&self) -> bool {
        true
    }

    /// The value of an expression within the innermost one whose evaluation began and did not end.
    fn value(&self, expression: ExprId, value: &Evaluation<'_>) {
        let _ = (expression, value);
    }

    /// The evaluation of the innermost expression that began ends; `cost` does not include that of variables.
    fn end(&self, result: &Evaluation<'_>, cost: u64) {
        let _ = (result, cost);
    }

    /// The expression that ended last exceeded the budget: no later one is evaluated.
    fn exhausted(&self) {}

    /// The mutation whose expression ended last has left these fields as empty lists or maps, which a server leaves out when
    /// it decodes the object: the next mutation does not see them.
    fn left_out(&self, fields: &[String]) {
        let _ = fields;
    }

    /// An expression has no value, because it does not compile.
    fn broken(&self, id: ExpressionId<&str>, error: &str) {
        let _ = (id, error);
    }
}

/// A policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedPolicy<'a> {
    /// Its phase.
    pub phase: AdmissionPhase,
    /// Where it comes from.
    pub origin: Origin,
    /// Its name.
    pub name: &'a str,
}

/// Whether a request matches a policy or a binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatchOutcome<'a> {
    /// It matches.
    Match,
    /// It does not match.
    Mismatch(Mismatch),
    /// Policies of this origin never match the resource.
    Excluded,
    /// The match depends on missing input.
    Undecided(&'a MissingDependency),
    /// The match failed, or the policy cannot be evaluated, with an API server's message.
    Error(&'a str),
}

/// Identifies an expression of a policy; indices count from 0. A [`PolicyTrace`] gets it with a borrowed name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExpressionId<S = String> {
    /// `matchConditions[i].expression`
    Condition(usize),
    /// The expression of a variable.
    Variable(S),
    /// `validations[i].expression`
    Validation(usize),
    /// `validations[i].messageExpression`
    Message(usize),
    /// `auditAnnotations[i].valueExpression`
    Annotation(usize),
    /// `mutations[i]`
    Mutation(usize),
}

impl<S: AsRef<str>> ExpressionId<S> {
    /// The same, to be kept.
    pub fn to_owned(&self) -> ExpressionId {
        match self {
            ExpressionId::Condition(index) => ExpressionId::Condition(*index),
            ExpressionId::Variable(name) => ExpressionId::Variable(name.as_ref().to_owned()),
            ExpressionId::Validation(index) => ExpressionId::Validation(*index),
            ExpressionId::Message(index) => ExpressionId::Message(*index),
            ExpressionId::Annotation(index) => ExpressionId::Annotation(*index),
            ExpressionId::Mutation(index) => ExpressionId::Mutation(*index),
        }
    }

    /// The field of the policy's `spec`, with the name of a variable: `validations[0].messageExpression`, `variables.a`.
    pub fn field(&self) -> String {
        match self {
            ExpressionId::Condition(index) => format!("matchConditions[{index}]"),
            ExpressionId::Variable(name) => format!("variables.{}", name.as_ref()),
            ExpressionId::Validation(index) => format!("validations[{index}]"),
            ExpressionId::Message(index) => format!("validations[{index}].messageExpression"),
            ExpressionId::Annotation(index) => format!("auditAnnotations[{index}]"),
            ExpressionId::Mutation(index) => format!("mutations[{index}]"),
        }
    }
}

impl<S: AsRef<str>> Serialize for ExpressionId<S> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        serializer.serialize_str(&self.field())
    }
}

/// Evaluates a program, and reports the values in it to a trace.
pub fn evaluate<'a>(
    program: &'a Program,
    context: &Context<'a>,
    activation: &Activation<'a>,
    trace: Option<&dyn PolicyTrace>,
) -> Evaluation<'a> {
    match trace {
        None => program.evaluate(context, activation),
        Some(trace) => {
            let evaluation = if trace.wants_values() {
                program.evaluate_observed(context, activation, &mut ValueObserver(trace))
            } else {
                program.evaluate(context, activation)
            };
            trace.end(&evaluation, context.cost());
            evaluation
        }
    }
}

struct ValueObserver<'t>(&'t dyn PolicyTrace);

impl EvaluationObserver for ValueObserver<'_> {
    fn observe(&mut self, expression: ExprId, value: &Evaluation<'_>) {
        self.0.value(expression, value);
    }
}
