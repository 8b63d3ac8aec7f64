//! Anchors, aliases, tags and directives.

use std::borrow::Cow;

use super::SyntaxError;
use super::cursor::is_word;
use super::scanner::TokenScanner;
use super::token::{ScannedToken, TokenKind};

impl<'text> TokenScanner<'text> {
    /// `&name` or `*name`.
    pub(super) fn anchor(&mut self) -> Result<ScannedToken<'text>, SyntaxError> {
        let start = self.cursor.mark();
        let is_alias = self.cursor.byte(0) == b'*';
        self.cursor.skip();
        let name = self.cursor.word();
        let ends = self.cursor.is_gap(0)
            || matches!(
                self.cursor.byte(0),
                b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`'
            );
        if name.is_empty() || !ends {
            return Err(self.error("did not find expected alphabetic or numeric character"));
        }
        let kind = if is_alias {
            TokenKind::Alias(name)
        } else {
            TokenKind::Anchor(name)
        };
        Ok(ScannedToken::new(kind, start, self.cursor.mark().offset))
    }

    /// `!<tag:…>`, `!!name`, `!e!name`, `!name` or `!`.
    pub(super) fn tag(&mut self) -> Result<ScannedToken<'text>, SyntaxError> {
        let start = self.cursor.mark();
        let (handle, suffix) = if self.cursor.byte(1) == b'<' {
            self.cursor.skip_bytes(2);
            let suffix = self.uri(Cow::Borrowed(""), false)?;
            if self.cursor.byte(0) != b'>' {
                return Err(self.error("did not find the expected '>'"));
            }
            self.cursor.skip();
            (Cow::Borrowed(""), suffix)
        } else {
            self.short_tag()?
        };
        if !self.cursor.is_gap(0) {
            return Err(self.error("did not find expected whitespace or line break"));
        }
        Ok(ScannedToken::new(
            TokenKind::Tag { handle, suffix },
            start,
            self.cursor.mark().offset,
        ))
    }

    fn short_tag(&mut self) -> Result<(Cow<'text, str>, Cow<'text, str>), SyntaxError> {
        let handle = self.handle(false)?;
        if handle.len() > 1 && handle.ends_with('!') {
            return Ok((handle.into(), self.uri(Cow::Borrowed(""), false)?));
        }
        // The apparent handle is the start of a local tag's name.
        let name = handle.strip_prefix('!').unwrap_or_default();
        let suffix = self.uri(Cow::Borrowed(name), true)?;
        Ok(if suffix.is_empty() {
            (suffix, "!".into())
        } else {
            ("!".into(), suffix)
        })
    }

    /// `!`, `!!` or `!name!`; without a directive also `!name`.
    fn handle(&mut self, in_directive: bool) -> Result<&'text str, SyntaxError> {
        const WANTED: &str = "did not find expected '!'";
        let start = self.cursor.mark().offset;
        if self.cursor.byte(0) != b'!' {
            return Err(self.error(WANTED));
        }
        self.cursor.skip();
        let name = self.cursor.word();
        if self.cursor.byte(0) == b'!' {
            self.cursor.skip();
        } else if in_directive && !name.is_empty() {
            return Err(self.error(WANTED));
        }
        Ok(self.cursor.since(start))
    }

    /// The rest of a tag's URI after `head`.
    fn uri(&mut self, head: Cow<'text, str>, may_be_empty: bool) -> Result<Cow<'text, str>, SyntaxError> {
        let start = self.cursor.mark().offset;
        let mut octets: Option<Vec<u8>> = None;
        loop {
            match self.cursor.byte(0) {
                b'%' => {
                    let plain_text = self.cursor.since(start);
                    let octets = octets.get_or_insert_with(|| plain_text.as_bytes().to_vec());
                    let escaped = self.uri_escapes()?;
                    octets.extend(escaped);
                }
                byte if is_uri(byte) => {
                    self.cursor.skip();
                    octets.iter_mut().for_each(|octets| octets.push(byte));
                }
                _ => break,
            }
        }
        let tail: Cow<'text, str> = match octets {
            Some(octets) => String::from_utf8_lossy(&octets).into_owned().into(),
            None => self.cursor.since(start).into(),
        };
        match (head.is_empty(), tail.is_empty()) {
            (true, true) if !may_be_empty => Err(self.error("did not find expected tag URI")),
            (true, _) => Ok(tail),
            (_, true) => Ok(head),
            _ => Ok(format!("{head}{tail}").into()),
        }
    }

    /// The escaped octets of one character.
    fn uri_escapes(&mut self) -> Result<Vec<u8>, SyntaxError> {
        let mut octets = Vec::new();
        let mut left = 1;
        while left > 0 {
            let digit = |at| char::from(self.cursor.byte(at)).to_digit(16);
            let octet = match (self.cursor.byte(0), digit(1), digit(2)) {
                (b'%', Some(high), Some(low)) => u8::try_from(high * 16 + low).unwrap_or_default(),
                _ => return Err(self.error("did not find URI escaped octet")),
            };
            if octets.is_empty() {
                left = match octet {
                    0..0x80 => 1,
                    0xC0..0xE0 => 2,
                    0xE0..0xF0 => 3,
                    0xF0..0xF8 => 4,
                    _ => return Err(self.error("found an incorrect leading UTF-8 octet")),
                };
            } else if octet & 0xC0 != 0x80 {
                return Err(self.error("found an incorrect trailing UTF-8 octet"));
            }
            octets.push(octet);
            self.cursor.skip_bytes(3);
            left -= 1;
        }
        Ok(octets)
    }

    /// `%YAML` or `%TAG`, to the end of its line.
    pub(super) fn directive(&mut self) -> Result<TokenKind<'text>, SyntaxError> {
        self.cursor.skip();
        let name = self.cursor.word();
        if name.is_empty() {
            return Err(self.error("could not find expected directive name"));
        }
        if !self.cursor.is_gap(0) {
            return Err(self.error("found unexpected non-alphabetical character"));
        }
        let kind = match name {
            "YAML" => self.version()?,
            "TAG" => self.tag_prefix()?,
            _ => return Err(self.error("found unknown directive name")),
        };
        self.cursor.skip_blanks();
        self.cursor.skip_comment();
        if !self.cursor.is_line_end() {
            return Err(self.error("did not find expected comment or line break"));
        }
        if self.cursor.is_break(0) {
            self.cursor.skip_break();
        }
        Ok(kind)
    }

    fn version(&mut self) -> Result<TokenKind<'text>, SyntaxError> {
        self.cursor.skip_blanks();
        let major = self.version_number()?;
        if self.cursor.byte(0) != b'.' {
            return Err(self.error("did not find expected digit or '.' character"));
        }
        self.cursor.skip();
        Ok(TokenKind::Version(major, self.version_number()?))
    }

    fn version_number(&mut self) -> Result<u8, SyntaxError> {
        let start = self.cursor.mark().offset;
        while self.cursor.byte(0).is_ascii_digit() {
            if self.cursor.since(start).len() == 2 {
                return Err(self.error("found extremely long version number"));
            }
            self.cursor.skip();
        }
        let digits = self.cursor.since(start).parse();
        digits.map_err(|_| self.error("did not find expected version number"))
    }

    fn tag_prefix(&mut self) -> Result<TokenKind<'text>, SyntaxError> {
        self.cursor.skip_blanks();
        let handle = self.handle(true)?;
        if !self.cursor.is_blank() {
            return Err(self.error("did not find expected whitespace"));
        }
        self.cursor.skip_blanks();
        let prefix = self.uri(Cow::Borrowed(""), false)?;
        if !self.cursor.is_gap(0) {
            return Err(self.error("did not find expected whitespace or line break"));
        }
        Ok(TokenKind::TagPrefix {
            handle: handle.into(),
            prefix,
        })
    }
}

fn is_uri(byte: u8) -> bool {
    is_word(byte)
        || matches!(
            byte,
            b';' | b'/'
                | b'?'
                | b':'
                | b'@'
                | b'&'
                | b'='
                | b'+'
                | b'$'
                | b','
                | b'.'
                | b'!'
                | b'~'
                | b'*'
                | b'\''
                | b'('
                | b')'
                | b'['
                | b']'
        )
}
