//! Looking on while policies judge: for those who explain a verdict, or measure what tests exercise.

use pratique_cel::ast::ExprId;
use pratique_cel::value::Evaluation;
use pratique_cel::{Activation, Context, Program, Value, plan};
use pratique_expression::Missing;
use pratique_match::Mismatch;

use pratique_exclusion::Origin;

/// Looks on. The methods do nothing unless implemented.
///
/// What is told comes in order, and nested: policies; in them, if they are met, bindings; in them, if they are met,
/// rounds with one param each; in them expressions, in which variables may begin and end. Where nobody looks on, none
/// of this costs anything.
pub trait Trace {
    /// A policy is asked, whether a request is met by it or not. All that follows up to the next one belongs to it.
    fn policy(&self, policy: Subject<'_>, met: Met<'_>) {
        let _ = (policy, met);
    }

    /// A binding of the policy is asked.
    fn binding(&self, binding: &str, met: Met<'_>) {
        let _ = (binding, met);
    }

    /// The policy judges with a param, null where it has none.
    fn round(&self, params: &Value<'_>) {
        let _ = params;
    }

    /// An expression, with this text, is about to be evaluated.
    fn begin(&self, part: Part<'_>, text: &str) {
        let _ = (part, text);
    }

    /// Whether it is told of the values within expressions: an evaluation is faster if it is not.
    fn wants_values(&self) -> bool {
        true
    }

    /// An expression within the one that began last and did not end yet has this value.
    fn value(&self, expression: ExprId, value: &Evaluation<'_>) {
        let _ = (expression, value);
    }

    /// The expression that began last and did not end yet has ended; `cost` is its own, without that of variables.
    fn end(&self, result: &Evaluation<'_>, cost: u64) {
        let _ = (result, cost);
    }

    /// The expression that ended last cost more than is left of the budget: none after it is evaluated.
    fn exhausted(&self) {}

    /// An expression has no value, as it does not compile.
    fn broken(&self, part: Part<'_>, error: &str) {
        let _ = (part, error);
    }
}

/// A policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject<'a> {
    /// What it does.
    pub does: Does,
    /// Where it comes from.
    pub origin: Origin,
    /// Its name.
    pub name: &'a str,
}

/// What a policy does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Does {
    /// It changes objects.
    Mutate,
    /// It validates them.
    Validate,
}

impl Does {
    /// The name of the admission plugin that such policies belong to.
    pub fn plugin(self) -> &'static str {
        match self {
            Does::Mutate => "MutatingAdmissionPolicy",
            Does::Validate => "ValidatingAdmissionPolicy",
        }
    }
}

/// Whether a request is met by a policy or a binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Met<'a> {
    /// It is.
    Yes,
    /// It is not.
    No(Mismatch),
    /// No policy of this origin ever meets the resource.
    Excluded,
    /// That depends on what was not given.
    Undecided(&'a Missing),
    /// That cannot be told, or the policy cannot judge: for a reason in an API server's words.
    Error(&'a str),
}

/// Which of a policy's expressions it is; indices count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part<'a> {
    /// `matchConditions[i].expression`
    Condition(usize),
    /// The expression of a variable.
    Variable(&'a str),
    /// `validations[i].expression`
    Validation(usize),
    /// `validations[i].messageExpression`
    Message(usize),
    /// `auditAnnotations[i].valueExpression`
    Annotation(usize),
    /// `mutations[i]`
    Mutation(usize),
}

/// Evaluates a program, and tells those who look on of the values in it.
pub(crate) fn evaluate<'a>(
    program: &'a Program,
    context: &Context<'a>,
    activation: &Activation<'a>,
    trace: Option<&dyn Trace>,
) -> Evaluation<'a> {
    match trace {
        None => program.evaluate(context, activation),
        Some(trace) => {
            let evaluation = match trace.wants_values() {
                true => program.evaluate_observed(context, activation, &mut Watch(trace)),
                false => program.evaluate(context, activation),
            };
            trace.end(&evaluation, context.cost());
            evaluation
        }
    }
}

struct Watch<'t>(&'t dyn Trace);

impl plan::Observer for Watch<'_> {
    fn observe(&mut self, expression: ExprId, value: &Evaluation<'_>) {
        self.0.value(expression, value);
    }
}
