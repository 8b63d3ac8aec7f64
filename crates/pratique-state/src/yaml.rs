//! Writes values as YAML, which the manifest reader reads as the same values.
//!
//! Invisible characters, and those that change how others are shown, are escaped, so that a value can be printed on a
//! terminal.

use std::fmt::Write as _;

use pratique_json::Value;
use pratique_types::is_nonprinting;

/// Writes a value in block style, indented by `indent` blanks.
pub fn block(value: &Value<'_>, indent: usize) -> String {
    let mut out = String::new();
    write_block(value, indent, &mut out);
    out
}

/// Writes a value in flow style, on one line.
pub fn flow(value: &Value<'_>) -> String {
    match value {
        Value::Object(object) => {
            let member =
                |(key, value): (&str, &Value<'_>)| format!("{}: {}", format_string(key), flow(value));
            let members: Vec<String> = object.iter().map(member).collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::Array(elements) => {
            let elements: Vec<String> = elements.iter().map(flow).collect();
            format!("[{}]", elements.join(", "))
        }
        Value::String(string) => format_string(string),
        scalar => scalar.to_string(),
    }
}

/// Writes a string, without quotes if it is unambiguous in any context.
pub fn format_string(string: &str) -> String {
    if is_plain(string) {
        string.to_owned()
    } else {
        visible(&Value::from(string).to_string())
    }
}

/// Escapes invisible characters in a double-quoted string.
fn visible(quoted: &str) -> String {
    let mut out = String::with_capacity(quoted.len());
    for character in quoted.chars() {
        let code = u32::from(character);
        let _ = match (is_nonprinting(character), code) {
            (false, _) => write!(out, "{character}"),
            (true, ..=0xffff) => write!(out, "\\u{code:04x}"),
            (true, _) => write!(out, "\\U{code:08x}"),
        };
    }
    out
}

/// Recursion is safe: the depth of documents is bounded.
fn write_block(value: &Value<'_>, indent: usize, out: &mut String) {
    let blanks = " ".repeat(indent);
    match value {
        Value::Object(object) if !object.is_empty() => {
            for (key, value) in object.iter() {
                let _ = write!(out, "{blanks}{}:", format_string(key));
                // A list within a mapping needs no further indentation.
                let deeper = if matches!(value, Value::Array(_)) {
                    indent
                } else {
                    indent + 2
                };
                write_nested(value, deeper, out);
            }
        }
        Value::Array(elements) if !elements.is_empty() => {
            for element in elements {
                write_element(element, indent, out);
            }
        }
        other => {
            let _ = writeln!(out, "{blanks}{}", flow(other));
        }
    }
}

/// Writes the value of a key.
fn write_nested(value: &Value<'_>, indent: usize, out: &mut String) {
    match value {
        Value::Object(object) if !object.is_empty() => {
            out.push('\n');
            write_block(value, indent, out);
        }
        Value::Array(elements) if !elements.is_empty() => {
            out.push('\n');
            write_block(value, indent, out);
        }
        Value::String(string) if is_literal(string) => {
            let chomp = if string.ends_with('\n') { "|" } else { "|-" };
            let _ = writeln!(out, " {chomp}");
            for line in string.lines() {
                let blanks = if line.is_empty() {
                    String::new()
                } else {
                    " ".repeat(indent)
                };
                let _ = writeln!(out, "{blanks}{line}");
            }
        }
        other => {
            let _ = writeln!(out, " {}", flow(other));
        }
    }
}

/// Writes an element of a list: its first line follows the dash.
fn write_element(element: &Value<'_>, indent: usize, out: &mut String) {
    let inner = block(element, indent + 2);
    let blanks = " ".repeat(indent);
    match inner.strip_prefix(&format!("{blanks}  ")) {
        Some(rest) => {
            let _ = write!(out, "{blanks}- {rest}");
        }
        None => {
            let _ = write!(out, "{blanks}-\n{inner}");
        }
    }
}

/// Whether a string can be written as a literal block.
fn is_literal(string: &str) -> bool {
    let lines_fit = string.lines().all(|line| line.trim_end() == line);
    let one_end = !string.ends_with("\n\n");
    let plain = !string
        .chars()
        .any(|character| is_nonprinting(character) && character != '\n');
    // CI runners interpret such lines of a log as commands.
    let no_command = !string.lines().any(|line| line.trim_start().starts_with("::"));
    string.contains('\n') && no_command && lines_fit && one_end && plain && !string.starts_with([' ', '\n'])
}

fn is_plain(string: &str) -> bool {
    let mut characters = string.chars();
    let starts = characters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '/' || first == '_');
    let inner = characters.all(|character| {
        character.is_ascii_alphanumeric()
            || ['-', '_', '.', '/', ':', ' ', '(', ')', '='].contains(&character)
    });
    starts
        && inner
        && !string.ends_with([' ', ':'])
        && !string.contains(": ")
        && !MEANING.contains(&string.to_ascii_lowercase().as_str())
}

/// Plain scalars that are not strings in YAML 1.1.
const MEANING: [&str; 10] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "_"];

#[cfg(test)]
mod tests {
    use pratique_manifest::{ManifestFile, read_documents};

    use super::*;
    use pratique_manifest::convert::convert;

    fn value(json: &str) -> Value<'static> {
        pratique_json::parse(json.as_bytes()).unwrap().into_owned()
    }

    fn read(yaml: &str) -> Value<'static> {
        let file = ManifestFile {
            path: "f.yaml".to_owned(),
            content: yaml.as_bytes().to_vec(),
        };
        let documents = read_documents(&file).unwrap();
        let source = &documents[0].source;
        convert(source.tree(), source.root())
    }

    #[track_caller]
    fn check(json: &str, expected: &str) {
        let value = value(json);
        let written = block(&value, 0);
        assert_eq!(written, expected);
        assert_eq!(read(&written), value);
        assert_eq!(read(&format!("k: {}\n", flow(&value))).get("k"), Some(&value));
    }

    #[test]
    fn values_are_written_in_blocks() {
        check(
            r#"{"a":{"b":[1,{"c":"d","e":[]},[2]],"f":{}},"g":null}"#,
            "a:\n  b:\n  - 1\n  - c: d\n    e: []\n  - - 2\n  f: {}\ng: null\n",
        );
    }

    #[test]
    fn strings_stay_strings() {
        check(
            r#"{"a":"yes","b":"1","c":"a: b","d":"","e":"- x","f":"two\nlines\n","g":"x\n  y","h":" lead\nx","i":"tab\t","j":"r.io/a:1"}"#,
            "a: \"yes\"\nb: \"1\"\nc: \"a: b\"\nd: \"\"\ne: \"- x\"\nf: |\n  two\n  lines\ng: |-\n  x\n    y\nh: \" lead\\nx\"\ni: \"tab\\t\"\nj: r.io/a:1\n",
        );
    }

    #[test]
    fn what_is_not_seen_is_escaped() {
        check(
            r#"{"\u202ea":"\u009b1m\u007f","b":"x\n\u200by","c":"x\n ::stop-commands::y","d":"\ud800\udc00\udb40\udc41"}"#,
            "b: \"x\\n\\u200by\"\nc: \"x\\n ::stop-commands::y\"\nd: \"\u{10000}\\U000e0041\"\n\"\\u202ea\": \"\\u009b1m\\u007f\"\n",
        );
    }
}
