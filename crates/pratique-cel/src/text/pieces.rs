//! Strings taken apart and put together: replacing, splitting, trimming, ASCII case.

use std::borrow::Cow;
use std::str::SplitN;

use crate::error::Fault;
use crate::meter::WorkMeter;

/// The text with the first `limit` occurrences replaced; all of them where the limit is negative.
///
/// The empty pattern is found before each character and at the end.
pub(crate) fn replace<'a, M: WorkMeter>(
    meter: &M,
    text: &'a str,
    (pattern, replacement): (&str, &str),
    limit: i64,
) -> Result<Cow<'a, str>, Fault> {
    /// The work of a replacement besides its bytes.
    const PLACE: usize = 16;
    if limit == 0 || pattern == replacement || !text.contains(pattern) {
        return Ok(Cow::Borrowed(text));
    }
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut replaced = String::with_capacity(text.len());
    let mut end = 0;
    for (start, occurrence) in text.match_indices(pattern).take(limit) {
        let between = text.get(end..start).unwrap_or_default();
        meter.work((PLACE + between.len() + replacement.len()) as u64)?;
        replaced.push_str(between);
        replaced.push_str(replacement);
        end = start + occurrence.len();
    }
    replaced.push_str(text.get(end..).unwrap_or_default());
    Ok(Cow::Owned(replaced))
}

/// The pieces between separators: at most `limit`, the last with the rest of the text; all where the limit is
/// negative, none where it is 0. The empty separator splits into characters.
pub(crate) fn split<'a, 's>(text: &'a str, separator: &'s str, limit: i64) -> TextPieces<'a, 's> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    match separator {
        "" => TextPieces::Characters(text, limit),
        separator => TextPieces::Separated(text.splitn(limit, separator)),
    }
}

/// The pieces of a text.
#[derive(Clone, Debug)]
pub(crate) enum TextPieces<'a, 's> {
    /// Those between separators.
    Separated(SplitN<'a, &'s str>),
    /// The characters of a text, so many at most; of more than these, the last piece is the rest of the text.
    Characters(&'a str, usize),
}

impl<'a> Iterator for TextPieces<'a, '_> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        match self {
            TextPieces::Separated(pieces) => pieces.next(),
            TextPieces::Characters(rest, left) => {
                *left = left.checked_sub(1)?;
                let end = match *left {
                    0 => rest.len(),
                    _ => rest.chars().next()?.len_utf8(),
                };
                let (piece, after) = rest.split_at_checked(end)?;
                *rest = after;
                (!piece.is_empty()).then_some(piece)
            }
        }
    }
}

/// The text without Unicode white space at its ends, as Go's `TrimSpace`.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(char::is_whitespace)
}

/// The text with `A` to `Z` in lower case.
pub(crate) fn lower_ascii(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(text.to_ascii_lowercase())
    } else {
        Cow::Borrowed(text)
    }
}

/// The text with `a` to `z` in upper case.
pub(crate) fn upper_ascii(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|byte| byte.is_ascii_lowercase()) {
        Cow::Owned(text.to_ascii_uppercase())
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::UnmeteredWork;

    #[test]
    fn replaces() {
        let check = |text, pattern, replacement, limit, expected: &str| {
            let replaced = replace(&UnmeteredWork, text, (pattern, replacement), limit);
            assert_eq!(replaced.unwrap(), expected);
        };
        check("hello hello", "he", "we", -1, "wello wello");
        check("hello hello", "he", "we", 1, "wello hello");
        check("hello hello", "he", "we", 0, "hello hello");
        check("hello", "", "_", -1, "_h_e_l_l_o_");
        check("hello", "", "_", 2, "_h_ello");
        check("", "", "x", 1, "x");
        check("é", "", "-", 5, "-é-");
        check("aaa", "aa", "b", -5, "ba");
    }

    #[test]
    fn splits() {
        let check = |text, separator, limit, expected: &[&str]| {
            assert_eq!(split(text, separator, limit).collect::<Vec<_>>(), expected);
        };
        check("a,b,c", ",", -1, &["a", "b", "c"]);
        check("a,b,c", ",", 2, &["a", "b,c"]);
        check("a,b,c", ",", 1, &["a,b,c"]);
        check("a,b,c", ",", 0, &[]);
        check("", ",", -1, &[""]);
        check("", "", -1, &[]);
        check("", "", 1, &[]);
        check("aéb", "", -1, &["a", "é", "b"]);
        check("aéb", "", 2, &["a", "éb"]);
        check("aéb", "", 3, &["a", "é", "b"]);
        check(",", ",", -1, &["", ""]);
    }

    #[test]
    fn trims() {
        assert_eq!(
            trim("\u{85}\u{a0}\u{1680}\u{2009}\u{3000} a\u{200b} b\u{feff}\t\u{b}"),
            "a\u{200b} b\u{feff}"
        );
    }

    #[test]
    fn ascii_case() {
        assert_eq!(lower_ascii("TacoCÆt"), "tacocÆt");
        assert_eq!(upper_ascii("tacoCæt"), "TACOCæT");
    }

    /// Takes so many units of work.
    struct Bounded(std::cell::Cell<u64>);

    impl WorkMeter for Bounded {
        fn work(&self, units: u64) -> Result<(), Fault> {
            let left = self.0.get().checked_sub(units);
            self.0.set(left.ok_or_else(Fault::no_such_overload)?);
            Ok(())
        }

        fn reserve(&self, _: usize) -> Result<(), Fault> {
            Ok(())
        }
    }

    #[test]
    fn replacements_count_as_work() {
        let text = "ab".repeat(1_000);
        let replaced = |units: u64| replace(&Bounded(units.into()), &text, ("a", "xyz"), -1);
        assert!(replaced(1_000).is_err());
        assert_eq!(replaced(100_000).unwrap(), "xyzb".repeat(1_000));
    }
}
