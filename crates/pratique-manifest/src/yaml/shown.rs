//! Values as the server's messages show them, in its own language's notation.

use pratique_cel::quote::quoted;

use super::graph::{Graph, GraphId, GraphKind};
use super::number::{Number, general, infinite};
use super::resolve::{Scalar, resolve};
use crate::tree::Style;

/// Deeper values are not shown.
const MAX_DEPTH: usize = 512;

/// A value that is shown by itself.
pub(super) fn shown(graph: &Graph<'_>, id: GraphId, depth: usize) -> String {
    let Some(node) = graph.get(id).filter(|_| depth < MAX_DEPTH) else {
        return "...".to_owned();
    };
    let mut children = graph.children(id);
    match node.kind {
        GraphKind::Alias => "...".to_owned(),
        GraphKind::Scalar(style) => {
            let text = graph.scalar(node);
            let resolved = resolve(graph.tag(node), text, style == Style::Plain, node.span);
            match resolved {
                Ok(Scalar::Null) if depth > 0 => "interface {}(nil)".to_owned(),
                Ok(scalar) => shown_scalar(&scalar),
                Err(_) => quoted(text),
            }
        }
        GraphKind::Sequence => {
            let mut items = Vec::new();
            while let Some(child) = children.next(graph) {
                items.push(shown(graph, child, depth + 1));
            }
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        GraphKind::Mapping => {
            let mut items = Vec::new();
            while let (Some(key), Some(value)) = (children.next(graph), children.next(graph)) {
                let (key, value) = (shown(graph, key, depth + 1), shown(graph, value, depth + 1));
                items.push(format!("{key}:{value}"));
            }
            // By key, which each begins with.
            items.sort();
            format!("map[interface {{}}]interface {{}}{{{}}}", items.join(", "))
        }
    }
}

pub(super) fn shown_scalar(scalar: &Scalar) -> String {
    match scalar {
        Scalar::Null => "<nil>".to_owned(),
        Scalar::Bool(value) => value.to_string(),
        Scalar::Text(text) => quoted(text),
        Scalar::Number(Number::Int(value)) => value.to_string(),
        Scalar::Number(Number::Unsigned(value)) => format!("0x{value:x}"),
        Scalar::Number(Number::Float(value)) if value.is_finite() => general(&format!("{value:e}")),
        Scalar::Number(Number::Float(value)) => infinite(*value).to_owned(),
    }
}
