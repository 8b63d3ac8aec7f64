//! The comments of a text.

use std::ops::Range;

use super::lexer::{LexedText, TokenLexer};
use super::token::TokenKind;

/// The comments of a text as ranges of its bytes, each from its `//` to the end of its line, in order. `//` in a string
/// begins none.
///
/// ```
/// assert_eq!(pratique_cel::comments("a // b\n== '//'"), [2..6]);
/// ```
pub fn comments(text: &str) -> Vec<Range<usize>> {
    let mut comments = Vec::new();
    let mut lexer = TokenLexer::new(text);
    let mut end = 0;
    loop {
        let (token, is_last) = match lexer.next() {
            LexedText::Token(token) => (token, token.kind == TokenKind::End),
            LexedText::Unknown(token) => (token, false),
        };
        add_comments(text, end..token.start as usize, &mut comments);
        if is_last {
            return comments;
        }
        end = token.end as usize;
    }
}

/// Adds the comments between two tokens.
fn add_comments(text: &str, between: Range<usize>, comments: &mut Vec<Range<usize>>) {
    let mut at = between.start;
    while let Some(offset) = text.get(at..between.end).and_then(|rest| rest.find("//")) {
        let start = at + offset;
        let rest = text.get(start..between.end).unwrap_or_default();
        let end = start + rest.find('\n').unwrap_or(rest.len());
        comments.push(start..end);
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let texts: Vec<&str> = comments(text)
            .into_iter()
            .filter_map(|range| text.get(range))
            .collect();
        assert_eq!(texts, expected, "{text:?}");
    }

    #[test]
    fn comments_are_found() {
        check("", &[]);
        check("a == 'http://b' && r\"//\" != '''\n//''' / 2", &[]);
        check("// é\na // b // c\n//", &["// é", "// b // c", "//"]);
        check("a $ // b", &["// b"]);
        check("'open // no", &[]);
    }
}
