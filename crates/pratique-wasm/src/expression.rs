//! An expression evaluated by itself.

use pratique_cel::library::mutation::to_json;
use pratique_cel::{Arena, CompileError, Context, Environment, Type, Value};
use pratique_explain::{Expression as Explained, explain_evaluation, format_value};
use pratique_types::cel_limits::PER_CALL_LIMIT;
use serde::Serialize;

use crate::decision_report::diagram;
use crate::findings::Finding;
use crate::input;
use crate::request::Expression;

/// The maximum number of characters of a value.
const SHOWN: usize = 10_000;

/// The answer to an [`Expression`].
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Evaluated {
    /// Problems of the variables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<Finding>,
    /// Why it does not compile, as a server says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    compile_error: Option<String>,
    /// The faults of an expression that does not compile.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    issues: Vec<ExpressionIssue>,
    /// Its type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    of_type: Option<String>,
    /// Its value as JSON, if it has that form.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<pratique_json::Value<'static>>,
    /// Its value as CEL writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Why it has no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Its cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<u64>,
    /// Its subexpressions with their values.
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<Explained>,
    /// The lines of its diagram.
    #[serde(skip_serializing_if = "Option::is_none")]
    diagram: Option<serde_json::Value>,
}

/// A fault in an expression.
#[derive(Debug, Serialize)]
struct ExpressionIssue {
    /// From 1.
    line: i32,
    /// From 1, in characters.
    column: i32,
    message: String,
    /// The name that may be meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    meant: Option<String>,
}

/// Compiles and evaluates an expression.
pub(crate) fn evaluate(arguments: &Expression) -> Evaluated {
    let mut named: Vec<(String, pratique_json::Value<'static>)> = Vec::new();
    for (name, value) in &arguments.variables {
        // What serde_json wrote is JSON.
        let value = pratique_json::parse(value.to_string().as_bytes()).map(pratique_json::Value::into_owned);
        named.push((name.clone(), value.unwrap_or_default()));
    }
    match mapping(&arguments.variables_text) {
        Ok(variables) => named.extend(variables),
        Err(problems) => {
            return Evaluated {
                problems,
                ..Evaluated::default()
            };
        }
    }
    let environment = named
        .iter()
        .fold(Environment::kubernetes(), |environment, (name, _)| {
            environment.with_variable(name, Type::Dyn)
        });
    let compiled = environment
        .parse(arguments.expression.as_str())
        .and_then(|ast| environment.check_types(ast))
        .and_then(|checked| {
            let of_type = checked.result_type().to_string();
            environment.plan(&checked).map(|program| (program, of_type))
        });
    let (program, of_type) = match compiled {
        Ok(compiled) => compiled,
        Err(error) => return refused(&error),
    };
    let arena = Arena::new();
    let context = Context::new(&arena, arguments.cost_limit.unwrap_or(PER_CALL_LIMIT));
    let mut activation = environment.activation();
    for (name, value) in &named {
        if let Some(slot) = environment.slot(name) {
            activation.set(slot, Value::from_json(value));
        }
    }
    let text = arguments.expression.as_str();
    let (result, explanation) = explain_evaluation(&program, text, &context, &activation);
    let value = result.as_ref().ok();
    Evaluated {
        of_type: Some(of_type),
        value: value.and_then(|value| to_json(value).ok()),
        text: value.map(|value| format_value(value, SHOWN)),
        error: result.as_ref().err().map(ToString::to_string),
        cost: Some(context.cost()),
        diagram: Some(diagram(&explanation)),
        explanation: Some(explanation),
        ..Evaluated::default()
    }
}

/// The members of the one mapping that a text has; none of an empty text.
fn mapping(text: &str) -> Result<Vec<(String, pratique_json::Value<'static>)>, Vec<Finding>> {
    let mut problems = Vec::new();
    let read = input::single("variables", Some(text), &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    let members = match read {
        Some(pratique_json::Value::Object(members)) => members,
        _ => pratique_json::Object::new(),
    };
    let named = members.iter();
    Ok(named
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect())
}

fn refused(error: &CompileError) -> Evaluated {
    let issues = match error {
        CompileError::Issues { issues, .. } => issues.as_slice(),
        _ => &[],
    };
    let issues = issues.iter().map(|issue| ExpressionIssue {
        line: issue.position.line,
        column: issue.position.column.saturating_add(1),
        message: issue.message.clone(),
        meant: issue.meant.as_deref().map(str::to_owned),
    });
    Evaluated {
        compile_error: Some(error.to_string()),
        issues: issues.collect(),
        ..Evaluated::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(expression: &str) -> serde_json::Value {
        let variables = [("x".to_owned(), serde_json::json!({"a": [1, 2]}))];
        let input = Expression {
            expression: expression.to_owned(),
            variables: variables.into(),
            variables_text: "limits: [3]".to_owned(),
            cost_limit: Some(1000),
        };
        serde_json::to_value(evaluate(&input)).unwrap()
    }

    #[test]
    fn values_have_types_and_costs() {
        let answer = answer("x.a.size() == 2 && x.a[0] == 2");
        assert_eq!(answer["type"], "bool");
        assert_eq!(answer["value"], false);
        assert_eq!(self::answer("limits[0] + x.a[0]")["value"], 4);
        assert_eq!(answer["explanation"]["because"], "x.a[0] == 2");
        assert!(answer["cost"].as_u64().unwrap() > 0);
    }

    #[test]
    fn values_without_a_form_in_json_have_a_text() {
        let answer = answer("quantity('1Gi')");
        assert_eq!(answer["type"], "kubernetes.Quantity");
        assert!(answer["text"].as_str().unwrap().contains("1Gi"), "{answer}");
    }

    #[test]
    fn faults_have_positions() {
        let answer = answer("x.a +\n z");
        assert_eq!(answer["issues"][0]["line"], 2);
        assert_eq!(answer["issues"][0]["column"], 2);
        assert!(
            answer["compileError"]
                .as_str()
                .unwrap()
                .starts_with("ERROR: <input>:2:2: undeclared reference")
        );
    }

    #[test]
    fn errors_and_limits_are_reported() {
        assert_eq!(answer("x.b")["error"], "no such key: b");
        let spent = answer("lists.range(100000).map(i, i).size()");
        assert!(spent["error"].as_str().unwrap().contains("cost limit"), "{spent}");
    }
}
