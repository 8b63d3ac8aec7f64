//! The evaluation of one expression, of which each subexpression is observed.

use std::collections::BTreeMap;

use pratique_cel::ast::ExprId;
use pratique_cel::value::Evaluation;
use pratique_cel::{Activation, Context, EvaluationObserver, Program, Value};
use pratique_policy::ExpressionId;

use crate::decisive::decisive;
use crate::explanation::{Expression, InnerExpression};
use crate::failure_help::help_for_failure;
use crate::format::format_value;
use crate::source::SourceExpression;

/// The maximum number of characters of the value of an expression.
const WHOLE: usize = 2_000;
/// The maximum number of characters of the value of a subexpression.
const INNER: usize = 60;

/// An expression that is being evaluated.
#[derive(Debug)]
pub(crate) struct OpenEvaluation {
    place: ExpressionId,
    text: String,
    observed: BTreeMap<ExprId, ObservedValue>,
}

/// The last value of a subexpression.
#[derive(Clone, Debug, Default)]
pub(crate) struct ObservedValue {
    pub(crate) truth: Option<bool>,
    pub(crate) error: Option<String>,
    value: String,
    times: usize,
}

/// Evaluates an expression that is none of a policy, and explains its value. `text` is what the program was compiled of.
///
/// ```
/// use pratique_cel::{Arena, Context, Environment};
/// use pratique_explain::explain_evaluation;
///
/// let environment = Environment::kubernetes();
/// let text = "1 + 1 == 3 && true";
/// let program = environment.compile(text)?;
/// let arena = Arena::new();
/// let (value, explained) =
///     explain_evaluation(&program, text, &Context::new(&arena, 1000), &environment.activation());
/// assert!(value.is_ok() && explained.is_false());
/// assert_eq!(explained.because.as_deref(), Some("1 + 1 == 3"));
/// # Ok::<(), pratique_cel::CompileError>(())
/// ```
pub fn explain_evaluation<'a>(
    program: &'a Program,
    text: &str,
    context: &Context<'a>,
    activation: &Activation<'a>,
) -> (Evaluation<'a>, Expression) {
    // It stands for the one validation of a policy.
    let mut evaluation = OpenEvaluation::new(ExpressionId::Validation(0), text);
    let result = program.evaluate_observed(context, activation, &mut evaluation);
    let explained = evaluation.ended(&result, context.cost());
    (result, explained)
}

impl OpenEvaluation {
    pub(crate) fn new(place: ExpressionId, text: &str) -> Self {
        OpenEvaluation {
            place,
            text: text.to_owned(),
            observed: BTreeMap::new(),
        }
    }

    /// The expression with its value.
    pub(crate) fn ended(self, result: &Evaluation<'_>, cost: u64) -> Expression {
        let source = SourceExpression::read(&self.text);
        let (inner, because) = match &source {
            Some(source) => (self.inner(source), decisive(source, &self.observed, result)),
            None => (Vec::new(), None),
        };
        let error = result.as_ref().err().map(ToString::to_string);
        Expression {
            place: self.place,
            name: None,
            location: None,
            text: self.text,
            value: result.as_ref().ok().map(|value| format_value(value, WHOLE)),
            help: error.as_deref().and_then(help_for_failure),
            error,
            left_out: Vec::new(),
            cost,
            because,
            inner,
            drawing: None,
        }
    }

    /// The values of the subexpressions that the author wrote, without constants.
    fn inner(&self, source: &SourceExpression) -> Vec<InnerExpression> {
        let reported = source.subexpressions().into_iter();
        let reported = reported.filter(|id| !source.is_literal(*id) && !self.is_propagated(source, *id));
        let inner = reported.filter_map(|id| {
            let observed = self.observed.get(&id)?;
            Some(InnerExpression {
                offset: source.anchor(id),
                text: source.print_part(id),
                value: observed.value.clone(),
                times: observed.times,
            })
        });
        let mut inner: Vec<InnerExpression> = inner.collect();
        inner.sort_by_key(|inner| inner.offset);
        inner
    }

    /// Whether a value is the error of a subexpression, which is reported there.
    fn is_propagated(&self, source: &SourceExpression, id: ExprId) -> bool {
        let error = |id: &ExprId| self.observed.get(id)?.error.as_ref();
        let message = error(&id);
        message.is_some() && source.children(id).iter().any(|child| error(child) == message)
    }
}

impl EvaluationObserver for OpenEvaluation {
    fn observe(&mut self, expression: ExprId, value: &Evaluation<'_>) {
        let observed = self.observed.entry(expression).or_default();
        *observed = ObservedValue {
            times: observed.times + 1,
            ..ObservedValue::new(value)
        };
    }
}

impl ObservedValue {
    fn new(value: &Evaluation<'_>) -> Self {
        match value {
            Ok(value) => ObservedValue {
                truth: match value {
                    Value::Bool(truth) => Some(*truth),
                    _ => None,
                },
                value: format_value(value, INNER),
                ..ObservedValue::default()
            },
            Err(fault) => ObservedValue {
                error: Some(fault.to_string()),
                value: format!("error: {fault}"),
                ..ObservedValue::default()
            },
        }
    }
}
