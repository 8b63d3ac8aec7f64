//! Values in messages, as Go writes them.

use std::fmt::Write as _;

use super::node::{Node, View};

/// A value as `%v` writes it.
pub(super) fn plain<'a, N: Node<'a>>(value: &N) -> String {
    let mut text = String::new();
    write_plain(value, &mut text);
    text
}

fn write_plain<'a, N: Node<'a>>(value: &N, text: &mut String) {
    match value.view() {
        View::Null => text.push_str("<nil>"),
        View::Bool(value) => text.push_str(if value { "true" } else { "false" }),
        View::Int(number) => text.push_str(&number.to_string()),
        View::Float(number) => text.push_str(&float(number)),
        View::String(value) => text.push_str(value),
        View::List(elements) => {
            text.push('[');
            for (at, element) in elements.iter().enumerate() {
                separate(text, at, " ");
                write_plain(element, text);
            }
            text.push(']');
        }
        View::Map(members) => {
            text.push_str("map[");
            for (at, (key, member)) in members.iter().enumerate() {
                separate(text, at, " ");
                text.push_str(key);
                text.push(':');
                write_plain(member, text);
            }
            text.push(']');
        }
        View::Foreign(foreign) => text.push_str(&foreign.plain),
        View::ForeignNull => text.push_str("NULL_VALUE"),
        View::ForeignList => text.push_str("[]"),
    }
}

/// A value as `%#v` writes it.
pub(super) fn literal<'a, N: Node<'a>>(value: &N) -> String {
    let mut text = String::new();
    write_literal(value, &mut text);
    text
}

fn write_literal<'a, N: Node<'a>>(value: &N, text: &mut String) {
    match value.view() {
        View::Null => text.push_str("interface {}(nil)"),
        View::String(value) => text.push_str(&quote(value)),
        View::List(elements) => {
            text.push_str("[]interface {}{");
            for (at, element) in elements.iter().enumerate() {
                separate(text, at, ", ");
                write_literal(element, text);
            }
            text.push('}');
        }
        View::Map(members) => {
            text.push_str("map[string]interface {}{");
            for (at, (key, member)) in members.iter().enumerate() {
                separate(text, at, ", ");
                text.push_str(&quote(key));
                text.push(':');
                write_literal(member, text);
            }
            text.push('}');
        }
        View::Foreign(foreign) => text.push_str(&foreign.literal),
        View::ForeignNull => text.push('0'),
        View::ForeignList => text.push_str("[]interface {}(nil)"),
        View::Bool(_) | View::Int(_) | View::Float(_) => write_plain(value, text),
    }
}

/// The name of a value's Go type, as `%T` writes it.
pub(super) fn type_name<'v, 'a: 'v, N: Node<'a>>(value: &'v N) -> &'v str {
    match value.view() {
        View::Null => "<nil>",
        View::Bool(_) => "bool",
        View::Int(_) => "int64",
        View::Float(_) => "float64",
        View::String(_) => "string",
        View::List(_) | View::ForeignList => "[]interface {}",
        View::Map(_) => "map[string]interface {}",
        View::Foreign(foreign) => &foreign.type_name,
        View::ForeignNull => "structpb.NullValue",
    }
}

/// A value in a path, where it identifies an element.
pub(super) fn identifying<'a, N: Node<'a>>(value: &N) -> String {
    match value.view() {
        View::Null => "null".to_owned(),
        View::String(text) => quote(text),
        View::List(elements) => {
            let elements: Vec<String> = elements.iter().map(identifying).collect();
            format!("[{}]", elements.join(","))
        }
        View::Map(members) => members
            .iter()
            .map(|(key, member)| format!("{key}={}", identifying(member)))
            .collect(),
        View::Foreign(_) | View::ForeignNull => "{{undefined}}".to_owned(),
        View::Bool(_) | View::Int(_) | View::Float(_) | View::ForeignList => plain(value),
    }
}

/// A string as `%q` writes it.
pub(super) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\t' => quoted.push_str("\\t"),
            '\n' => quoted.push_str("\\n"),
            '\u{b}' => quoted.push_str("\\v"),
            '\u{c}' => quoted.push_str("\\f"),
            '\r' => quoted.push_str("\\r"),
            other if other.is_ascii_control() => escape(&mut quoted, 'x', 2, other),
            other if is_hidden(other) && other <= '\u{ffff}' => escape(&mut quoted, 'u', 4, other),
            other if is_hidden(other) => escape(&mut quoted, 'U', 8, other),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

fn escape(text: &mut String, letter: char, digits: usize, character: char) {
    // Writing to a string cannot fail.
    let _ = write!(text, "\\{letter}{:0digits$x}", u32::from(character));
}

/// Whether Go escapes a character beyond ASCII. So does the standard library, except that it escapes combining
/// marks too where they come first.
fn is_hidden(character: char) -> bool {
    !character.is_ascii() && ['a', character].iter().collect::<String>().escape_debug().count() > 2
}

/// A number as `%v` writes it: with an exponent below 1e-4 and from 1e6 up.
fn float(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    if number.is_nan() {
        return "NaN".to_owned();
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        return format!("{number}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

fn separate(text: &mut String, at: usize, separator: &str) {
    if at > 0 {
        text.push_str(separator);
    }
}
