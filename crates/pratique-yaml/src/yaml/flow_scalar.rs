//! Plain and quoted scalars, which may go over several lines that are folded into one.

use super::SyntaxError;
use super::cursor::LineBreaks;
use super::scanner::TokenScanner;
use super::token::{ScannedToken, TokenKind};
use crate::tree::StringStyle;

impl<'text> TokenScanner<'text> {
    /// A scalar without quotes.
    pub(super) fn plain(&mut self) -> Result<ScannedToken<'text>, SyntaxError> {
        let start = self.cursor.mark();
        let indent = self.indent.saturating_add(1);
        let mut end = start.offset;
        let mut folded: Option<String> = None;
        let mut breaks = LineBreaks::default();
        let mut is_new_line = false;
        while !self.cursor.is_document_mark() && self.cursor.byte(0) != b'#' {
            let word = self.cursor.mark().offset;
            self.skip_plain_word();
            let word_end = self.cursor.mark().offset;
            if word_end > word {
                if is_new_line {
                    let text = folded.get_or_insert_with(|| self.slice(start.offset, end).to_owned());
                    breaks.fold_into(text);
                    text.push_str(self.slice(word, word_end));
                    is_new_line = false;
                } else if let Some(text) = &mut folded {
                    text.push_str(self.slice(end, word_end));
                }
                end = word_end;
            }
            if !self.cursor.is_blank() && !self.cursor.is_break(0) {
                break;
            }
            self.skip_plain_gap(indent, &mut breaks, &mut is_new_line)?;
            let column = isize::try_from(self.cursor.column()).unwrap_or(isize::MAX);
            if !self.in_flow() && column < indent {
                break;
            }
        }
        self.key_allowed |= is_new_line;
        Ok(scalar(folded, StringStyle::Plain, start, end))
    }

    fn slice(&self, start: usize, end: usize) -> &'text str {
        self.cursor.as_str().get(start..end).unwrap_or_default()
    }

    /// Goes on to a blank, to a colon before one, or within brackets to an indicator that ends a scalar there.
    fn skip_plain_word(&mut self) {
        let in_flow = self.in_flow();
        loop {
            match self.cursor.byte(0) {
                0 | b' ' | b'\t' | b'\n' | b'\r' => return,
                b':' if self.cursor.is_gap(1) => return,
                b',' | b'?' | b'[' | b']' | b'{' | b'}' if in_flow => return,
                0..0x80 => self.cursor.skip_bytes(1),
                _ if self.cursor.is_break(0) => return,
                _ => self.cursor.skip(),
            }
        }
    }

    fn skip_plain_gap(
        &mut self,
        indent: isize,
        breaks: &mut LineBreaks,
        is_new_line: &mut bool,
    ) -> Result<(), SyntaxError> {
        loop {
            if self.cursor.is_blank() {
                let column = isize::try_from(self.cursor.column()).unwrap_or(isize::MAX);
                if *is_new_line && column < indent && self.cursor.byte(0) == b'\t' {
                    return Err(self.error("found a tab character that violates indentation"));
                }
                self.cursor.skip_bytes(1);
            } else if self.cursor.is_break(0) {
                breaks.push(self.cursor.skip_break());
                *is_new_line = true;
            } else {
                return Ok(());
            }
        }
    }

    pub(super) fn single_quoted(&mut self) -> Result<ScannedToken<'text>, SyntaxError> {
        self.quoted(b'\'', StringStyle::SingleQuoted)
    }

    pub(super) fn double_quoted(&mut self) -> Result<ScannedToken<'text>, SyntaxError> {
        self.quoted(b'"', StringStyle::DoubleQuoted)
    }

    fn quoted(&mut self, quote: u8, style: StringStyle) -> Result<ScannedToken<'text>, SyntaxError> {
        let start = self.cursor.mark();
        self.cursor.skip();
        // The decoded text so far, once it differs from the source.
        let mut decoded: Option<String> = None;
        let mut copied = self.cursor.mark().offset;
        loop {
            if self.cursor.is_document_mark() {
                return Err(self.error("found unexpected document indicator"));
            }
            if self.cursor.is_end() {
                return Err(self.error("found unexpected end of stream"));
            }
            let is_joined = self.quoted_word(quote, &mut decoded, &mut copied)?;
            if self.cursor.byte(0) == quote {
                break;
            }
            self.quoted_gap(is_joined, &mut decoded, &mut copied);
        }
        if let Some(text) = &mut decoded {
            text.push_str(self.cursor.since(copied));
        }
        self.cursor.skip();
        Ok(scalar(decoded, style, start, self.cursor.mark().offset))
    }

    /// Goes on to a blank or the closing quote; true after an escaped line's end.
    fn quoted_word(
        &mut self,
        quote: u8,
        decoded: &mut Option<String>,
        copied: &mut usize,
    ) -> Result<bool, SyntaxError> {
        while !self.cursor.is_gap(0) {
            let byte = self.cursor.byte(0);
            let is_escape = if quote == b'"' {
                byte == b'\\'
            } else {
                byte == quote && self.cursor.byte(1) == quote
            };
            if !is_escape {
                if byte == quote {
                    break;
                }
                self.cursor.skip();
                continue;
            }
            let copied_text = self.cursor.since(*copied);
            let text = decoded.get_or_insert_default();
            text.push_str(copied_text);
            let is_joined = byte == b'\\' && self.cursor.is_break(1);
            if is_joined {
                self.cursor.skip();
                self.cursor.skip_break();
            } else if byte == b'\\' {
                text.push(self.escape()?);
            } else {
                text.push('\'');
                self.cursor.skip_bytes(2);
            }
            *copied = self.cursor.mark().offset;
            if is_joined {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Blanks and lines' ends between words; after an escaped line's end only further ones count.
    fn quoted_gap(&mut self, is_joined: bool, decoded: &mut Option<String>, copied: &mut usize) {
        let copied_text = self.cursor.since(*copied);
        let mut breaks = LineBreaks::default();
        if is_joined {
            // Stands for the escaped one, which is dropped: folding keeps further ones as they are.
            breaks.push('\n');
        }
        let mut is_new_line = is_joined;
        let mut lines = usize::from(is_joined);
        loop {
            if self.cursor.is_blank() {
                self.cursor.skip_bytes(1);
            } else if self.cursor.is_break(0) {
                breaks.push(self.cursor.skip_break());
                is_new_line = true;
                lines += 1;
            } else {
                break;
            }
        }
        if !is_new_line {
            return;
        }
        let text = decoded.get_or_insert_default();
        text.push_str(copied_text);
        if !(is_joined && lines == 1) {
            breaks.fold_into(text);
        }
        *copied = self.cursor.mark().offset;
    }

    /// The character that an escape stands for.
    fn escape(&mut self) -> Result<char, SyntaxError> {
        let code = self.cursor.byte(1);
        let digits = match code {
            b'x' => 2,
            b'u' => 4,
            b'U' => 8,
            _ => 0,
        };
        let read = match code {
            b'0' => '\0',
            b'a' => '\x07',
            b'b' => '\x08',
            b't' | b'\t' => '\t',
            b'n' => '\n',
            b'v' => '\x0B',
            b'f' => '\x0C',
            b'r' => '\r',
            b'e' => '\x1B',
            b' ' | b'"' | b'\'' | b'\\' => char::from(code),
            b'N' => '\u{85}',
            b'_' => '\u{A0}',
            b'L' => '\u{2028}',
            b'P' => '\u{2029}',
            b'x' | b'u' | b'U' => '\0',
            _ => return Err(self.error("found unknown escape character")),
        };
        self.cursor.skip_bytes(2);
        if digits == 0 {
            return Ok(read);
        }
        let mut value = 0u32;
        for at in 0..digits {
            let digit = char::from(self.cursor.byte(at)).to_digit(16);
            let digit = digit.ok_or_else(|| self.error("did not find expected hexdecimal number"))?;
            value = value.wrapping_mul(16).wrapping_add(digit);
        }
        let read = char::from_u32(value);
        let read = read.ok_or_else(|| self.error("found invalid Unicode character escape code"))?;
        self.cursor.skip_bytes(digits);
        Ok(read)
    }
}

fn scalar<'text>(
    decoded: Option<String>,
    style: StringStyle,
    start: super::cursor::TextMark,
    end: usize,
) -> ScannedToken<'text> {
    let decoded = decoded.map(String::into_boxed_str);
    ScannedToken::new(TokenKind::Scalar { decoded, style }, start, end)
}
