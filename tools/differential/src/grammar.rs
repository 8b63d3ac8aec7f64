//! The productions of expressions, read from the texts next to this module.
//!
//! A line `type: template` says that the template has the type. In a template `{type}` is a hole for any expression of
//! that type, `{=type}` one whose type the checker must know, `$type` a new variable that the holes after it may use.
//! Capital letters stand for one type throughout a line. `type ~ template` is a template of type `dyn` that mostly has
//! a value of the type, `type ! template` one that may not compile; `3*` in front makes a line count three times.
//! A type that begins with `~` is a class of texts. `{@int}` and the like are made up by the generator.

use super::types::GrammarType;

/// One way to make an expression of a type.
#[derive(Clone, Debug)]
pub(super) struct GrammarProduction {
    /// The type of what it makes.
    pub(super) of: GrammarType,
    /// Its properties.
    pub(super) sort: ProductionSort,
    /// How often it counts.
    pub(super) weight: usize,
    /// The template.
    pub(super) pieces: Vec<TemplatePiece>,
}

/// The properties of a production.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProductionSort {
    /// It has its type.
    Static,
    /// For the checker it is `dyn`.
    Dynamic,
    /// It may not compile.
    Doubtful,
}

/// A piece of a template.
#[derive(Clone, Debug)]
pub(super) enum TemplatePiece {
    /// Text as it is.
    Text(String),
    /// An expression.
    Hole {
        /// Of this type.
        of: GrammarType,
        /// Whether the checker must know its type.
        exact: bool,
    },
    /// A new variable of a type.
    Variable(GrammarType),
}

/// The environments that productions belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GrammarPart {
    /// The language, always there.
    Base,
    /// What the inputs of expressions by themselves hold.
    Inputs,
    /// With `params`.
    Params,
    /// With `authorizer`.
    Authorizer,
    /// With the types of mutations.
    PatchTypes,
}

/// The productions of a part.
pub(super) fn productions(part: GrammarPart) -> Vec<GrammarProduction> {
    let texts: &[&str] = match part {
        GrammarPart::Base => &[
            include_str!("grammar/literals.txt"),
            include_str!("grammar/operators.txt"),
            include_str!("grammar/functions.txt"),
            include_str!("grammar/kubernetes.txt"),
            include_str!("grammar/macros.txt"),
        ],
        GrammarPart::Inputs => &[include_str!("grammar/inputs.txt")],
        GrammarPart::Params => &[include_str!("grammar/params.txt")],
        GrammarPart::Authorizer => &[include_str!("grammar/authorizer.txt")],
        GrammarPart::PatchTypes => &[include_str!("grammar/patch_types.txt")],
    };
    texts.iter().flat_map(|text| lines(text)).collect()
}

/// The productions of a text.
pub(super) fn lines(text: &str) -> impl Iterator<Item = GrammarProduction> {
    text.lines().filter_map(read)
}

/// Reads a line; comments and empty lines are none.
pub(super) fn read(line: &str) -> Option<GrammarProduction> {
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let (weight, rest) = match line.split_once('*') {
        Some((weight, rest)) if weight.len() == 1 => (weight.parse().ok()?, rest),
        _ => (1, line),
    };
    let separators = [
        (": ", ProductionSort::Static),
        (" ~ ", ProductionSort::Dynamic),
        (" ! ", ProductionSort::Doubtful),
    ];
    let (at, length, sort) = separators
        .iter()
        .filter_map(|(separator, sort)| Some((rest.find(separator)?, separator.len(), *sort)))
        .min_by_key(|(at, ..)| *at)?;
    Some(GrammarProduction {
        of: GrammarType::parse(rest.get(..at)?),
        sort,
        weight,
        pieces: pieces(rest.get(at + length..)?),
    })
}

fn pieces(template: &str) -> Vec<TemplatePiece> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '$', '\\']) {
        let (text, marked) = rest.split_at(at);
        push_text(&mut pieces, text);
        let (piece, after) = piece(marked);
        match piece {
            TemplatePiece::Text(text) => push_text(&mut pieces, &text),
            other => pieces.push(other),
        }
        rest = after;
    }
    push_text(&mut pieces, rest);
    pieces
}

fn push_text(pieces: &mut Vec<TemplatePiece>, text: &str) {
    match pieces.last_mut() {
        Some(TemplatePiece::Text(last)) => last.push_str(text),
        _ if text.is_empty() => {}
        _ => pieces.push(TemplatePiece::Text(text.to_owned())),
    }
}

/// The piece at the start of a text, and what follows it. `\{` and `\$` are a brace and a dollar, `\N` is a newline.
fn piece(marked: &str) -> (TemplatePiece, &str) {
    let mut characters = marked.chars();
    let first = characters.next();
    let after = characters.as_str();
    match first {
        Some('\\') => match after.chars().next() {
            Some(escaped @ ('{' | '$')) => {
                (TemplatePiece::Text(escaped.to_string()), characters_after(after))
            }
            Some('N') => (TemplatePiece::Text("\n".to_owned()), characters_after(after)),
            _ => (TemplatePiece::Text("\\".to_owned()), after),
        },
        Some('{') => {
            let (inner, rest) = after.split_once('}').unwrap_or((after, ""));
            let of = GrammarType::parse(inner.strip_prefix('=').unwrap_or(inner));
            let exact = inner.starts_with('=');
            (TemplatePiece::Hole { of, exact }, rest)
        }
        _ => {
            let end = variable_end(after);
            let (name, rest) = after.split_at(end);
            (TemplatePiece::Variable(GrammarType::parse(name)), rest)
        }
    }
}

fn characters_after(text: &str) -> &str {
    let mut characters = text.chars();
    characters.next();
    characters.as_str()
}

/// Where the type after a `$` ends: at the comma after it.
fn variable_end(text: &str) -> usize {
    let mut depth = 0usize;
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            ',' | ')' if depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_can_be_read() {
        for part in [
            GrammarPart::Base,
            GrammarPart::Inputs,
            GrammarPart::Params,
            GrammarPart::Authorizer,
            GrammarPart::PatchTypes,
        ] {
            assert!(!productions(part).is_empty(), "{part:?}");
        }
    }

    #[test]
    fn templates() {
        let check = |line: &str, expected: &str| {
            let shown = read(line).map(|production| {
                let pieces: Vec<String> = production
                    .pieces
                    .iter()
                    .map(|piece| format!("{piece:?}"))
                    .collect();
                format!("{}x{} {}", production.weight, production.of, pieces.len())
            });
            assert_eq!(shown.as_deref(), Some(expected), "{line}");
        };
        check("bool: ({A} == {A})", "1xbool 5");
        check(
            "3*map(K, V): {map(K, V)}.transformMap($K, $map(K, V), {V})",
            "3xmap(K, V) 8",
        );
        check("map(string, int): \\{'a': 1}", "1xmap(string, int) 1");
    }
}
