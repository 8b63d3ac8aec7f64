//! Manifests as people write them: YAML in block style, with expressions in quotes.

use serde_json::Value;

/// The text of a document.
pub(crate) fn write_document(value: &Value) -> String {
    let mut text = String::new();
    write(value, 0, &mut text);
    text
}

/// Writes a value that is on lines of its own, so far from the left.
fn write(value: &Value, indent: usize, text: &mut String) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                lead(indent, text);
                text.push_str(&key(name));
                text.push(':');
                follow(member, indent + 2, text);
            }
        }
        Value::Array(items) => {
            for item in items {
                lead(indent, text);
                text.push('-');
                // The first line of an item begins behind its dash.
                let mut nested = String::new();
                follow(item, indent + 2, &mut nested);
                match nested.strip_prefix('\n') {
                    Some(lines) => text.push_str(&format!(" {}", lines.trim_start())),
                    None => text.push_str(&nested),
                }
            }
        }
        scalar => {
            lead(indent, text);
            text.push_str(&format!("{scalar}\n"));
        }
    }
}

/// Writes what comes behind a key or a dash.
fn follow(value: &Value, indent: usize, text: &mut String) {
    let is_empty = match value {
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => true,
    };
    if is_empty {
        text.push_str(&format!(" {}\n", scalar(value)))
    } else {
        text.push('\n');
        write(value, indent, text);
    }
}

fn lead(indent: usize, text: &mut String) {
    text.extend(std::iter::repeat_n(' ', indent));
}

fn key(name: &str) -> String {
    let is_plain = name.starts_with(|char: char| char.is_ascii_alphabetic())
        && name
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || "-./".contains(char));
    if is_plain {
        name.to_owned()
    } else {
        Value::from(name).to_string()
    }
}

/// A scalar, which is plain where nothing else could be meant.
fn scalar(value: &Value) -> String {
    match value.as_str() {
        Some(text) if text.contains(|char: char| char.is_ascii_uppercase()) && key(text) == text => {
            text.to_owned()
        }
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn documents_are_in_block_style() {
        let value = json!({"a": {"kind": "Pod", "list": [{"x": 1, "y": ["z"]}, "it's: \"so\""]}, "none": [], "t": true});
        let expected = "a:\n  kind: Pod\n  list:\n    - x: 1\n      y:\n        - \"z\"\n    - \"it's: \\\"so\\\"\"\nnone: []\nt: true\n";
        assert_eq!(write_document(&value), expected);
    }
}
