//! Sources with odd spacing, and sources that are broken.

use pratique_harness::RandomDice;

use super::sketch::{OF_EXPRESSIONS, SketchTable};
use super::tree::ExpressionTree;

/// The source of an expression, now and then with blanks and comments between its parts, now and then broken.
pub(super) fn source(tree: &ExpressionTree, dice: &mut RandomDice) -> String {
    let written = if dice.chance(12) {
        tree.source(&mut || {
            if dice.chance(30) {
                OF_EXPRESSIONS.word("between", dice)
            } else {
                ""
            }
        })
    } else {
        tree.plain()
    };
    if dice.chance(8) {
        broken(&written, (&OF_EXPRESSIONS, "broken piece"), dice)
    } else {
        written
    }
}

/// A text with a mistake or two, for which there are pieces.
pub(super) fn broken(text: &str, (sketches, pieces): (&SketchTable, &str), dice: &mut RandomDice) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..1 + dice.below(2) {
        let at = dice.below(characters.len() + 1);
        let end = (at + 1 + dice.below(3)).min(characters.len());
        let piece = sketches.word(pieces, dice).chars();
        match dice.below(4) {
            0 => drop(characters.drain(at.min(end)..end)),
            1 => characters.truncate(at),
            2 => drop(characters.splice(at.min(end)..end, piece)),
            _ => drop(characters.splice(at..at, piece)),
        }
    }
    characters.into_iter().collect()
}
