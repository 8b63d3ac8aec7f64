//! The syntax of JSONPath templates as `kubectl -o jsonpath` and an API server take them: `{.spec.rules[*].name}`.
//!
//! ```
//! use pratique_gotext::jsonpath::check_template;
//!
//! assert!(check_template("{.items[?(@.kind==\"Pod\")].metadata['name']}").is_ok());
//! assert_eq!(check_template("{.spec[}").unwrap_err().to_string(), "unterminated array");
//! ```
// Upstream: client-go/util/jsonpath/parser.go

use std::str::Chars;

use crate::strconv::{atoi, is_printable, parse_float};

/// Why a template is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonPathError {
    /// The end or a line's end within braces.
    #[error("unclosed action")]
    UnclosedAction,
    /// A character that begins nothing.
    #[error("unrecognized character in action: {}", name_character(*.0))]
    UnrecognizedCharacter(char),
    /// `....`
    #[error("invalid multiple recursive descent")]
    RepeatedDescent,
    /// A number that is none.
    #[error("cannot parse number {0}")]
    Number(String),
    /// No `]`.
    #[error("unterminated array")]
    UnterminatedArray,
    /// Neither an index, nor a slice, nor a key.
    #[error("invalid array index {0}")]
    Index(String),
    /// An index that is too large, or a sign only.
    #[error("array index {0} is not a number")]
    IndexNumber(String),
    /// No `)`.
    #[error("unterminated filter")]
    UnterminatedFilter,
    /// No `]` after a filter.
    #[error("unclosed array expect ]")]
    UnclosedArray,
    /// No closing quote.
    #[error("unterminated quoted string")]
    UnterminatedText,
    /// A text with an unknown escape.
    #[error("unquote string {0} error invalid syntax")]
    Unquote(String),
}

/// Checks a template: text, and paths in braces.
///
/// # Errors
/// A path is malformed; the first error, with upstream's message.
pub fn check_template(template: &str) -> Result<(), JsonPathError> {
    let mut scanner = PathScanner {
        text: template,
        position: 0,
    };
    while let Some(at) = scanner.rest().find('{') {
        scanner.position += at + 1;
        scanner.check_action()?;
    }
    Ok(())
}

/// A part of a path, by itself. It is shorter than the path, and holds no more than one filter within a union or filter.
fn check_part(path: &str) -> Result<(), JsonPathError> {
    check_template(&format!("{{{path}}}"))
}

struct PathScanner<'t> {
    text: &'t str,
    position: usize,
}

impl<'t> PathScanner<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.position..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek();
        self.position += next.map_or(0, char::len_utf8);
        next
    }

    /// The text since a position.
    fn since(&self, start: usize) -> &'t str {
        self.text.get(start..self.position).unwrap_or_default()
    }

    /// Whether the character before the last one is a backslash.
    fn is_escaped(&self) -> bool {
        let bytes = self.text.as_bytes();
        self.position.checked_sub(2).and_then(|index| bytes.get(index)) == Some(&b'\\')
    }

    /// What is in braces, with the closing one.
    fn check_action(&mut self) -> Result<(), JsonPathError> {
        let mut follows_descent = false;
        loop {
            let is_descent = self.rest().starts_with("..");
            if self.rest().starts_with('}') {
                self.position += 1;
                return Ok(());
            }
            if self.rest().starts_with("[?(") {
                self.check_filter()?;
            } else if is_descent {
                if follows_descent {
                    return Err(JsonPathError::RepeatedDescent);
                }
                self.position += 2;
                if self.peek().is_some_and(is_alphanumeric) {
                    self.skip_field();
                } else {
                    follows_descent = true;
                    continue;
                }
            } else if self.check_step()? {
                continue;
            }
            follows_descent = false;
        }
    }

    /// A step of a path; says whether it is none, as the current object is not.
    fn check_step(&mut self) -> Result<bool, JsonPathError> {
        let start = self.position;
        match self.next() {
            None | Some('\r' | '\n') => return Err(JsonPathError::UnclosedAction),
            Some(' ' | '@' | '$') => return Ok(true),
            Some('[') => self.check_array()?,
            Some(quote @ ('"' | '\'')) => self.check_quoted(start, quote)?,
            Some('.') => self.skip_field(),
            Some(first) if matches!(first, '+' | '-') || first.is_numeric() => self.check_number(start)?,
            Some(first) if is_alphanumeric(first) => {
                while !is_terminator(self.peek()) {
                    self.next();
                }
            }
            Some(other) => return Err(JsonPathError::UnrecognizedCharacter(other)),
        }
        Ok(false)
    }

    fn skip_field(&mut self) {
        loop {
            match self.peek() {
                Some('\\') => {
                    self.next();
                    self.next();
                }
                next if is_terminator(next) => return,
                _ => {
                    self.next();
                }
            }
        }
    }

    fn check_number(&mut self, start: usize) -> Result<(), JsonPathError> {
        while self.peek().is_some_and(|next| next == '.' || next.is_numeric()) {
            self.next();
        }
        let number = self.since(start);
        if atoi(number).is_err() && parse_float(number).is_err() {
            return Err(JsonPathError::Number(number.to_owned()));
        }
        Ok(())
    }

    /// `[0]`, `[1:2]`, `['key']`, `[*]`, `[0,2]`; the bracket was read.
    fn check_array(&mut self) -> Result<(), JsonPathError> {
        let start = self.position;
        loop {
            match self.next() {
                None | Some('\n') => return Err(JsonPathError::UnterminatedArray),
                Some(']') => break,
                Some(_) => {}
            }
        }
        let text = self.since(start).strip_suffix(']').unwrap_or_default();
        if text.contains(',') {
            let mut parts = text.split(',');
            return parts.try_for_each(|part| check_part(&format!("[{}]", part.trim_matches(' '))));
        }
        let key = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
        if let Some(key) = key.filter(|key| !key.contains('\'')) {
            return check_part(&format!(".{key}"));
        }
        if text == "*" {
            return Ok(());
        }
        let is_number = |part: &str| {
            let digits = part.strip_prefix('-').unwrap_or(part);
            digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        if text.matches(':').count() > 2 || !text.split(':').all(is_number) {
            return Err(JsonPathError::Index(text.to_owned()));
        }
        let wrong = text
            .split(':')
            .find(|part| !part.is_empty() && atoi(part).is_err());
        wrong.map_or(Ok(()), |part| Err(JsonPathError::IndexNumber(part.to_owned())))
    }

    /// `[?(@.a == "b")]`
    fn check_filter(&mut self) -> Result<(), JsonPathError> {
        self.position += "[?(".len();
        let start = self.position;
        let (mut quote, mut is_closed) = (None, false);
        loop {
            match self.next() {
                None | Some('\n') => return Err(JsonPathError::UnterminatedFilter),
                Some(next @ ('"' | '\'')) => match quote {
                    None => quote = Some(next),
                    Some(quote) if next == quote && !self.is_escaped() => is_closed = true,
                    Some(_) => {}
                },
                Some(')') if quote.is_some() == is_closed => break,
                Some(_) => {}
            }
        }
        let text = self.since(start).strip_suffix(')').unwrap_or_default();
        if self.next() != Some(']') {
            return Err(JsonPathError::UnclosedArray);
        }
        match split_comparison(text) {
            Some((left, right)) => check_part(left).and_then(|()| check_part(right)),
            None => check_part(text),
        }
    }

    fn check_quoted(&mut self, start: usize, quote: char) -> Result<(), JsonPathError> {
        loop {
            match self.next() {
                None | Some('\n') => return Err(JsonPathError::UnterminatedText),
                Some(next) if next == quote && !self.is_escaped() => break,
                Some(_) => {}
            }
        }
        let text = self.since(start);
        let inner = text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
        if inner.is_some_and(|inner| is_unquoted(inner, quote)) {
            return Ok(());
        }
        Err(JsonPathError::Unquote(text.to_owned()))
    }
}

/// The sides of a comparison: `^([^!<>=]+)([!<>=]+)(.+?)$`.
fn split_comparison(text: &str) -> Option<(&str, &str)> {
    let is_operator = |letter: char| "!<>=".contains(letter);
    let start = text.find(is_operator).filter(|start| *start > 0)?;
    let (left, rest) = text.split_at_checked(start)?;
    let right = rest.trim_start_matches(is_operator);
    match (right.is_empty(), rest.len()) {
        (false, _) => Some((left, right)),
        // The last sign is what is compared with.
        (true, 2..) => Some((left, rest.get(rest.len() - 1..)?)),
        (true, _) => None,
    }
}

/// Whether what is between quotes has known escapes only.
// Upstream: strconv.UnquoteChar
fn is_unquoted(text: &str, quote: char) -> bool {
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter == quote || (letter == '\\' && !skip_escape(&mut letters, quote)) {
            return false;
        }
    }
    true
}

/// Skips what follows a backslash; says whether it is known.
fn skip_escape(letters: &mut Chars<'_>, quote: char) -> bool {
    let Some(first) = letters.next() else {
        return false;
    };
    let mut number = |count: usize, radix: u32| {
        let digits: String = letters.by_ref().take(count).collect();
        let is_number = digits.len() == count && digits.chars().all(|digit| digit.is_digit(radix));
        is_number
            .then(|| u32::from_str_radix(&digits, radix).ok())
            .flatten()
    };
    let is_letter = |code: Option<u32>| code.is_some_and(|code| char::from_u32(code).is_some());
    match first {
        'a' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | '\\' => true,
        'x' => number(2, 16).is_some(),
        'u' => is_letter(number(4, 16)),
        'U' => is_letter(number(8, 16)),
        '0'..='3' => number(2, 8).is_some(),
        other => other == quote,
    }
}

// Upstream: client-go/util/jsonpath/parser.go, isTerminator
fn is_terminator(next: Option<char>) -> bool {
    next.is_none_or(|next| " \t\r\n.,[]$@{}".contains(next))
}

fn is_alphanumeric(letter: char) -> bool {
    letter == '_' || letter.is_alphanumeric()
}

/// `U+0021 '!'`
fn name_character(character: char) -> String {
    let code = format!("U+{:04X}", u32::from(character));
    if is_printable(character) {
        format!("{code} '{character}'")
    } else {
        code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_error(template: &str, expected: &str) {
        let error = check_template(template).map_err(|error| error.to_string());
        assert_eq!(error.err().unwrap_or_default(), expected, "{template}");
    }

    #[test]
    fn templates_are_taken() {
        for template in [
            "",
            "hello",
            "{.a.b[0]}{.c}",
            "{$.a['b.c'][*][1:-1:2][0,'x'].*}",
            "{..a}{..['x']}",
            "{range .items[*]}{.a}{\"\\n\"}{end}",
            "{[?(@.a==\"b)\")].c}{[?(@.x)]}{[?(@.a==1)]}",
            "{true}{+1.5}{'\\u00e9\\x41'}",
            "{spec.validations[0].expression}",
        ] {
            check_error(template, "");
        }
    }

    #[test]
    fn errors_are_upstreams() {
        check_error("{.a", "unclosed action");
        check_error("{.a\n}", "unclosed action");
        check_error("{!}", "unrecognized character in action: U+0021 '!'");
        check_error("{\u{7}}", "unrecognized character in action: U+0007");
        check_error("{....a}", "invalid multiple recursive descent");
        check_error("{1.2.3}", "cannot parse number 1.2.3");
        check_error("{.a[}", "unterminated array");
        check_error("{.a[b]}", "invalid array index b");
        check_error("{.a[1:2:3:4]}", "invalid array index 1:2:3:4");
        check_error("{.a[-]}", "array index - is not a number");
        check_error(
            "{.a[99999999999999999999]}",
            "array index 99999999999999999999 is not a number",
        );
        check_error("{.a[0,b]}", "invalid array index b");
        check_error("{[?(@.a}", "unterminated filter");
        check_error("{[?(@.a)}", "unclosed array expect ]");
        check_error("{[?(!=)]}", "unrecognized character in action: U+0021 '!'");
        check_error("{\"a}", "unterminated quoted string");
        check_error("{'\\q'}", "unquote string '\\q' error invalid syntax");
    }
}
