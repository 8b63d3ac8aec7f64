//! An expression that somebody typed, evaluated by itself.

use pratique_cel::library::mutation::to_json;
use pratique_cel::{Arena, CompileError, Context, Environment, Program, Type, Value};
use serde::Serialize;

use crate::diagram::Line;
use crate::explanation::Expression;
use crate::format::format_value;
use crate::open_evaluation::explain_evaluation;

/// The maximum number of characters of a value.
const SHOWN: usize = 10_000;

/// An expression in the environment of an API server: its type, its value and how that came about, or why it has none.
///
/// ```
/// use pratique_explain::EvaluatedExpression;
///
/// let count = ("count".to_owned(), pratique_json::parse(b"7")?);
/// let evaluated = EvaluatedExpression::new("count <= 5", &[count], 1000);
/// assert_eq!(evaluated.text.as_deref(), Some("false"));
/// assert_eq!(evaluated.result_type.as_deref(), Some("bool"));
/// # Ok::<(), pratique_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EvaluatedExpression {
    /// Why it does not compile, as a server says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compile_error: Option<String>,
    /// The faults of an expression that does not compile.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub issues: Vec<ExpressionFault>,
    /// Its type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub result_type: Option<String>,
    /// Its value as JSON, if it has that form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<pratique_json::Value<'static>>,
    /// Its value as CEL writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Why it has no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Its cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<u64>,
    /// Its subexpressions with their values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Expression>,
    /// The lines of its diagram.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diagram: Option<Vec<Line>>,
}

/// A fault in an expression.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExpressionFault {
    /// From 1.
    pub line: i32,
    /// From 1, in characters.
    pub column: i32,
    /// What is wrong.
    pub message: String,
    /// The name that may be meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meant: Option<String>,
}

impl EvaluatedExpression {
    /// Compiles and evaluates an expression with variables, all of type `dyn`.
    pub fn new(text: &str, variables: &[(String, pratique_json::Value<'_>)], cost_limit: u64) -> Self {
        let environment = variables
            .iter()
            .fold(Environment::kubernetes(), |environment, (name, _)| {
                environment.with_variable(name, Type::Dyn)
            });
        let (program, result_type) = match compile(&environment, text) {
            Ok(compiled) => compiled,
            Err(error) => return EvaluatedExpression::refused(&error),
        };
        let arena = Arena::new();
        let context = Context::new(&arena, cost_limit);
        let mut activation = environment.activation();
        for (name, value) in variables {
            if let Some(slot) = environment.slot(name) {
                activation.set(slot, Value::from_json(value));
            }
        }
        let (result, explanation) = explain_evaluation(&program, text, &context, &activation);
        let value = result.as_ref().ok();
        EvaluatedExpression {
            result_type: Some(result_type),
            value: value.and_then(|value| to_json(value).ok()),
            text: value.map(|value| format_value(value, SHOWN)),
            error: result.as_ref().err().map(ToString::to_string),
            cost: Some(context.cost()),
            diagram: Some(explanation.diagram()),
            explanation: Some(explanation),
            ..EvaluatedExpression::default()
        }
    }

    /// One that does not compile.
    fn refused(error: &CompileError) -> Self {
        let issues = match error {
            CompileError::Issues { issues, .. } => issues.as_slice(),
            _ => &[],
        };
        let issues = issues.iter().map(|issue| ExpressionFault {
            line: issue.position.line,
            column: issue.position.column.saturating_add(1),
            message: issue.message.clone(),
            meant: issue.meant.as_deref().map(str::to_owned),
        });
        EvaluatedExpression {
            compile_error: Some(error.to_string()),
            issues: issues.collect(),
            ..EvaluatedExpression::default()
        }
    }
}

/// The program of an expression, and the type of its value.
fn compile(environment: &Environment, text: &str) -> Result<(Program, String), CompileError> {
    let checked = environment
        .parse(text)
        .and_then(|ast| environment.check_types(ast))?;
    Ok((environment.plan(&checked)?, checked.result_type().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(expression: &str) -> serde_json::Value {
        let variables = [("x", r#"{"a": [1, 2]}"#), ("limits", "[3]")];
        let variables = variables.map(|(name, value)| {
            let value = pratique_json::parse(value.as_bytes()).unwrap();
            (name.to_owned(), value)
        });
        serde_json::to_value(EvaluatedExpression::new(expression, &variables, 1000)).unwrap()
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
    fn diagrams_stand_beside_explanations() {
        let answer = answer("limits[0] > 4");
        assert_eq!(
            answer["diagram"][0],
            serde_json::json!({"source": "limits[0] > 4"})
        );
        assert!(answer["diagram"][1]["values"].is_string(), "{answer}");
        assert_eq!(answer["explanation"].get("diagram"), None, "{answer}");
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
