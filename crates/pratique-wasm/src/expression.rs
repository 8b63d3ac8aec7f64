//! An expression evaluated by itself.

use pratique_explain::EvaluatedExpression;
use pratique_json::Value;
use pratique_types::cel_limits::PER_CALL_LIMIT;
use serde::Serialize;

use crate::findings::Finding;
use crate::input;
use crate::request::Expression;

/// The answer to an [`Expression`].
#[derive(Debug, Default, Serialize)]
pub struct Evaluated {
    /// Problems of the variables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<Finding>,
    #[serde(flatten)]
    evaluated: EvaluatedExpression,
}

/// Compiles and evaluates an expression.
pub(crate) fn evaluate(arguments: &Expression) -> Evaluated {
    let mut problems = Vec::new();
    let of_text = input::single("variables", Some(&arguments.variables_text), &mut problems);
    if !problems.is_empty() {
        return Evaluated {
            problems,
            ..Evaluated::default()
        };
    }
    let given = arguments.variables.iter();
    let given = given.map(|(name, value)| (name.clone(), Value::try_from(value.clone()).unwrap_or_default()));
    let mut variables: Vec<(String, Value<'static>)> = given.collect();
    if let Some(Value::Object(members)) = &of_text {
        let members = members.iter();
        variables.extend(members.map(|(name, value)| (name.to_owned(), value.clone())));
    }
    let cost_limit = arguments.cost_limit.unwrap_or(PER_CALL_LIMIT);
    Evaluated {
        evaluated: EvaluatedExpression::new(&arguments.expression, &variables, cost_limit),
        ..Evaluated::default()
    }
}
