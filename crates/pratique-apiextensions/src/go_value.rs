//! Values as messages of Go show them: untyped JSON, with its types and `%v`.

use pratique_gotext::strconv::general_form;
use pratique_json::Value;

/// The type of a value (`%T`).
pub(crate) fn go_type(value: &Value<'_>) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Float(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) | Value::NilArray => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// A value as `%v` prints it: `map[a:1 b:[x y]]`
pub(crate) fn go_text(value: &Value<'_>) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => general_form(*number),
        Value::String(text) => text.to_string(),
        Value::NilArray => "[]".to_owned(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(go_text).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(name, value)| format!("{name}:{}", go_text(value)));
            format!("map[{}]", members.collect::<Vec<_>>().join(" "))
        }
    }
}
