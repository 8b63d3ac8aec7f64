//! Spans in the text of an expression, for messages that point into it.

use std::ops::Range;

/// The span of the token at an offset: a name with the dot before it, a number, a text, an
/// operator, a pair of parentheses with what is between. Empty at the end of the text.
pub fn token_at(text: &str, offset: usize) -> Range<usize> {
    let rest = text.get(offset..).unwrap_or_default();
    let start = offset.min(text.len());
    start..start + length(rest)
}

/// The span of the name that an error at an offset is about: at the offset, behind the dot there, or, of a call, before the
/// parenthesis there.
pub fn name_at(text: &str, offset: usize) -> Option<Range<usize>> {
    let rest = text.get(offset..)?;
    if rest.starts_with('(') {
        let preceding_text = text.get(..offset)?;
        let start = preceding_text.trim_end_matches(is_word).len();
        return (start < offset).then_some(start..offset);
    }
    let dots = rest.len() - rest.trim_start_matches(['.', '?']).len();
    let name = rest.get(dots..)?;
    let length = name.find(|c| !is_word(c)).unwrap_or(name.len());
    let start = offset + dots;
    (length > 0).then_some(start..start + length)
}

fn length(rest: &str) -> usize {
    let word = |rest: &str| rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
    let mut chars = rest.chars();
    let (first, second) = (chars.next(), chars.next());
    match (first, second) {
        (None, _) => 0,
        (Some('.'), Some('?')) => 2 + word(rest.get(2..).unwrap_or_default()),
        (Some('.'), Some(next)) if is_word(next) => 1 + word(rest.get(1..).unwrap_or_default()),
        (Some('('), _) => parenthesized(rest).unwrap_or(1),
        (Some(quote @ ('"' | '\'')), _) => {
            let line = rest.lines().next().unwrap_or_default();
            let end = line.get(1..).and_then(|inner| inner.find(quote));
            end.map_or(line.len(), |end| end + 2)
        }
        (Some('=' | '!' | '<' | '>'), Some('=')) | (Some('&'), Some('&')) | (Some('|'), Some('|')) => 2,
        (Some(first), _) if is_word(first) => word(rest),
        (Some(first), _) => first.len_utf8(),
    }
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// The length of a text up to the parenthesis that closes its first one, if that is on the same line.
fn parenthesized(rest: &str) -> Option<usize> {
    let mut depth = 0usize;
    let line = rest.lines().next()?;
    for (at, c) in line.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => return Some(at + 1),
            ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{name_at, token_at};

    #[test]
    fn names() {
        for (text, offset, name) in [
            ("objct.spec", 0, Some("objct")),
            ("object.spce.x", 6, Some("spce")),
            ("object.?spce", 6, Some("spce")),
            ("a.startWith('b')", 11, Some("startWith")),
            ("(a)", 0, None),
            ("a == b", 2, None),
            ("a", 9, None),
        ] {
            let found = name_at(text, offset).and_then(|range| text.get(range));
            assert_eq!(found, name, "{text} {offset}");
        }
    }

    #[test]
    fn tokens() {
        for (text, offset, word) in [
            ("object.spec", 0, "object"),
            ("object.spec", 6, ".spec"),
            ("object.?spec.x", 6, ".?spec"),
            ("a == b", 2, "=="),
            ("a + 'b c' + d", 4, "'b c'"),
            ("a + 'b c", 4, "'b c"),
            ("f(x + (y)) + 1", 1, "(x + (y))"),
            ("f(x", 1, "("),
            ("a", 1, ""),
            ("a", 9, ""),
            ("äö + 1", 0, "äö"),
        ] {
            assert_eq!(text.get(token_at(text, offset)).unwrap(), word, "{text} {offset}");
        }
    }
}
