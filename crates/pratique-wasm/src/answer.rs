//! The one function of this crate.

use serde::Serialize;
use serde_json::json;

use crate::request::Request;
use crate::{evaluate, expression};

/// The largest request that is read, in bytes.
const MOST: usize = 32 << 20;

/// Answers a request, in JSON. What is no [`Request`] is answered with `{"fault": "…"}`.
pub fn answer(request: &[u8]) -> Vec<u8> {
    if request.len() > MOST {
        return fault(&format!("the request is larger than {} MiB", MOST >> 20));
    }
    match serde_json::from_slice(request) {
        Ok(Request::Evaluate(input)) => written(&evaluate::evaluate(&input)),
        Ok(Request::Expression(input)) => written(&expression::evaluate(&input)),
        Ok(Request::Version {}) => written(&json!({"version": env!("CARGO_PKG_VERSION")})),
        Err(error) => fault(&format!("not a request: {error}")),
    }
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
