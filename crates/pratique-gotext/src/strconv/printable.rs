//! Which characters Go prints as they are.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, ClassUnicode, HirKind};

/// Letters, marks, numbers, punctuation and symbols of Unicode 15, the version Go knows.
static GRAPHIC: LazyLock<ClassUnicode> = LazyLock::new(|| {
    class(r"[[\p{L}\p{M}\p{N}\p{P}\p{S}]&&\p{Age=15.0}]").unwrap_or_else(ClassUnicode::empty)
});

/// Whether Go prints a character as it is between quotes, quotes and backslash aside.
///
/// ```
/// use pratique_gotext::strconv::is_printable;
///
/// assert!(is_printable('世') && !is_printable('\u{200b}'));
/// ```
// Upstream: strconv/quote.go, IsPrint
pub fn is_printable(character: char) -> bool {
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

    /// So many characters are printable to Go 1.26, and their numbers come to so much.
    #[test]
    fn all_characters() {
        let printable = ('\0'..=char::MAX).filter(|character| is_printable(*character));
        let (count, sum) = printable.fold((0, 0), |(count, sum), character| {
            (count + 1, sum + u64::from(u32::from(character)))
        });
        assert_eq!((count, sum), (148_998, 15_750_900_724));
    }

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
