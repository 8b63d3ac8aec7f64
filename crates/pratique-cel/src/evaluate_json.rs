//! Evaluation of programs from JSON to JSON.

use pratique_json as json;

use crate::arena::Arena;
use crate::context::Context;
use crate::error::Fault;
use crate::library::mutation::{NotJson, to_json};
use crate::plan::Program;
use crate::value::Value;

/// Why [`Program::evaluate_json`] returned no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluateJsonError {
    /// The environment of the program declares no variable of this name.
    #[error("undeclared variable {0:?}")]
    Undeclared(String),
    /// The evaluation failed.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The value has no JSON form.
    #[error(transparent)]
    NotJson(#[from] NotJson),
}

impl Program {
    /// Evaluates the expression with variables by name, those of the environment that it was compiled in, and returns its
    /// value as JSON. `limit` is the most that it may cost, in the reference's units.
    ///
    /// Integers that JSON's readers would not take as such are floats, bytes are base64, and times,
    /// durations, types and values of abstract types, such as quantities, are texts.
    ///
    /// ```
    /// use pratique_cel::{Environment, Type, json};
    ///
    /// let environment = Environment::standard().with_variable("pod", Type::Dyn);
    /// let program = environment.compile("pod.containers.map(c, {'name': c.name, 'bytes': b'\\x00'})")?;
    /// let pod = json::parse(br#"{"containers": [{"name": "app"}]}"#)?;
    /// let result = program.evaluate_json([("pod", &pod)], 1_000_000)?;
    /// assert_eq!(result.to_string(), r#"[{"bytes":"AA==","name":"app"}]"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A variable is not declared, the expression fails or costs more than `limit`, or its value has no JSON form, as a map with
    /// a key that is not a string.
    pub fn evaluate_json<'v>(
        &self,
        variables: impl IntoIterator<Item = (&'v str, &'v json::Value<'v>)>,
        limit: u64,
    ) -> Result<json::Value<'static>, EvaluateJsonError> {
        let arena = Arena::new();
        let context = Context::new(&arena, limit);
        let mut activation = self.activation();
        for (name, value) in variables {
            let slot = self.slot(name);
            let slot = slot.ok_or_else(|| EvaluateJsonError::Undeclared(name.to_owned()))?;
            activation.set(slot, Value::from_json(value));
        }
        let value = self.evaluate(&context, &activation)?;
        Ok(to_json(&value)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Environment;
    use crate::error::{FaultKind, Stop};
    use crate::types::Type;

    fn evaluate(text: &str, limit: u64) -> Result<String, EvaluateJsonError> {
        let environment = Environment::standard().with_variable("x", Type::Dyn);
        let program = environment.compile(text).unwrap();
        let x = json::parse(br#"{"a": [1, 2.5, null, "t"]}"#).unwrap();
        let result = program.evaluate_json([("x", &x)], limit)?;
        Ok(result.to_string())
    }

    #[test]
    fn values_become_json() {
        let same = |text, expected: &str| assert_eq!(evaluate(text, 1000).unwrap(), expected, "{text}");
        same("x", r#"{"a":[1,2.5,null,"t"]}"#);
        same("x.a[0] + 1", "2");
        same("18446744073709551615u", "18446744073709552000");
        same("duration('90s')", r#""90s""#);
        same("timestamp('2026-01-02T03:04:05Z')", r#""2026-01-02T03:04:05Z""#);
        same("[type(1), null]", r#"["int",null]"#);
    }

    #[test]
    fn what_has_no_value_is_told() {
        let stopped = evaluate("x.a.map(e, e).size() > 1", 2).unwrap_err();
        let EvaluateJsonError::Fault(fault) = &stopped else {
            panic!("{stopped}");
        };
        assert_eq!(fault.kind(), &FaultKind::Stopped(Stop::CostLimit));
        let missing = evaluate("x.b", 1000).unwrap_err();
        assert_eq!(missing.to_string(), "no such key: b");
        let key = evaluate("{1: 2}", 1000).unwrap_err();
        assert!(
            matches!(key, EvaluateJsonError::NotJson(NotJson::Key(_))),
            "{key}"
        );
        let environment = Environment::standard();
        let program = environment.compile("1").unwrap();
        let error = program.evaluate_json([("y", &json::Value::Null)], 1).unwrap_err();
        assert_eq!(error, EvaluateJsonError::Undeclared("y".to_owned()));
    }
}
