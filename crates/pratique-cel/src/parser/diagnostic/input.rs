//! The tokens of the text as the reading asks for them, with the faults that the lexer finds on the way.

use super::super::lexer::{LexedText, TokenLexer};
use super::super::token::{SourceToken, TokenKind};

/// Tokens read so far, and the place in them.
#[derive(Debug)]
pub(super) struct TokenInput<'s> {
    text: &'s str,
    lexer: TokenLexer<'s>,
    tokens: Vec<SourceToken>,
    /// Text that is no token; the first `reported` of them have been reported.
    unknown: Vec<SourceToken>,
    reported: usize,
    at: usize,
}

impl<'s> TokenInput<'s> {
    pub(super) fn new(text: &'s str) -> Self {
        TokenInput {
            text,
            lexer: TokenLexer::new(text),
            tokens: Vec::new(),
            unknown: Vec::new(),
            reported: 0,
            at: 0,
        }
    }

    /// The index of the next token.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The token some places ahead, the next one being at 0; the end where there are fewer.
    pub(super) fn token(&mut self, ahead: usize) -> SourceToken {
        let wanted = self.at + ahead;
        loop {
            match (self.tokens.get(wanted), self.tokens.last()) {
                (Some(token), _) => return *token,
                (None, Some(last)) if last.kind == TokenKind::End => return *last,
                _ => self.fetch(),
            }
        }
    }

    fn fetch(&mut self) {
        match self.lexer.next() {
            LexedText::Token(token) => self.tokens.push(token),
            LexedText::Unknown(token) => self.unknown.push(token),
        }
    }

    /// The token before the next one.
    pub(super) fn before(&self) -> Option<SourceToken> {
        self.tokens.get(self.at.checked_sub(1)?).copied()
    }

    /// Goes past the next token; there is nothing past the end.
    pub(super) fn consume(&mut self) -> SourceToken {
        let token = self.token(0);
        if token.kind != TokenKind::End {
            self.at += 1;
            self.token(0);
        }
        token
    }

    /// A fault of the lexer that was not reported yet.
    pub(super) fn take_unknown(&mut self) -> Option<SourceToken> {
        let unknown_token = self.unknown.get(self.reported).copied();
        self.reported += usize::from(unknown_token.is_some());
        unknown_token
    }

    /// The text of a token.
    pub(super) fn token_text(&self, token: SourceToken) -> &'s str {
        token.slice(self.text)
    }

    /// The text from one token to another, both included, without text that is no token.
    pub(super) fn text_between(&self, first: SourceToken, last: SourceToken) -> String {
        let end = last.end.max(first.start);
        let skipped = self
            .unknown
            .iter()
            .filter(|token| first.start <= token.start && token.end <= end);
        let mut text = String::new();
        let mut from = first.start;
        for token in skipped {
            text.push_str(self.slice(from, token.start));
            from = token.end;
        }
        text.push_str(self.slice(from, end));
        text
    }

    fn slice(&self, from: u32, to: u32) -> &'s str {
        self.text.get(from as usize..to as usize).unwrap_or_default()
    }
}
