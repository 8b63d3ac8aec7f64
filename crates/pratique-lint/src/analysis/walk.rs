//! Walks over the live nodes of an expression.

use std::ops::Range;

use pratique_cel::ast::{Ast, Expr, ExprId, Literal};

use super::fold::FoldedExpression;

/// A range of bytes of an expression's text.
pub(crate) type TextRange = Range<usize>;

/// The nodes that can affect the result of a folded expression.
pub(crate) fn live_nodes(ast: &Ast, folded: &FoldedExpression) -> Vec<ExprId> {
    let mut pending = vec![ast.root];
    let mut live = Vec::new();
    let mut visited = vec![false; ast.len()];
    while let Some(id) = pending.pop() {
        let is_visited = visited.get_mut(id.0 as usize);
        if folded.is_dead(id) || is_visited.is_none_or(|is_visited| std::mem::replace(is_visited, true)) {
            continue;
        }
        live.push(id);
        ast.expr(id).for_each_child(|child| pending.push(child));
    }
    live
}

/// The string constant of a node.
pub(crate) fn constant_key(ast: &Ast, id: ExprId) -> Option<&str> {
    match ast.expr(id) {
        Expr::Literal(Literal::String(text)) => Some(text),
        _ => None,
    }
}

/// The identifier at the start of a field chain, and its node.
pub(crate) fn ident_path(ast: &Ast, id: ExprId) -> Option<(ExprId, &str)> {
    let mut at = id;
    loop {
        match ast.expr(at) {
            Expr::Ident(name) => return Some((at, name)),
            Expr::Select { operand, .. } => at = *operand,
            Expr::Call {
                function,
                target: None,
                args,
            } if matches!(&**function, "_[_]" | "_?._" | "_[?_]") => {
                at = *args.first()?;
            }
            _ => return None,
        }
    }
}

/// A chain of fields, keys and indices, in the usual form.
pub(crate) fn chain_text(ast: &Ast, node: ExprId) -> Option<String> {
    let key_text = |key: ExprId| match ast.expr(key) {
        Expr::Literal(Literal::String(key)) => format!("'{key}'"),
        Expr::Literal(Literal::Int(index)) => index.to_string(),
        _ => "…".to_owned(),
    };
    Some(match ast.expr(node) {
        Expr::Ident(name) => name.to_string(),
        Expr::Select { operand, field, .. } => format!("{}.{field}", chain_text(ast, *operand)?),
        Expr::Call { function, args, .. } => match (&**function, args.as_slice()) {
            ("_[_]", [operand, key]) => format!("{}[{}]", chain_text(ast, *operand)?, key_text(*key)),
            ("_[?_]", [operand, key]) => format!("{}[?{}]", chain_text(ast, *operand)?, key_text(*key)),
            ("_?._", [operand, key]) => {
                format!("{}.?{}", chain_text(ast, *operand)?, constant_key(ast, *key)?)
            }
            _ => return None,
        },
        _ => return None,
    })
}

/// A chain as [`chain_text`] has it, and where it is: all of it, if it is written so.
pub(crate) fn chain_place(ast: &Ast, id: ExprId) -> (TextRange, String) {
    let id = read_chain(ast, id);
    let place = place_of(ast, id);
    let text = ast.source.as_str();
    let written = || text.get(place.clone()).unwrap_or_default().to_owned();
    let name = chain_text(ast, id).unwrap_or_else(written);
    let is_written = text
        .get(place.start..)
        .is_some_and(|rest| rest.starts_with(&name));
    let end = if is_written {
        place.start + name.len()
    } else {
        place.end
    };
    (place.start..end, name)
}

/// The chain of an optional value whose value, or another one in its place, a node is; the node itself otherwise.
fn read_chain(ast: &Ast, id: ExprId) -> ExprId {
    let mut at = id;
    while let Expr::Call {
        function,
        target: Some(target),
        ..
    } = ast.expr(at)
        && matches!(&**function, "orValue" | "value")
    {
        at = *target;
    }
    at
}

/// The range of the field chain that a node is part of: from its first name to the end of its last.
pub(crate) fn place_of(ast: &Ast, id: ExprId) -> TextRange {
    let text = ast.source.as_str();
    let node = ident_path(ast, id).map_or(id, |(ident, _)| ident);
    let start = byte_offset(text, ast.node(node).offset);
    let rest = text.get(start..).unwrap_or_default();
    let length = rest
        .find(|c: char| !(c == '_' || c == '.' || c.is_alphanumeric()))
        .unwrap_or(rest.len());
    let mut name = rest.get(..length).unwrap_or_default().trim_end_matches('.');
    if rest.get(length..).is_some_and(|after| after.starts_with('(')) {
        // A called function is not a field.
        name = name.rsplit_once('.').map_or(name, |(holder, _)| holder);
    }
    start..start + name.len().max(1)
}

/// The byte offset of a code point.
pub(crate) fn byte_offset(text: &str, code_point: u32) -> usize {
    text.char_indices()
        .nth(code_point as usize)
        .map_or(text.len(), |(at, _)| at)
}
