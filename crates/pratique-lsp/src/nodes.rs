//! The names in an expression and where they are.

use std::ops::Range;

use pratique_cel::ast::{Ast, Expr, ExprId};

/// The kind of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameKind {
    Variable,
    Field,
    Function,
    Type,
}

/// A name that an expression has.
#[derive(Clone, Debug)]
pub(crate) struct NamedNode {
    pub(crate) id: ExprId,
    pub(crate) kind: NameKind,
    /// Its bytes in the text.
    pub(crate) range: Range<usize>,
}

/// The names of an expression, in the order of the text. What macros made is left out.
pub(crate) fn names(ast: &Ast) -> Vec<NamedNode> {
    let text = ast.source.as_str();
    let starts: Vec<usize> = text
        .char_indices()
        .map(|(at, _)| at)
        .chain([text.len()])
        .collect();
    let mut names: Vec<NamedNode> = ast
        .ids()
        .filter_map(|id| {
            let at = *starts.get(ast.node(id).offset as usize)?;
            let (kind, name) = match ast.expr(id) {
                Expr::Ident(name) => (NameKind::Variable, name),
                Expr::Select { field, .. } => (NameKind::Field, field),
                Expr::Struct { type_name, .. } => (NameKind::Type, type_name),
                Expr::Call { function, .. } => (NameKind::Function, function),
                _ => return None,
            };
            let name = name.strip_prefix('.').unwrap_or(name);
            let range = find(text, at, name, kind)?;
            Some(NamedNode { id, kind, range })
        })
        .collect();
    names.sort_by_key(|name| (name.range.start, name.range.end));
    names.dedup_by_key(|name| name.range.clone());
    names
}

/// The name that a byte is in or right behind.
pub(crate) fn name_at(ast: &Ast, offset: usize) -> Option<NamedNode> {
    names(ast)
        .into_iter()
        .find(|name| (name.range.start..=name.range.end).contains(&offset))
}

/// Where a name is, of which the place `at` is known that errors point to: its start, the dot before it, or the parenthesis
/// behind it.
fn find(text: &str, at: usize, name: &str, kind: NameKind) -> Option<Range<usize>> {
    if !name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        return None;
    }
    let here = |start: usize| -> Option<Range<usize>> {
        let end = start + name.len();
        (text.get(start..end)? == name).then_some(start..end)
    };
    let end = text.get(..at)?.trim_end().len();
    let behind = || {
        let rest = text.get(at..)?;
        here(at + rest.find(name)?)
    };
    match kind {
        NameKind::Variable => here(at),
        NameKind::Field => behind(),
        NameKind::Function | NameKind::Type => here(at)
            .or_else(|| here(end.checked_sub(name.len())?))
            .or_else(behind),
    }
}

#[cfg(test)]
mod tests {
    use pratique_cel::Environment;

    use super::*;

    #[test]
    fn names_are_found() {
        let text = "has(object.spec) && object.spec.all(c, c.name.startsWith('ä') || size(c.b) > 1)";
        let ast = Environment::kubernetes().parse(text).unwrap();
        let all: Vec<_> = names(&ast)
            .into_iter()
            .map(|name| (text.get(name.range).unwrap(), name.kind))
            .collect();
        let expected = [
            ("object", NameKind::Variable),
            ("spec", NameKind::Field),
            ("object", NameKind::Variable),
            ("spec", NameKind::Field),
            ("c", NameKind::Variable),
            ("c", NameKind::Variable),
            ("name", NameKind::Field),
            ("startsWith", NameKind::Function),
            ("size", NameKind::Function),
            ("c", NameKind::Variable),
            ("b", NameKind::Field),
        ];
        assert_eq!(all, expected);
    }
}
