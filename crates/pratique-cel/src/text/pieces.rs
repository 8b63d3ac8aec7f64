//! Strings taken apart and put together: replacing, splitting, trimming, ASCII case.

use std::borrow::Cow;

/// The text with the first `limit` occurrences replaced; all of them where the limit is negative.
///
/// The empty pattern is found before each character and at the end.
pub fn replace<'a>(text: &'a str, pattern: &str, replacement: &str, limit: i64) -> Cow<'a, str> {
    if limit == 0 || pattern == replacement || !text.contains(pattern) {
        return Cow::Borrowed(text);
    }
    match usize::try_from(limit) {
        Ok(limit) => Cow::Owned(text.replacen(pattern, replacement, limit)),
        Err(_) => Cow::Owned(text.replace(pattern, replacement)),
    }
}

/// The pieces between separators: at most `limit`, the last with the rest of the text; all where the limit is
/// negative, none where it is 0. The empty separator splits into characters.
pub fn split<'a>(text: &'a str, separator: &str, limit: i64) -> Vec<&'a str> {
    let limit = match limit {
        0 => return Vec::new(),
        limit => usize::try_from(limit).unwrap_or(usize::MAX),
    };
    if separator.is_empty() {
        return characters(text, limit);
    }
    text.splitn(limit, separator).collect()
}

/// The text without white space at its ends: what Unicode calls white space, as Go's `TrimSpace`.
pub fn trim(text: &str) -> &str {
    text.trim_matches(char::is_whitespace)
}

/// The text with `A` to `Z` in lower case.
pub fn lower_ascii(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(text.to_ascii_lowercase())
    } else {
        Cow::Borrowed(text)
    }
}

/// The text with `a` to `z` in upper case.
pub fn upper_ascii(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|byte| byte.is_ascii_lowercase()) {
        Cow::Owned(text.to_ascii_uppercase())
    } else {
        Cow::Borrowed(text)
    }
}

/// Each character; where there are more than the limit, the last piece is the rest of the text.
fn characters(text: &str, limit: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while pieces.len() + 1 < limit {
        let end = rest.chars().next().map_or(0, char::len_utf8);
        match rest.split_at_checked(end) {
            Some((first, after)) if end > 0 => {
                pieces.push(first);
                rest = after;
            }
            _ => return pieces,
        }
    }
    if !rest.is_empty() {
        pieces.push(rest);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces() {
        let check = |text, pattern, replacement, limit, expected: &str| {
            assert_eq!(replace(text, pattern, replacement, limit), expected);
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
        let check =
            |text, separator, limit, expected: &[&str]| assert_eq!(split(text, separator, limit), expected);
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
}
