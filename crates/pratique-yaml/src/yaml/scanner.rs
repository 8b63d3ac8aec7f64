//! From characters to tokens: indentation becomes the begin and end of blocks, and `a:` a key.
//!
//! Whether a node is a key shows only at the colon after it. Until then it may become one, and tokens after it wait:
//! the key's token, and that of a mapping that begins with it, are put before it.

use std::collections::VecDeque;

use super::SyntaxError;
use super::cursor::{TextCursor, TextMark};
use super::error::{ErrorStage, error_at};
use super::token::{ScannedToken, TokenKind};

/// How deep flow collections and how deep block collections may nest.
const MAX_DEPTH: usize = 10_000;

/// A key without `?` has at most so many characters up to its colon.
const MAX_KEY: usize = 1024;

pub(super) struct TokenScanner<'text> {
    pub(super) cursor: TextCursor<'text>,
    tokens: VecDeque<ScannedToken<'text>>,
    /// Tokens that were taken.
    taken: usize,
    /// The column of the block collection that is open; -1 outside of all.
    pub(super) indent: isize,
    outer_indents: Vec<isize>,
    /// The possible keys, one for each open flow collection and one outside of them.
    keys: Vec<PossibleKey>,
    /// Whether a key may begin here.
    pub(super) key_allowed: bool,
    is_done: bool,
}

/// A node that becomes a key if a colon follows.
#[derive(Clone, Copy, Default)]
struct PossibleKey {
    is_possible: bool,
    /// It begins a line of a block mapping, so that it has to be a key.
    is_required: bool,
    /// Tokens wait for it to become one.
    is_awaited: bool,
    token: usize,
    mark: TextMark,
}

impl<'text> TokenScanner<'text> {
    pub(super) fn new(text: &'text str) -> Self {
        Self {
            cursor: TextCursor::new(text),
            tokens: VecDeque::new(),
            taken: 0,
            indent: -1,
            outer_indents: Vec::new(),
            keys: vec![PossibleKey::default()],
            key_allowed: true,
            is_done: false,
        }
    }

    /// The next token, which stays.
    pub(super) fn peek(&mut self) -> Result<&ScannedToken<'text>, SyntaxError> {
        while self.tokens.is_empty() || self.head_may_be_key()? {
            self.fetch()?;
        }
        // There is one now.
        self.tokens
            .front()
            .ok_or_else(|| self.error("unexpected end of tokens"))
    }

    /// Takes the token that was looked at.
    pub(super) fn take(&mut self) -> Option<ScannedToken<'text>> {
        self.taken += 1;
        self.tokens.pop_front()
    }

    pub(super) fn in_flow(&self) -> bool {
        self.keys.len() > 1
    }

    pub(super) fn error(&self, problem: &str) -> SyntaxError {
        error_at(ErrorStage::Scanner, self.cursor.mark(), problem)
    }

    fn head_may_be_key(&mut self) -> Result<bool, SyntaxError> {
        let head = self.taken;
        let level = self.keys.partition_point(|key| key.token < head);
        let awaited = |key: &PossibleKey| key.token == head && key.is_awaited;
        for level in level..self.keys.len() {
            match self.keys.get(level) {
                Some(key) if awaited(key) => return self.is_key_possible(level),
                Some(key) if key.token == head => {}
                _ => break,
            }
        }
        Ok(false)
    }

    /// Whether the possible key of a level still is one: it ends on its line, and soon.
    fn is_key_possible(&mut self, level: usize) -> Result<bool, SyntaxError> {
        let now = self.cursor.mark();
        let Some(key) = self.keys.get_mut(level).filter(|key| key.is_possible) else {
            return Ok(false);
        };
        if key.mark.line < now.line || key.mark.index + MAX_KEY < now.index {
            if key.is_required {
                return Err(error_at(ErrorStage::Scanner, now, "could not find expected ':'"));
            }
            key.is_possible = false;
            return Ok(false);
        }
        Ok(true)
    }

    fn save_key(&mut self) -> Result<(), SyntaxError> {
        if !self.key_allowed {
            return Ok(());
        }
        let mark = self.cursor.mark();
        let key = PossibleKey {
            is_possible: true,
            is_required: !self.in_flow() && usize::try_from(self.indent) == Ok(mark.column),
            is_awaited: true,
            token: self.taken + self.tokens.len(),
            mark,
        };
        self.drop_key()?;
        if let Some(last) = self.keys.last_mut() {
            *last = key;
        }
        Ok(())
    }

    /// Gives the possible key of the innermost level up.
    fn drop_key(&mut self) -> Result<(), SyntaxError> {
        let now = self.cursor.mark();
        match self.keys.last_mut() {
            Some(key) if key.is_possible && key.is_required => {
                Err(error_at(ErrorStage::Scanner, now, "could not find expected ':'"))
            }
            Some(key) => {
                key.is_possible = false;
                key.is_awaited = false;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn push(&mut self, kind: TokenKind<'text>, start: TextMark) {
        self.tokens
            .push_back(ScannedToken::new(kind, start, self.cursor.mark().offset));
    }

    /// Puts a token without a length before another that was not taken yet; if it was, last.
    fn insert(&mut self, token: usize, kind: TokenKind<'text>, mark: TextMark) {
        let place = token.checked_sub(self.taken).unwrap_or(self.tokens.len());
        self.tokens.insert(
            place.min(self.tokens.len()),
            ScannedToken::new(kind, mark, mark.offset),
        );
    }

    /// Begins a block collection if this column is deeper than the open ones.
    fn indent_to(
        &mut self,
        mark: TextMark,
        position: Option<usize>,
        kind: TokenKind<'text>,
    ) -> Result<(), SyntaxError> {
        let column = isize::try_from(mark.column).unwrap_or(isize::MAX);
        if self.in_flow() || self.indent >= column {
            return Ok(());
        }
        self.outer_indents.push(self.indent);
        self.indent = column;
        if self.outer_indents.len() > MAX_DEPTH {
            return Err(self.error(&format!("exceeded max depth of {MAX_DEPTH}")));
        }
        let position = position.unwrap_or(self.taken + self.tokens.len());
        self.insert(position, kind, mark);
        Ok(())
    }

    /// Ends the block collections that are deeper than a column.
    fn outdent_to(&mut self, column: isize) {
        while !self.in_flow() && self.indent > column {
            let mark = self.cursor.mark();
            self.tokens
                .push_back(ScannedToken::new(TokenKind::BlockEnd, mark, mark.offset));
            self.indent = self.outer_indents.pop().unwrap_or(-1);
        }
    }

    /// Reads the next token, and those that it brings about.
    fn fetch(&mut self) -> Result<(), SyntaxError> {
        if self.is_done {
            let mark = self.cursor.mark();
            self.push(TokenKind::StreamEnd, mark);
            return Ok(());
        }
        self.skip_to_token();
        self.outdent_to(isize::try_from(self.cursor.column()).unwrap_or(isize::MAX));
        if self.cursor.is_end() {
            return self.fetch_end();
        }
        let first = self.cursor.byte(0);
        if self.cursor.column() == 0 && first == b'%' {
            return self.fetch_directive();
        }
        if self.cursor.is_document_mark() {
            return self.fetch_document_mark(first);
        }
        let before_gap = self.cursor.is_gap(1);
        let in_flow = self.in_flow();
        match first {
            b'[' => self.fetch_flow_start(TokenKind::FlowSequenceStart),
            b'{' => self.fetch_flow_start(TokenKind::FlowMappingStart),
            b']' => self.fetch_flow_end(TokenKind::FlowSequenceEnd),
            b'}' => self.fetch_flow_end(TokenKind::FlowMappingEnd),
            b',' => self.fetch_flow_entry(),
            b'-' if before_gap => self.fetch_block_entry(),
            b'?' if in_flow || before_gap => self.fetch_key(),
            b':' if in_flow || before_gap => self.fetch_value(),
            b'*' | b'&' => self.fetch_node(Self::anchor),
            b'!' => self.fetch_node(Self::tag),
            b'|' | b'>' if !in_flow => self.fetch_block_scalar(first == b'|'),
            b'\'' => self.fetch_node(Self::single_quoted),
            b'"' => self.fetch_node(Self::double_quoted),
            b'\t' | b'#' | b'|' | b'>' | b'%' | b'@' | b'`' => {
                Err(self.error("found character that cannot start any token"))
            }
            _ => self.fetch_node(Self::plain),
        }
    }

    fn skip_to_token(&mut self) {
        loop {
            let tabs = self.in_flow() || !self.key_allowed;
            while self.cursor.byte(0) == b' ' || (tabs && self.cursor.byte(0) == b'\t') {
                self.cursor.skip_bytes(1);
            }
            self.cursor.skip_comment();
            if !self.cursor.is_break(0) {
                return;
            }
            self.cursor.skip_break();
            self.key_allowed |= !self.in_flow();
        }
    }

    fn fetch_end(&mut self) -> Result<(), SyntaxError> {
        self.cursor.finish_line();
        self.outdent_to(-1);
        self.drop_key()?;
        self.key_allowed = false;
        self.is_done = true;
        let mark = self.cursor.mark();
        self.push(TokenKind::StreamEnd, mark);
        Ok(())
    }

    fn fetch_directive(&mut self) -> Result<(), SyntaxError> {
        self.outdent_to(-1);
        self.drop_key()?;
        self.key_allowed = false;
        let start = self.cursor.mark();
        let kind = self.directive()?;
        self.push(kind, start);
        Ok(())
    }

    fn fetch_document_mark(&mut self, first: u8) -> Result<(), SyntaxError> {
        self.outdent_to(-1);
        self.drop_key()?;
        self.key_allowed = false;
        let start = self.cursor.mark();
        self.cursor.skip_bytes(3);
        let is_start = first == b'-';
        self.push(
            if is_start {
                TokenKind::DocumentStart
            } else {
                TokenKind::DocumentEnd
            },
            start,
        );
        Ok(())
    }

    fn fetch_flow_start(&mut self, kind: TokenKind<'text>) -> Result<(), SyntaxError> {
        self.save_key()?;
        let start = self.cursor.mark();
        self.keys.push(PossibleKey {
            token: self.taken + self.tokens.len(),
            mark: start,
            ..PossibleKey::default()
        });
        if self.keys.len() > MAX_DEPTH + 1 {
            return Err(self.error(&format!("exceeded max depth of {MAX_DEPTH}")));
        }
        self.key_allowed = true;
        self.cursor.skip();
        self.push(kind, start);
        Ok(())
    }

    fn fetch_flow_end(&mut self, kind: TokenKind<'text>) -> Result<(), SyntaxError> {
        self.drop_key()?;
        self.leave_flow();
        self.key_allowed = false;
        self.push_indicator(kind);
        Ok(())
    }

    /// Adds the token of the character at the cursor.
    fn push_indicator(&mut self, kind: TokenKind<'text>) {
        let start = self.cursor.mark();
        self.cursor.skip();
        self.push(kind, start);
    }

    /// Begins a block collection of this kind at the cursor, unless one of the same indentation is open, or
    /// the cursor is in a flow collection.
    fn begin_block(&mut self, kind: TokenKind<'text>, not_allowed: &'static str) -> Result<(), SyntaxError> {
        if self.in_flow() {
            return Ok(());
        }
        if !self.key_allowed {
            return Err(self.error(not_allowed));
        }
        let start = self.cursor.mark();
        self.indent_to(start, None, kind)
    }

    /// An empty flow collection is not waited for to become a key: the server mixes its token up with the collection's.
    fn leave_flow(&mut self) {
        if !self.in_flow() {
            return;
        }
        let left = self.keys.pop().unwrap_or_default();
        if let Some(outer) = self.keys.last_mut().filter(|outer| outer.token == left.token) {
            outer.is_awaited = false;
        }
    }

    fn fetch_flow_entry(&mut self) -> Result<(), SyntaxError> {
        self.drop_key()?;
        self.key_allowed = true;
        self.push_indicator(TokenKind::FlowEntry);
        Ok(())
    }

    fn fetch_block_entry(&mut self) -> Result<(), SyntaxError> {
        let not_allowed = "block sequence entries are not allowed in this context";
        self.begin_block(TokenKind::BlockSequenceStart, not_allowed)?;
        self.drop_key()?;
        self.key_allowed = true;
        self.push_indicator(TokenKind::BlockEntry);
        Ok(())
    }

    fn fetch_key(&mut self) -> Result<(), SyntaxError> {
        let not_allowed = "mapping keys are not allowed in this context";
        self.begin_block(TokenKind::BlockMappingStart, not_allowed)?;
        self.drop_key()?;
        self.key_allowed = !self.in_flow();
        self.push_indicator(TokenKind::Key);
        Ok(())
    }

    fn fetch_value(&mut self) -> Result<(), SyntaxError> {
        let level = self.keys.len().saturating_sub(1);
        if self.is_key_possible(level)? {
            let key = self.keys.last().copied().unwrap_or_default();
            self.insert(key.token, TokenKind::Key, key.mark);
            self.indent_to(key.mark, Some(key.token), TokenKind::BlockMappingStart)?;
            if let Some(key) = self.keys.last_mut() {
                key.is_possible = false;
                key.is_awaited = false;
            }
            self.key_allowed = false;
        } else {
            let not_allowed = "mapping values are not allowed in this context";
            self.begin_block(TokenKind::BlockMappingStart, not_allowed)?;
            self.key_allowed = !self.in_flow();
        }
        self.push_indicator(TokenKind::Value);
        Ok(())
    }

    /// A token that a key may begin with.
    fn fetch_node(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<ScannedToken<'text>, SyntaxError>,
    ) -> Result<(), SyntaxError> {
        self.save_key()?;
        self.key_allowed = false;
        let token = read(self)?;
        self.tokens.push_back(token);
        Ok(())
    }

    fn fetch_block_scalar(&mut self, is_literal: bool) -> Result<(), SyntaxError> {
        self.drop_key()?;
        self.key_allowed = true;
        let token = self.block_scalar(is_literal)?;
        self.tokens.push_back(token);
        Ok(())
    }
}
