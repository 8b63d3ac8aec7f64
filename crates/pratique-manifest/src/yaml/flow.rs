//! Where a fault within brackets lies for a parser that goes token by token.
//!
//! A bracket that is not closed swallows the lines after it. The server notices at the first token that cannot follow
//! (often the `:` of the next line); this walk over the tokens of the outermost bracket finds that one.

/// Where the server loses track, and what it expected there.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FlowFault {
    pub(super) offset: usize,
    pub(super) problem: &'static str,
}

/// An open bracket and what stands last in it.
struct Frame {
    is_sequence: bool,
    last: Last,
}

impl Frame {
    fn end_value(&mut self, is_one_line: bool) {
        let may_be_key = is_one_line && self.last != Last::Colon;
        self.last = if may_be_key { Last::Key } else { Last::Value };
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// The bracket or a comma: a value may follow.
    Separator,
    /// A colon: a value may follow that is no key.
    Colon,
    /// A value that may become a key.
    Key,
    /// A value after a colon, or one that spans lines: only a separator may follow.
    Value,
}

enum Token {
    Open {
        is_sequence: bool,
    },
    Close {
        is_sequence: bool,
    },
    Comma,
    Colon,
    /// A dash before a blank, which begins nothing within brackets.
    Dash,
    Value {
        is_one_line: bool,
    },
}

/// Finds the fault of a text whose parser gave up at `offset`, which lies in or at a bracket.
pub(super) fn find_fault(text: &str, offset: usize) -> FlowFault {
    let mut walk = Walk {
        text,
        at: outermost(text, offset),
        frames: Vec::new(),
    };
    loop {
        walk.skip_blanks();
        let start = walk.at;
        let Some(token) = walk.token() else {
            return walk.fault(text.len());
        };
        if !walk.accept(&token) {
            return walk.fault(start);
        }
        if walk.frames.is_empty() {
            // This bracket is sound; a later one is not.
            walk.at = outermost_from(text, walk.at);
        }
    }
}

/// The first bracket of the line that the fault is on, or of one before it, that opens a value.
fn outermost(text: &str, offset: usize) -> usize {
    let line_start = text
        .get(..offset)
        .and_then(|before| before.rfind('\n'))
        .map_or(0, |at| at + 1);
    let found = outermost_from(text, line_start);
    if found <= offset {
        found
    } else {
        text.get(..offset)
            .and_then(|before| before.rfind(['[', '{']))
            .unwrap_or(offset)
    }
}

/// The first bracket from a place on that stands where a value begins.
fn outermost_from(text: &str, from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    let mut before = ' ';
    for (at, c) in rest.char_indices() {
        if matches!(c, '[' | '{') && matches!(before, ' ' | '\n' | '\t') {
            return from + at;
        }
        before = c;
    }
    text.len()
}

struct Walk<'a> {
    text: &'a str,
    at: usize,
    frames: Vec<Frame>,
}

impl Walk<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let blanks = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
            let comment = rest.get(blanks..).filter(|rest| rest.starts_with('#'));
            let comment = comment.map_or(0, |rest| rest.find('\n').unwrap_or(rest.len()));
            self.at += blanks + comment;
            if comment == 0 {
                return;
            }
        }
    }

    fn token(&mut self) -> Option<Token> {
        let first = self.rest().chars().next()?;
        let (token, len) = match first {
            '[' | '{' => (
                Token::Open {
                    is_sequence: first == '[',
                },
                1,
            ),
            ']' | '}' => (
                Token::Close {
                    is_sequence: first == ']',
                },
                1,
            ),
            ',' => (Token::Comma, 1),
            ':' => (Token::Colon, 1),
            '-' if self
                .rest()
                .get(1..)
                .is_some_and(|rest| rest.starts_with([' ', '\n'])) =>
            {
                (Token::Dash, 1)
            }
            _ => {
                let len = if matches!(first, '"' | '\'') {
                    self.quoted_len(first)
                } else {
                    self.plain_len()
                };
                let value = self.rest().get(..len).unwrap_or_default();
                (
                    Token::Value {
                        is_one_line: !value.contains('\n'),
                    },
                    len,
                )
            }
        };
        self.at += len.max(1);
        Some(token)
    }

    fn quoted_len(&self, quote: char) -> usize {
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' if quote == '"' => {
                    chars.next();
                }
                _ if c == quote => return at + 1,
                _ => {}
            }
        }
        self.rest().len()
    }

    /// A plain scalar ends at a separator, at a bracket, at a colon before a blank, and at a comment.
    fn plain_len(&self) -> usize {
        let rest = self.rest();
        let mut before = ' ';
        for (at, c) in rest.char_indices() {
            let ends = match c {
                ',' | '[' | ']' | '{' | '}' | '?' => at > 0,
                ':' => rest
                    .get(at + 1..)
                    .is_none_or(|after| after.is_empty() || after.starts_with([' ', '\t', '\n'])),
                '#' => before.is_whitespace() && at > 0,
                _ => false,
            };
            if ends {
                return rest.get(..at).map_or(at, |scalar| scalar.trim_end().len()).max(1);
            }
            before = c;
        }
        rest.trim_end().len().max(1)
    }

    /// Takes a token; false if it cannot stand here.
    fn accept(&mut self, token: &Token) -> bool {
        let Some(frame) = self.frames.last_mut() else {
            if let Token::Open { is_sequence } = token {
                self.frames.push(Frame {
                    is_sequence: *is_sequence,
                    last: Last::Separator,
                });
            }
            return true;
        };
        let awaits_value = matches!(frame.last, Last::Separator | Last::Colon);
        match token {
            Token::Comma if frame.last == Last::Separator => return false,
            Token::Comma => frame.last = Last::Separator,
            Token::Colon if matches!(frame.last, Last::Value | Last::Colon) => return false,
            Token::Colon => frame.last = Last::Colon,
            Token::Close { is_sequence } if *is_sequence == frame.is_sequence => {
                self.frames.pop();
                if let Some(outer) = self.frames.last_mut() {
                    outer.end_value(true);
                }
            }
            Token::Open { is_sequence } if awaits_value => {
                self.frames.push(Frame {
                    is_sequence: *is_sequence,
                    last: Last::Separator,
                });
            }
            Token::Value { is_one_line } if awaits_value => frame.end_value(*is_one_line),
            Token::Open { .. } | Token::Close { .. } | Token::Value { .. } | Token::Dash => return false,
        }
        true
    }

    fn fault(&self, offset: usize) -> FlowFault {
        let problem = match self.frames.last() {
            Some(Frame {
                last: Last::Separator | Last::Colon,
                ..
            })
            | None => "did not find expected node content",
            Some(Frame {
                is_sequence: true, ..
            }) => "did not find expected ',' or ']'",
            Some(Frame {
                is_sequence: false, ..
            }) => "did not find expected ',' or '}'",
        };
        FlowFault { offset, problem }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, offset: usize, problem: &str) {
        let fault = find_fault(text, text.find(['[', '{']).unwrap());
        assert_eq!((fault.offset, fault.problem), (offset, problem), "{text:?}");
    }

    #[test]
    fn the_token_that_cannot_follow_is_found() {
        check("a: [", 4, "did not find expected node content");
        check("a: [b", 5, "did not find expected ',' or ']'");
        check("a: [b,", 6, "did not find expected node content");
        check("a: [b\nc: d", 7, "did not find expected ',' or ']'");
        check("a: {b: c\nd: e", 10, "did not find expected ',' or '}'");
        check("a: {b: [c}", 9, "did not find expected ',' or ']'");
        check("a: [\"b\" c]", 8, "did not find expected ',' or ']'");
    }
}
