//! Values in messages, as Go writes them.

use pratique_gotext::strconv::{general_form, quote};

use super::node::{MergeNode, NodeView};

/// A value as `%v` writes it.
pub(super) fn plain<'a, N: MergeNode<'a>>(value: &N) -> String {
    let mut text = String::new();
    write_plain(value, &mut text);
    text
}

fn write_plain<'a, N: MergeNode<'a>>(value: &N, text: &mut String) {
    match value.view() {
        NodeView::Null => text.push_str("<nil>"),
        NodeView::Bool(value) => text.push_str(if value { "true" } else { "false" }),
        NodeView::Int(number) => text.push_str(&number.to_string()),
        NodeView::Float(number) => text.push_str(&general_form(number)),
        NodeView::String(value) => text.push_str(value),
        NodeView::List(elements) => {
            text.push('[');
            for (at, element) in elements.iter().enumerate() {
                separate(text, at, " ");
                write_plain(element, text);
            }
            text.push(']');
        }
        NodeView::Map(members) => {
            text.push_str("map[");
            for (at, (key, member)) in members.iter().enumerate() {
                separate(text, at, " ");
                text.push_str(key);
                text.push(':');
                write_plain(member, text);
            }
            text.push(']');
        }
        NodeView::Foreign(foreign) => text.push_str(&foreign.plain),
        NodeView::ForeignNull => text.push_str("NULL_VALUE"),
        NodeView::ForeignList => text.push_str("[]"),
    }
}

/// A value as `%#v` writes it.
pub(super) fn literal<'a, N: MergeNode<'a>>(value: &N) -> String {
    let mut text = String::new();
    write_literal(value, &mut text);
    text
}

fn write_literal<'a, N: MergeNode<'a>>(value: &N, text: &mut String) {
    match value.view() {
        NodeView::Null => text.push_str("interface {}(nil)"),
        NodeView::String(value) => text.push_str(&quote(value)),
        NodeView::List(elements) => {
            text.push_str("[]interface {}{");
            for (at, element) in elements.iter().enumerate() {
                separate(text, at, ", ");
                write_literal(element, text);
            }
            text.push('}');
        }
        NodeView::Map(members) => {
            text.push_str("map[string]interface {}{");
            for (at, (key, member)) in members.iter().enumerate() {
                separate(text, at, ", ");
                text.push_str(&quote(key));
                text.push(':');
                write_literal(member, text);
            }
            text.push('}');
        }
        NodeView::Foreign(foreign) => text.push_str(&foreign.literal),
        NodeView::ForeignNull => text.push('0'),
        NodeView::ForeignList => text.push_str("[]interface {}(nil)"),
        NodeView::Bool(_) | NodeView::Int(_) | NodeView::Float(_) => write_plain(value, text),
    }
}

/// The name of a value's Go type, as `%T` writes it.
pub(super) fn type_name<'v, 'a: 'v, N: MergeNode<'a>>(value: &'v N) -> &'v str {
    match value.view() {
        NodeView::Null => "<nil>",
        NodeView::Bool(_) => "bool",
        NodeView::Int(_) => "int64",
        NodeView::Float(_) => "float64",
        NodeView::String(_) => "string",
        NodeView::List(_) | NodeView::ForeignList => "[]interface {}",
        NodeView::Map(_) => "map[string]interface {}",
        NodeView::Foreign(foreign) => &foreign.type_name,
        NodeView::ForeignNull => "structpb.NullValue",
    }
}

/// A value in a path, where it identifies an element.
pub(super) fn identifying<'a, N: MergeNode<'a>>(value: &N) -> String {
    match value.view() {
        NodeView::Null => "null".to_owned(),
        NodeView::String(text) => quote(text),
        NodeView::List(elements) => {
            let elements: Vec<String> = elements.iter().map(identifying).collect();
            format!("[{}]", elements.join(","))
        }
        NodeView::Map(members) => members
            .iter()
            .map(|(key, member)| format!("{key}={}", identifying(member)))
            .collect(),
        NodeView::Foreign(_) | NodeView::ForeignNull => "{{undefined}}".to_owned(),
        NodeView::Bool(_) | NodeView::Int(_) | NodeView::Float(_) | NodeView::ForeignList => plain(value),
    }
}

fn separate(text: &mut String, at: usize, separator: &str) {
    if at > 0 {
        text.push_str(separator);
    }
}
