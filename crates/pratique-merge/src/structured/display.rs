//! Values in messages, as Go writes them.

use pratique_gotext::strconv::{general_form, quote};

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
        View::Float(number) => text.push_str(&general_form(number)),
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

fn separate(text: &mut String, at: usize, separator: &str) {
    if at > 0 {
        text.push_str(separator);
    }
}
