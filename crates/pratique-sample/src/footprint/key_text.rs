//! The texts of keys: other values give another text. Making them is a third of what an edit costs (`cargo xtask bench lint`).

use std::fmt::Write as _;

use pratique_json::Value;

pub(super) fn write_count(count: usize, key: &mut String) {
    // Writing to a string does not fail.
    let _ = write!(key, "{count};");
}

/// Writes a text behind its length, which no other text gives.
pub(super) fn write_text(text: &str, key: &mut String) {
    write_count(text.len(), key);
    key.push_str(text);
}

/// Writes a value, most of which are texts.
pub(super) fn write_value(value: &Value<'_>, key: &mut String) {
    match value {
        Value::String(text) => {
            key.push('"');
            write_text(text, key);
        }
        other => {
            // Writing to a string does not fail.
            let _ = write!(key, "{other}");
        }
    }
}
