//! The one function of this crate.

use pratique_explain::EvaluatedExpression;
use pratique_json::Value;
use pratique_review::PlainFinding;
use pratique_state::{TextFile, read_object};
use pratique_types::cel_limits::PER_CALL_LIMIT;
use serde::Serialize;
use serde_json::json;

use crate::evaluate::evaluate;
use crate::request::{Expression, Request};

/// The largest request that is read, in bytes.
const MOST: usize = 32 << 20;

/// Answers a request, in JSON. What is no [`Request`] is answered with `{"fault": "…"}`.
pub fn answer(request: &[u8]) -> Vec<u8> {
    if request.len() > MOST {
        return fault(&format!("the request is larger than {} MiB", MOST >> 20));
    }
    match serde_json::from_slice(request) {
        Ok(Request::Evaluate(input)) => written(&evaluate(&input)),
        Ok(Request::Expression(input)) => match variables(&input) {
            Ok(variables) => {
                let cost_limit = input.cost_limit.unwrap_or(PER_CALL_LIMIT);
                written(&EvaluatedExpression::new(
                    &input.expression,
                    &variables,
                    cost_limit,
                ))
            }
            Err(problems) => written(&json!({"problems": problems})),
        },
        Ok(Request::Version {}) => written(&json!({"version": env!("CARGO_PKG_VERSION")})),
        Err(error) => fault(&format!("not a request: {error}")),
    }
}

/// The variables of an expression, or what is wrong with their text.
fn variables(input: &Expression) -> Result<Vec<(String, Value<'static>)>, Vec<PlainFinding>> {
    let file = TextFile {
        path: "variables".to_owned(),
        text: input.variables_text.clone(),
    };
    let read =
        read_object(&file).map_err(|faults| faults.iter().map(PlainFinding::from).collect::<Vec<_>>())?;
    let given = input.variables.iter();
    let given = given.map(|(name, value)| (name.clone(), Value::try_from(value.clone()).unwrap_or_default()));
    let mut variables: Vec<(String, Value<'static>)> = given.collect();
    if let Some(Value::Object(members)) = &read {
        let members = members.iter();
        variables.extend(members.map(|(name, value)| (name.to_owned(), value.clone())));
    }
    Ok(variables)
}

fn written(answer: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(answer)
        .unwrap_or_else(|error| fault(&format!("the answer cannot be written: {error}")))
}

fn fault(why: &str) -> Vec<u8> {
    json!({"fault": why}).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(request: &[u8]) -> String {
        String::from_utf8(answer(request)).unwrap()
    }

    #[test]
    fn what_is_no_request_is_a_fault() {
        assert!(text(b"").starts_with(r#"{"fault":"not a request: EOF"#));
        assert!(text(br#"{"evaluate": {"polices": []}}"#).contains("unknown field `polices`"));
        assert!(text(&vec![b' '; MOST + 1]).contains("larger than 32 MiB"));
        assert!(text(br#"{"version": {}}"#).starts_with(r#"{"version":""#));
    }
}
