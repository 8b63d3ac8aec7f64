//! Sets of characters: what classes are made of, and their case folding in the Unicode version of Go.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind, Literal};

/// Characters assigned in Unicode 15, the version Go knows.
pub(super) static KNOWN: LazyLock<ClassUnicode> = LazyLock::new(|| named(r"\p{Age=15.0}"));

/// The set that a class of `regex-syntax` names; empty where it knows none.
pub(super) fn named(pattern: &str) -> ClassUnicode {
    match regex_syntax::parse(pattern).map(regex_syntax::hir::Hir::into_kind) {
        Ok(HirKind::Class(Class::Unicode(class))) => class,
        // A set of one character.
        Ok(HirKind::Literal(Literal(bytes))) => {
            let characters = String::from_utf8_lossy(&bytes);
            ClassUnicode::new(
                characters
                    .chars()
                    .map(|character| ClassUnicodeRange::new(character, character)),
            )
        }
        _ => ClassUnicode::empty(),
    }
}

/// The characters between two code points. Surrogates are no characters: no text holds them.
pub(super) fn range(low: u32, high: u32) -> ClassUnicode {
    let mut set = ClassUnicode::empty();
    add(&mut set, low, high);
    set
}

/// Adds the characters between two code points.
pub(super) fn add(set: &mut ClassUnicode, low: u32, high: u32) {
    ranges(low, high).for_each(|range| set.push(range));
}

/// The characters between two code points.
pub(super) fn ranges(low: u32, high: u32) -> impl Iterator<Item = ClassUnicodeRange> {
    let parts = [(low, high.min(0xD7FF)), (low.max(0xE000), high)];
    parts.into_iter().filter_map(|(low, high)| {
        let (from, to) = (char::from_u32(low)?, char::from_u32(high)?);
        (low <= high).then(|| ClassUnicodeRange::new(from, to))
    })
}

/// The set and all that differs from its members in case only.
pub(super) fn folded(set: &ClassUnicode) -> ClassUnicode {
    let mut variants = set.clone();
    variants.intersect(&KNOWN);
    // Folding fails only where its tables are not compiled in.
    if variants.try_case_fold_simple().is_ok() {
        variants.intersect(&KNOWN);
        variants.union(set);
        return variants;
    }
    set.clone()
}

/// All other characters.
pub(super) fn negated(mut set: ClassUnicode) -> ClassUnicode {
    set.negate();
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(set: &ClassUnicode) -> String {
        set.iter().flat_map(|range| range.start()..=range.end()).collect()
    }

    #[test]
    fn folds() {
        let check = |character: char, expected: &str| {
            assert_eq!(
                members(&folded(&range(character.into(), character.into()))),
                expected
            );
        };
        check('k', "Kk\u{212a}");
        check('ß', "ßẞ");
        check('-', "-");
        check('σ', "Σςσ");
        // Lower-case partners that came with Unicode 16.
        check('\u{264}', "\u{264}");
        check('\u{a7cb}', "\u{a7cb}");
    }

    #[test]
    fn surrogates_are_left_out() {
        assert_eq!(
            members(&range(0xD7FE, 0xE001)),
            "\u{d7fe}\u{d7ff}\u{e000}\u{e001}"
        );
        assert_eq!(members(&range(0xD800, 0xD900)), "");
    }
}
