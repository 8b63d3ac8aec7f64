//! Constants and names as text.

use std::fmt::Write as _;

use crate::ast::Literal;

/// Whether a field's name needs no backticks.
pub(super) fn is_plain(name: &str) -> bool {
    let start = name.starts_with(|character: char| character.is_ascii_alphabetic() || character == '_');
    let rest = name
        .chars()
        .all(|character| character.is_ascii_alphanumeric() || character == '_');
    start && rest && !matches!(name, "in" | "true" | "false" | "null")
}

/// Writes a constant.
pub(super) fn write_literal(text: &mut String, literal: &Literal) {
    // Writing to a string does not fail.
    let _ = match literal {
        Literal::Null => write!(text, "null"),
        Literal::Bool(value) => write!(text, "{value}"),
        Literal::Int(value) => write!(text, "{value}"),
        Literal::Uint(value) => write!(text, "{value}u"),
        // The form for debugging has a point or an exponent, and all the digits that matter.
        Literal::Double(value) => write!(text, "{value:?}"),
        Literal::String(value) => write_string(text, value),
        Literal::Bytes(value) => write_bytes(text, value),
    };
}

fn write_string(text: &mut String, value: &str) -> std::fmt::Result {
    text.push('"');
    for character in value.chars() {
        match character {
            '"' | '\\' => write!(text, "\\{character}")?,
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            control if control.is_control() => write!(text, "\\u{:04x}", u32::from(control))?,
            other => text.push(other),
        }
    }
    text.push('"');
    Ok(())
}

fn write_bytes(text: &mut String, value: &[u8]) -> std::fmt::Result {
    text.push_str("b\"");
    for byte in value {
        match byte {
            b'"' | b'\\' => write!(text, "\\{}", char::from(*byte))?,
            b' '..=b'~' => text.push(char::from(*byte)),
            other => write!(text, "\\x{other:02x}")?,
        }
    }
    text.push('"');
    Ok(())
}
