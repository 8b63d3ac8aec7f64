//! The kinds of values, as Go's `encoding/json` names them.

use crate::Value;

impl Value<'_> {
    /// What the value is: `null`, `bool`, `number`, `string`, `array` or `object`.
    ///
    /// ```
    /// assert_eq!(pratique_json::Value::Int(1).kind(), "number");
    /// ```
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "bool",
            Value::Int(_) | Value::Float(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) | Value::NilArray => "array",
            Value::Object(_) => "object",
        }
    }

    /// What the value is, where a Go type was wanted: of a number that is one of the wrong kind, also which.
    ///
    /// ```
    /// use pratique_json::Value;
    ///
    /// assert_eq!(Value::Float(1.5).kind_for("int32"), "number 1.5");
    /// assert_eq!(Value::Float(1.5).kind_for("string"), "number");
    /// ```
    pub fn kind_for(&self, go_type: &str) -> String {
        match (self, go_type) {
            // A whole number that is none in Go was written with a fraction.
            (Value::Float(number), "int32" | "int64" | "uint8")
                if number.fract() == 0.0 && number.abs() < 1e15 =>
            {
                format!("number {number:.1}")
            }
            (Value::Int(_) | Value::Float(_), "int32" | "int64" | "uint8") => format!("number {self}"),
            _ => self.kind().to_owned(),
        }
    }
}
