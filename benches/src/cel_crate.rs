//! The crate `cel` over the same expressions and object, for `cargo xtask bench cel --against cel-crate`. It checks no
//! types and counts no costs.

use ::cel::{Context, Program, Value};
use pratique_benches::BenchError;
use pratique_benches::contest::{ContestOrder, ContestSide, TurnSample};
use serde::Deserialize;
use serde_json::json;

/// The expressions by name, all over one object.
#[derive(Deserialize)]
pub(crate) struct PeerExpressions {
    object: serde_json::Value,
    expressions: Vec<PeerExpression>,
}

#[derive(Deserialize)]
struct PeerExpression {
    name: String,
    text: String,
}

impl PeerExpressions {
    pub(crate) fn new(setup: serde_json::Value) -> Result<Self, BenchError> {
        Ok(serde_json::from_value(setup)?)
    }

    fn context(&self) -> Result<Context<'_, '_>, BenchError> {
        let mut context = Context::default();
        let added = context.add_variable("object", &self.object);
        added?;
        Ok(context)
    }
}

fn compile(text: &str) -> Result<Program, BenchError> {
    Ok(Program::compile(text)?)
}

impl ContestSide for PeerExpressions {
    fn facts(&self) -> Result<serde_json::Value, BenchError> {
        let mut cases = serde_json::Map::new();
        let context = self.context()?;
        for PeerExpression { name, text } in &self.expressions {
            let value = compile(text)?.execute(&context);
            let is_true = matches!(value, Ok(Value::Bool(true)));
            cases.insert(name.clone(), json!({"value": is_true.to_string()}));
        }
        Ok(json!({ "cases": cases }))
    }

    fn measure(&self, order: &ContestOrder) -> Result<TurnSample, BenchError> {
        let named = self.expressions.iter().find(|one| one.name == order.case);
        let PeerExpression { text, .. } =
            named.ok_or_else(|| format!("no expression is named {:?}", order.case))?;
        match order.measure.as_str() {
            "compile" => Ok(order.time(|| Program::compile(text))),
            "evaluate" => {
                let (program, context) = (compile(text)?, self.context()?);
                Ok(order.time(|| program.execute(&context)))
            }
            other => Err(format!("no measure is named {other:?}").into()),
        }
    }
}
