//! Which characters Go prints as they are between quotes.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, ClassUnicode, HirKind};

/// Letters, marks, numbers, punctuation and symbols of Unicode 15, the version Go knows.
static GRAPHIC: LazyLock<ClassUnicode> = LazyLock::new(|| {
    class(r"[[\p{L}\p{M}\p{N}\p{P}\p{S}]&&\p{Age=15.0}]").unwrap_or_else(ClassUnicode::empty)
});

/// Whether Go's `strconv.Quote` leaves a character as it is, quotes and backslash aside.
pub(super) fn is_printable(character: char) -> bool {
    if character.is_ascii() {
        return (' '..='~').contains(&character);
    }
    let ranges = GRAPHIC.ranges();
    let after = ranges.partition_point(|range| range.end() < character);
    ranges.get(after).is_some_and(|range| range.start() <= character)
}

/// The class of characters that a pattern of `regex-syntax` names.
fn class(pattern: &str) -> Option<ClassUnicode> {
    match regex_syntax::parse(pattern).ok()?.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printable_characters() {
        for character in [' ', 'a', '~', 'é', '世', '·', '\u{300}', '\u{1F600}'] {
            assert!(is_printable(character), "{character:?}");
        }
        for character in [
            '\n',
            '\u{7f}',
            '\u{a0}',
            '\u{ad}',
            '\u{200b}',
            '\u{e000}',
            '\u{2028}',
            '\u{10ffff}',
        ] {
            assert!(!is_printable(character), "{character:?}");
        }
    }
}
