//! The literals of texts in sources.

use std::fs;
use std::path::{Path, PathBuf};

/// The files of Rust at or below a path, without tests.
pub(crate) fn files_below(path: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut pending = vec![path.to_owned()];
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && !path.ends_with("tests.rs")
            && !path.ends_with("testing.rs")
        {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The literals of a source before its tests, raw ones among them, but none of bytes, with `…` for what is formatted into them.
pub(crate) fn text_literals(source: &str) -> Vec<String> {
    let source = source
        .split("\n#[cfg(test)]\nmod tests")
        .next()
        .unwrap_or_default();
    let mut literals = Vec::new();
    let mut chars = source.char_indices().peekable();
    let mut last = ' ';
    while let Some((at, c)) = chars.next() {
        let rest = source.get(at..).unwrap_or_default();
        if rest.starts_with("//") {
            while chars.next_if(|(_, c)| *c != '\n').is_some() {}
        } else if c == '\'' {
            skip_character(rest, &mut chars);
        } else if c == '"' {
            let prefix = source.get(..at).unwrap_or_default().trim_end_matches('#');
            let is_bytes = prefix.ends_with('b') || prefix.ends_with("br");
            let literal = read_literal(&mut chars, last);
            if !is_bytes {
                literals.push(literal);
            }
        }
        last = c;
    }
    literals
}

type Chars<'s> = std::iter::Peekable<std::str::CharIndices<'s>>;

/// Goes behind a character; nothing is to be skipped of a lifetime.
fn skip_character(rest: &str, chars: &mut Chars<'_>) {
    if rest.starts_with("'\\") {
        chars.next();
        chars.next();
        while chars.next_if(|(_, c)| *c != '\'').is_some() {}
        chars.next();
    } else if rest.chars().nth(2) == Some('\'') {
        chars.next();
        chars.next();
    }
}

/// Reads a literal behind its first quote, before which a sign says whether it is raw.
fn read_literal(chars: &mut Chars<'_>, before: char) -> String {
    let is_raw = matches!(before, 'r' | '#');
    let mut literal = String::new();
    while let Some((_, c)) = chars.next() {
        match c {
            '"' if before == '#' && chars.peek().is_none_or(|(_, c)| *c != '#') => literal.push('"'),
            '"' => break,
            '\\' if !is_raw => match chars.next().map(|(_, c)| c) {
                Some('\n') => while chars.next_if(|(_, c)| c.is_whitespace()).is_some() {},
                Some('n') => literal.push('\n'),
                escaped => literal.extend(escaped),
            },
            c => literal.push(c),
        }
    }
    with_gaps(&literal)
}

/// A literal with `…` in the place of each `{…}`, and with braces that are written twice as one.
fn with_gaps(literal: &str) -> String {
    let mut text = String::new();
    let mut rest = literal;
    while let Some(at) = rest.find(['{', '}']) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let doubled = ["{{", "}}"]
            .into_iter()
            .find_map(|braces| rest.strip_prefix(braces));
        if let Some(behind) = doubled {
            text.push_str(&rest[..1]);
            rest = behind;
        } else if let Some((_, behind)) = rest.split_once('}').filter(|_| rest.starts_with('{')) {
            text.push('…');
            rest = behind;
        } else {
            text.push_str(&rest[..1]);
            rest = &rest[1..];
        }
    }
    text + rest
}

/// Whether a literal is a sentence, and no name or format.
pub(crate) fn is_sentence(literal: &str) -> bool {
    let words = literal.split([' ', '\n']);
    let words = words.filter(|word| word.chars().filter(char::is_ascii_lowercase).count() > 1);
    words.count() > 1
}

#[test]
fn raw_texts_are_among_the_literals() {
    let source = r##"f("one {x}", r"two \ three", r#"four "five""#, b"six", br#"seven"#, br"eight")"##;
    assert_eq!(text_literals(source), ["one …", r"two \ three", r#"four "five""#]);
}
