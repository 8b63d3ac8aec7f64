//! Values in CEL syntax, cut if they are long.

use pratique_cel::print::quote;
use pratique_cel::value::{List, Map, Struct};
use pratique_cel::{Arena, Context, Value};

/// Formats a value in CEL syntax, with about `max_chars` characters at most: the rest is `…`.
pub fn format_value(value: &Value<'_>, max_chars: usize) -> String {
    let arena = Arena::new();
    let mut writer = ValueWriter {
        context: Context::new(&arena, WORK),
        text: String::new(),
        max_chars,
    };
    writer.write(*value, 0);
    writer.text
}

/// The cost limit of reading the fields of a value.
const WORK: u64 = 1_000_000;
/// The maximum depth of nested values.
const DEPTH: usize = 24;
/// The type of `variables`: to list its fields would evaluate all of them.
const VARIABLES: &str = pratique_expression::VARIABLES_TYPE;

struct ValueWriter<'a> {
    context: Context<'a>,
    text: String,
    max_chars: usize,
}

impl<'a> ValueWriter<'a> {
    fn write(&mut self, value: Value<'a>, depth: usize) {
        if depth > DEPTH {
            return self.text.push('…');
        }
        match value {
            Value::Null => self.text.push_str("null"),
            Value::Bool(value) => self.text.push_str(&value.to_string()),
            Value::Int(number) => self.text.push_str(&number.to_string()),
            Value::Uint(number) => self.text.push_str(&format!("{number}u")),
            Value::Double(number) => self.text.push_str(&format!("{number:?}")),
            Value::String(text) => self.string(text),
            Value::Bytes(bytes) => self.text.push_str(&format!("bytes of length {}", bytes.len())),
            Value::Timestamp(timestamp) => self.text.push_str(&format!("timestamp({timestamp})")),
            Value::Duration(duration) => self.text.push_str(&format!("duration({duration})")),
            Value::List(list) => self.list(list, depth),
            Value::Map(map) => self.map(map, depth),
            Value::Struct(value) => self.fields(value, depth),
            Value::Optional(None) => self.text.push_str("optional.none()"),
            Value::Optional(Some(value)) => {
                self.text.push_str("optional.of(");
                self.write(*value, depth + 1);
                self.text.push(')');
            }
            Value::Type(name) => self.text.push_str(name),
            Value::Opaque(value) => {
                let name = value.type_name();
                let name = name.rsplit('.').next().unwrap_or(name);
                self.text.push_str(&format!("{name}({})", value.to_text()));
            }
        }
    }

    fn string(&mut self, text: &str) {
        let max_chars = self.max_chars.saturating_sub(self.text.chars().count());
        let quoted = quote(
            text.get(..text.floor_char_boundary(4 * max_chars + 4))
                .unwrap_or(text),
        );
        if quoted.chars().count() <= max_chars.max(8) {
            return self.text.push_str(&quoted);
        }
        let start: String = quoted.chars().take(max_chars.max(8) - 2).collect();
        self.text.push_str(&start);
        self.text.push_str("…\"");
    }

    fn is_full(&self) -> bool {
        self.text.chars().count() >= self.max_chars
    }

    /// Begins an element; false if the text is full.
    fn element(&mut self, index: usize) -> bool {
        if index > 0 {
            self.text.push_str(", ");
        }
        if self.is_full() {
            self.text.push('…');
        }
        !self.text.ends_with('…')
    }

    fn list(&mut self, list: List<'a>, depth: usize) {
        self.text.push('[');
        for (index, element) in list.iter().enumerate() {
            if !self.element(index) {
                break;
            }
            self.write(element, depth + 1);
        }
        self.text.push(']');
    }

    fn map(&mut self, map: Map<'a>, depth: usize) {
        self.text.push('{');
        for (index, (key, value)) in map.iter().enumerate() {
            if !self.element(index) {
                break;
            }
            self.write(key, depth + 1);
            self.text.push_str(": ");
            self.write(value, depth + 1);
        }
        self.text.push('}');
    }

    fn fields(&mut self, value: &'a dyn Struct, depth: usize) {
        let name = value.type_name();
        self.text.push_str(name);
        if name == VARIABLES {
            return;
        }
        let Ok(fields) = value.fields(&self.context) else {
            return;
        };
        self.text.push('{');
        for (index, (field, value)) in fields.into_iter().enumerate() {
            if !self.element(index) {
                break;
            }
            self.text.push_str(&format!("{field}: "));
            self.write(value, depth + 1);
        }
        self.text.push('}');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, max_chars: usize, expected: &str) {
        let value = pratique_json::parse(json.as_bytes()).unwrap();
        assert_eq!(format_value(&Value::from_json(&value), max_chars), expected);
    }

    #[test]
    fn values_look_like_literals() {
        check(
            r#"{"a": [1, 2.0, true, null], "b": "it's"}"#,
            80,
            r#"{"a": [1, 2.0, true, null], "b": "it's"}"#,
        );
    }

    #[test]
    fn long_values_are_cut() {
        check("[1, 2, 3, 4, 5, 6, 7, 8]", 8, "[1, 2, 3, …]");
        check(r#""abcdefghijklmnop""#, 10, "\"abcdefg…\"");
        check(r#"{"a": {"b": {"c": 1}}}"#, 10, r#"{"a": {"b": {…}}}"#);
    }
}
