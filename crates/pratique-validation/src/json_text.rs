//! JSON in texts: annotations and the data of Secrets, with the errors of Go's parser.

use pratique_json::Value;
use pratique_yaml::Budget;

/// The value of a text; the fault in Go's words.
// Upstream: encoding/json/scanner.go, SyntaxError
pub(crate) fn parse_json(bytes: &[u8]) -> Result<Value<'_>, String> {
    // The words are those of the strict parser, which knows where it is; the values are those of the plain one.
    let fault = |words: String| {
        let unquoted = words.strip_prefix("json: ").map(str::to_owned);
        unquoted.unwrap_or(words)
    };
    pratique_yaml::json::parse(bytes, &Budget::unlimited()).map_err(|error| fault(error.message))?;
    pratique_json::parse(bytes).map_err(|error| error.to_string())
}

/// How Go calls the kind of a value that does not fit.
// Upstream: encoding/json/decode.go, UnmarshalTypeError
pub(crate) fn kind_in_go(value: &Value<'_>) -> &'static str {
    match value {
        Value::Bool(_) => "bool",
        Value::Int(_) | Value::Float(_) => "number",
        Value::String(_) => "string",
        Value::Object(_) => "object",
        _ => "array",
    }
}

/// The value of a text that has to be a list or an object of a type of Go.
pub(crate) fn parse_json_as<'t>(text: &'t str, is_list: bool, go_type: &str) -> Result<Value<'t>, String> {
    let value = parse_json(text.as_bytes())?;
    match &value {
        Value::Null => Ok(value),
        Value::Array(_) if is_list => Ok(value),
        Value::Object(_) if !is_list => Ok(value),
        other => Err(format!(
            "json: cannot unmarshal {} into Go value of type {go_type}",
            kind_in_go(other)
        )),
    }
}
