//! Names in expressions, for editors that colour them.

use std::borrow::Cow;

use lsp_types::{Position, SemanticToken, SemanticTokenType};

use crate::analysis::ManifestAnalysis;
use crate::hover::range;
use crate::nodes::{NameKind, names};
use crate::text::IndexedText;

/// The kinds of tokens, in the order of their numbers.
pub(crate) const TYPES: [SemanticTokenType; 4] = [
    SemanticTokenType::VARIABLE,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::TYPE,
];

/// The tokens of a file, each relative to the one before.
pub(crate) fn of_file(analysis: &ManifestAnalysis, file: &str, text: &IndexedText) -> Vec<SemanticToken> {
    let mut tokens: Vec<(Position, u32, u32)> = Vec::new();
    for expression in &analysis.expressions {
        if **expression.source.document().file() != *file {
            continue;
        }
        // What has the wrong types keeps its colours.
        let ast = match &expression.checked {
            Some(checked) => Ok(Cow::Borrowed(&checked.ast)),
            None => expression
                .environment
                .parse(expression.text.as_str())
                .map(Cow::Owned),
        };
        let Ok(ast) = ast else { continue };
        for name in names(&ast) {
            let range = range(expression, name.range, text);
            if range.start.line != range.end.line {
                continue;
            }
            let number = match name.kind {
                NameKind::Variable => 0,
                NameKind::Field => 1,
                NameKind::Function => 2,
                NameKind::Type => 3,
            };
            tokens.push((
                range.start,
                range.end.character.saturating_sub(range.start.character),
                number,
            ));
        }
    }
    tokens.sort_unstable();
    let mut last = Position::default();
    let relative = tokens.into_iter().map(|(at, length, token_type)| {
        let delta_line = at.line - last.line;
        let delta_start = match delta_line {
            0 => at.character.saturating_sub(last.character),
            _ => at.character,
        };
        last = at;
        SemanticToken {
            delta_line,
            delta_start,
            length,
            token_type,
            token_modifiers_bitset: 0,
        }
    });
    relative.collect()
}
