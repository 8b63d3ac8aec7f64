//! Sources with odd spacing, and sources that are broken.

use pratique_harness::Dice;

use super::tree::Tree;

/// The source of an expression, now and then with blanks and comments between its parts, now and then broken.
pub(super) fn source(tree: &Tree, dice: &mut Dice) -> String {
    const BETWEEN: &[&str] = &[" ", "\n", "\t", "  \n ", " // c\n", "\r\n", "\u{c}"];
    let written = match dice.chance(12) {
        true => tree.source(&mut || match dice.chance(30) {
            true => dice.pick(BETWEEN).copied().unwrap_or_default(),
            false => "",
        }),
        false => tree.plain(),
    };
    match dice.chance(8) {
        true => broken(&written, dice),
        false => written,
    }
}

/// A source with a mistake or two.
fn broken(source: &str, dice: &mut Dice) -> String {
    const PIECES: &[&str] = &[
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ".",
        ".?",
        "[?",
        "?",
        ":",
        "'",
        "\"",
        "+",
        "-",
        "!",
        "==",
        "=",
        "&&",
        "&",
        "||",
        "|",
        "in",
        " as ",
        "a",
        "1",
        "1.",
        "0x",
        "u",
        "`",
        "`a b`",
        "@",
        "#",
        "$",
        "\\",
        "日",
        "👩‍🚀",
        "\u{301}",
        "\t",
        "\n",
        "//",
        "r'",
        "b'",
        "'''",
        "true",
        "null",
        "if",
        "var",
        "package",
        "..",
        "1u2",
        "\u{200b}",
        "\u{feff}",
        "\u{a0}",
        "%",
        ";",
    ];
    with(PIECES, source, dice)
}

/// A text with a mistake or two, for which there are these pieces.
pub(super) fn with(pieces: &[&str], text: &str, dice: &mut Dice) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..1 + dice.below(2) {
        let at = dice.below(characters.len() + 1);
        let end = (at + 1 + dice.below(3)).min(characters.len());
        let piece: Vec<char> = dice.pick(pieces).copied().unwrap_or_default().chars().collect();
        match dice.below(4) {
            0 => {
                characters.drain(at.min(end)..end);
            }
            1 => {
                characters.truncate(at);
            }
            2 => {
                characters.splice(at.min(end)..end, piece);
            }
            _ => {
                characters.splice(at..at, piece);
            }
        }
    }
    characters.into_iter().collect()
}
