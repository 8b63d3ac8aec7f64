//! Block scalars: `|` keeps lines, `>` folds them; both are cut at their indentation.

use super::SyntaxError;
use super::scanner::TokenScanner;
use super::token::{ScannedToken, TokenKind};
use crate::tree::StringStyle;

/// How the line ends at a block scalar's end are handled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineChomping {
    /// `-`: they go.
    Strip,
    /// One stays.
    Clip,
    /// `+`: they stay.
    Keep,
}

impl<'text> TokenScanner<'text> {
    pub(super) fn block_scalar(&mut self, is_literal: bool) -> Result<ScannedToken<'text>, SyntaxError> {
        let start = self.cursor.mark();
        self.cursor.skip();
        let (chomping, increment) = self.block_header()?;
        let mut end = self.cursor.mark().offset;
        if self.cursor.is_break(0) {
            self.cursor.skip_break();
        }
        let mut indent = match increment {
            0 => 0,
            _ => usize::try_from(self.indent).unwrap_or_default() + increment,
        };
        let mut text = String::new();
        let mut line_break = String::new();
        let mut empty_lines = String::new();
        let mut was_indented = false;
        self.block_breaks(&mut indent, &mut empty_lines)?;
        while self.cursor.column() == indent && !self.cursor.is_end() {
            let is_indented = self.cursor.is_blank();
            if !is_literal && !was_indented && !is_indented && line_break == "\n" {
                if empty_lines.is_empty() {
                    text.push(' ');
                }
            } else {
                text.push_str(&line_break);
            }
            line_break.clear();
            text.push_str(&empty_lines);
            empty_lines.clear();
            was_indented = is_indented;
            let line = self.cursor.mark().offset;
            while !self.cursor.is_line_end() {
                self.cursor.skip();
            }
            text.push_str(self.cursor.since(line));
            end = self.cursor.mark().offset;
            if self.cursor.is_break(0) {
                line_break.push(self.cursor.skip_break());
            }
            self.block_breaks(&mut indent, &mut empty_lines)?;
        }
        if chomping != LineChomping::Strip {
            text.push_str(&line_break);
        }
        if chomping == LineChomping::Keep {
            text.push_str(&empty_lines);
        }
        let kind = TokenKind::Scalar {
            decoded: Some(text.into_boxed_str()),
            style: if is_literal {
                StringStyle::Literal
            } else {
                StringStyle::Folded
            },
        };
        Ok(ScannedToken::new(kind, start, end))
    }

    /// The chomping and how far the scalar is indented, 0 if its text decides; up to the line's end.
    fn block_header(&mut self) -> Result<(LineChomping, usize), SyntaxError> {
        let chomping = self.chomping();
        let mut increment = 0;
        match self.cursor.byte(0) {
            b'0' => return Err(self.error("found an indentation indicator equal to 0")),
            digit @ b'1'..=b'9' => {
                increment = usize::from(digit - b'0');
                self.cursor.skip();
            }
            _ => {}
        }
        let chomping = if chomping == LineChomping::Clip && increment > 0 {
            self.chomping()
        } else {
            chomping
        };
        self.cursor.skip_blanks();
        self.cursor.skip_comment();
        if self.cursor.is_line_end() {
            Ok((chomping, increment))
        } else {
            Err(self.error("did not find expected comment or line break"))
        }
    }

    fn chomping(&mut self) -> LineChomping {
        let chomping = match self.cursor.byte(0) {
            b'+' => LineChomping::Keep,
            b'-' => LineChomping::Strip,
            _ => return LineChomping::Clip,
        };
        self.cursor.skip();
        chomping
    }

    /// Skips indentation and takes the ends of empty lines. The first line that is not empty settles the indentation.
    fn block_breaks(&mut self, indent: &mut usize, empty_lines: &mut String) -> Result<(), SyntaxError> {
        let mut deepest = 0;
        loop {
            let within = |column: usize| *indent == 0 || column < *indent;
            while within(self.cursor.column()) && self.cursor.byte(0) == b' ' {
                self.cursor.skip_bytes(1);
            }
            deepest = deepest.max(self.cursor.column());
            if within(self.cursor.column()) && self.cursor.byte(0) == b'\t' {
                return Err(self.error("found a tab character where an indentation space is expected"));
            }
            if !self.cursor.is_break(0) {
                break;
            }
            empty_lines.push(self.cursor.skip_break());
        }
        if *indent == 0 {
            let least = usize::try_from(self.indent.saturating_add(1)).unwrap_or_default();
            *indent = deepest.max(least).max(1);
        }
        Ok(())
    }
}
