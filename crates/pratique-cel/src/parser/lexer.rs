//! From text to tokens: the longest token wins, positions count code points.

use super::token::{SourceToken, TokenKind};

/// Reads the tokens of a text one by one.
#[derive(Clone, Debug)]
pub(super) struct TokenLexer<'s> {
    text: &'s str,
    /// The next byte to read.
    at: usize,
    /// How many bytes before `at` continue a code point that an earlier one began.
    continuations: usize,
}

/// The next token of a text, or the next text that is none.
#[derive(Clone, Copy, Debug)]
pub(super) enum LexedText {
    /// A token; of kind [`TokenKind::End`] for ever after the last.
    Token(SourceToken),
    /// Text that is the beginning of no token, as a span like a token's.
    Unknown(SourceToken),
}

impl<'s> TokenLexer<'s> {
    /// Starts at the beginning of a text.
    pub(super) fn new(text: &'s str) -> Self {
        TokenLexer {
            text,
            at: 0,
            continuations: 0,
        }
    }

    /// Reads the next token.
    pub(super) fn next(&mut self) -> LexedText {
        self.skip_blanks();
        let start = self.at;
        let offset = (start - self.continuations) as u32;
        let scanned = scan(self.text.as_bytes(), start);
        let (kind, end) = match scanned {
            ScanResult::Token(kind, end) => (kind, end),
            ScanResult::Failed(at) => (TokenKind::End, self.after_character(at)),
        };
        match kind {
            // These may hold any character; all others are ASCII.
            TokenKind::String | TokenKind::Bytes => self.advance_to(end),
            _ if matches!(scanned, ScanResult::Failed(_)) => self.advance_to(end),
            _ => self.at = end,
        }
        let token = SourceToken {
            kind,
            offset,
            start: start as u32,
            end: end as u32,
        };
        match scanned {
            ScanResult::Token(..) => LexedText::Token(token),
            ScanResult::Failed(_) => LexedText::Unknown(token),
        }
    }

    fn skip_blanks(&mut self) {
        let bytes = self.text.as_bytes();
        loop {
            match byte(bytes, self.at) {
                b' ' | b'\t' | b'\r' | b'\n' | 0x0c => self.at += 1,
                b'/' if byte(bytes, self.at + 1) == b'/' => {
                    let rest = bytes.get(self.at..).unwrap_or_default();
                    let length = rest.iter().position(|byte| *byte == b'\n');
                    self.advance_to(self.at + length.unwrap_or(rest.len()));
                }
                _ => return,
            }
        }
    }

    /// Moves to a byte further on, counting the bytes that are not the first of a code point.
    fn advance_to(&mut self, end: usize) {
        let passed = self.text.as_bytes().get(self.at..end).unwrap_or_default();
        self.continuations += passed.iter().filter(|byte| **byte & 0xc0 == 0x80).count();
        self.at = end;
    }

    /// The byte after the character at a byte; the end of the text when there is none.
    fn after_character(&self, at: usize) -> usize {
        let character = self.text.get(at..).and_then(|rest| rest.chars().next());
        at.min(self.text.len()) + character.map_or(0, char::len_utf8)
    }
}

/// The result of a scan: a kind of token with the byte after it, or the byte that continues no token.
#[derive(Clone, Copy)]
enum ScanResult {
    Token(TokenKind, usize),
    Failed(usize),
}

/// The byte at an index; 0, which begins no token, after the end.
fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

fn scan(bytes: &[u8], start: usize) -> ScanResult {
    let one = |kind| ScanResult::Token(kind, start + 1);
    let two = |second: u8, long: TokenKind, short: Option<TokenKind>| match (
        byte(bytes, start + 1) == second,
        short,
    ) {
        (true, _) => ScanResult::Token(long, start + 2),
        (false, Some(short)) => ScanResult::Token(short, start + 1),
        (false, None) => ScanResult::Failed(start + 1),
    };
    match byte(bytes, start) {
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => word(bytes, start),
        b'0'..=b'9' => number(bytes, start),
        b'.' if byte(bytes, start + 1).is_ascii_digit() => {
            let digits = after_digits(bytes, start + 1);
            ScanResult::Token(TokenKind::Float, after_exponent(bytes, digits))
        }
        b'.' => one(TokenKind::Dot),
        b'"' | b'\'' => quoted(bytes, start, false, TokenKind::String),
        b'`' => escaped_name(bytes, start),
        b'=' => two(b'=', TokenKind::EqualTo, None),
        b'!' => two(b'=', TokenKind::NotEqualTo, Some(TokenKind::Not)),
        b'<' => two(b'=', TokenKind::LessEquals, Some(TokenKind::Less)),
        b'>' => two(b'=', TokenKind::GreaterEquals, Some(TokenKind::Greater)),
        b'&' => two(b'&', TokenKind::And, None),
        b'|' => two(b'|', TokenKind::Or, None),
        b'[' => one(TokenKind::OpenBracket),
        b']' => one(TokenKind::CloseBracket),
        b'{' => one(TokenKind::OpenBrace),
        b'}' => one(TokenKind::CloseBrace),
        b'(' => one(TokenKind::OpenParen),
        b')' => one(TokenKind::CloseParen),
        b',' => one(TokenKind::Comma),
        b'-' => one(TokenKind::Minus),
        b'?' => one(TokenKind::Question),
        b':' => one(TokenKind::Colon),
        b'+' => one(TokenKind::Plus),
        b'*' => one(TokenKind::Star),
        b'/' => one(TokenKind::Slash),
        b'%' => one(TokenKind::Percent),
        _ if start >= bytes.len() => ScanResult::Token(TokenKind::End, start),
        _ => ScanResult::Failed(start),
    }
}

/// A name, a word of the language, or a string with a prefix.
fn word(bytes: &[u8], start: usize) -> ScanResult {
    let length = bytes.get(start..).map_or(0, |rest| {
        let end = |byte: &u8| !byte.is_ascii_alphanumeric() && *byte != b'_';
        rest.iter().position(end).unwrap_or(rest.len())
    });
    let end = start + length;
    let name = bytes.get(start..end).unwrap_or_default();
    if length <= 2 && matches!(byte(bytes, end), b'"' | b'\'') {
        let literal = match name {
            b"r" | b"R" => quoted(bytes, end, true, TokenKind::String),
            b"b" | b"B" => quoted(bytes, end, false, TokenKind::Bytes),
            [b'b' | b'B', b'r' | b'R'] => quoted(bytes, end, true, TokenKind::Bytes),
            _ => ScanResult::Failed(end),
        };
        if let ScanResult::Token(..) = literal {
            return literal;
        }
    }
    let kind = match name {
        b"in" => TokenKind::In,
        b"true" => TokenKind::True,
        b"false" => TokenKind::False,
        b"null" => TokenKind::Null,
        _ => TokenKind::Identifier,
    };
    ScanResult::Token(kind, end)
}

fn number(bytes: &[u8], start: usize) -> ScanResult {
    let mut end = after_digits(bytes, start);
    let hexadecimal = byte(bytes, start) == b'0' && byte(bytes, start + 1) == b'x';
    if hexadecimal && byte(bytes, start + 2).is_ascii_hexdigit() {
        end = start + 2;
        while byte(bytes, end).is_ascii_hexdigit() {
            end += 1;
        }
    } else {
        let mut float = end;
        if byte(bytes, end) == b'.' && byte(bytes, end + 1).is_ascii_digit() {
            float = after_digits(bytes, end + 1);
        }
        float = after_exponent(bytes, float);
        if float > end {
            return ScanResult::Token(TokenKind::Float, float);
        }
    }
    match byte(bytes, end) {
        b'u' | b'U' => ScanResult::Token(TokenKind::Uint, end + 1),
        _ => ScanResult::Token(TokenKind::Int, end),
    }
}

fn after_digits(bytes: &[u8], mut at: usize) -> usize {
    while byte(bytes, at).is_ascii_digit() {
        at += 1;
    }
    at
}

/// The byte after an exponent at `at`; `at` itself when there is none.
fn after_exponent(bytes: &[u8], at: usize) -> usize {
    if !matches!(byte(bytes, at), b'e' | b'E') {
        return at;
    }
    let digits = match byte(bytes, at + 1) {
        b'+' | b'-' => at + 2,
        _ => at + 1,
    };
    match after_digits(bytes, digits) {
        end if end > digits => end,
        _ => at,
    }
}

/// A string whose opening quote is at `open`. Where three quotes begin no complete string, two of them are
/// an empty one.
fn quoted(bytes: &[u8], open: usize, raw: bool, kind: TokenKind) -> ScanResult {
    let quote = byte(bytes, open);
    let empty = byte(bytes, open + 1) == quote;
    if !empty {
        return match string_end(bytes, open + 1, quote, 1, raw) {
            Ok(end) => ScanResult::Token(kind, end),
            Err(at) => ScanResult::Failed(at),
        };
    }
    if byte(bytes, open + 2) == quote
        && let Ok(end) = string_end(bytes, open + 3, quote, 3, raw)
    {
        return ScanResult::Token(kind, end);
    }
    ScanResult::Token(kind, open + 2)
}

/// The byte after the closing quotes, of which there are one or three; or the byte that can be in no string.
fn string_end(bytes: &[u8], mut at: usize, quote: u8, quotes: usize, raw: bool) -> Result<usize, usize> {
    loop {
        match bytes.get(at).copied() {
            None => return Err(at),
            Some(next_byte) if next_byte == quote => {
                if (1..quotes).all(|more| byte(bytes, at + more) == quote) {
                    return Ok(at + quotes);
                }
                at += 1;
            }
            Some(b'\\') if !raw => at = escape_end(bytes, at)?,
            Some(b'\n' | b'\r') if quotes == 1 => return Err(at),
            Some(_) => at += 1,
        }
    }
}

/// The byte after the escape sequence at `at`; or the byte that makes it none.
fn escape_end(bytes: &[u8], at: usize) -> Result<usize, usize> {
    let digits = |count: usize, allowed: fn(u8) -> bool| {
        let from = at + 2;
        match (from..from + count).find(|digit| !allowed(byte(bytes, *digit))) {
            Some(wrong) => Err(wrong),
            None => Ok(from + count),
        }
    };
    match byte(bytes, at + 1) {
        b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'"' | b'\'' | b'\\' | b'?' | b'`' => Ok(at + 2),
        b'x' | b'X' => digits(2, |digit| digit.is_ascii_hexdigit()),
        b'u' => digits(4, |digit| digit.is_ascii_hexdigit()),
        b'U' => digits(8, |digit| digit.is_ascii_hexdigit()),
        b'0'..=b'3' => digits(2, |digit| matches!(digit, b'0'..=b'7')),
        _ => Err(at + 1),
    }
}

/// A name in backticks.
fn escaped_name(bytes: &[u8], start: usize) -> ScanResult {
    let mut at = start + 1;
    loop {
        match byte(bytes, at) {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'-' | b'/' | b' ' => at += 1,
            b'`' if at > start + 1 => return ScanResult::Token(TokenKind::Quoted, at + 1),
            _ => return ScanResult::Failed(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens of a text, unknown ones in angle brackets.
    fn lex(text: &str) -> Vec<String> {
        let mut lexer = TokenLexer::new(text);
        let mut found = Vec::new();
        loop {
            match lexer.next() {
                LexedText::Token(token) if token.kind == TokenKind::End => return found,
                LexedText::Token(token) => found.push(token.slice(text).to_owned()),
                LexedText::Unknown(token) => found.push(format!("<{}>", token.slice(text))),
            }
        }
    }

    #[test]
    fn the_longest_token_wins() {
        let check = |text: &str, expected: &[&str]| assert_eq!(lex(text), expected, "{text}");
        check("a.b_1 // c\n+x", &["a", ".", "b_1", "+", "x"]);
        check("1.", &["1", "."]);
        check(
            "1.5e3 .5 1e+ 1u 0x1Fu 0xg",
            &["1.5e3", ".5", "1", "e", "+", "1u", "0x1Fu", "0", "xg"],
        );
        check("<= < != ! == && ||", &["<=", "<", "!=", "!", "==", "&&", "||"]);
        check("a & b", &["a", "<& >", "b"]);
        check(
            r#"'a\'b' "\x41" r'\' b"x" bR'y'"#,
            &[r"'a\'b'", r#""\x41""#, r"r'\'", "b\"x\"", "bR'y'"],
        );
        check("'''a'b''' \"\"\"\n\"\"\"", &["'''a'b'''", "\"\"\"\n\"\"\""]);
        check("\"\"\"a", &["\"\"", "<\"a>"]);
        check("'a\\q'", &["<'a\\q>", "<'>"]);
        check("r'a\n'", &["r", "<'a\n>", "<'>"]);
        check("`a-b/c d` ``", &["`a-b/c d`", "<``>"]);
        check("in int true nulls", &["in", "int", "true", "nulls"]);
        check("é", &["<é>"]);
    }

    #[test]
    fn positions_count_code_points() {
        let mut lexer = TokenLexer::new("'ßé' + /* x");
        let offsets: Vec<u32> = (0..4)
            .map(|_| match lexer.next() {
                LexedText::Token(token) | LexedText::Unknown(token) => token.offset,
            })
            .collect();
        assert_eq!(offsets, [0, 5, 7, 8]);
    }
}
