//! A place in a document's text that moves forward, with the line and column that the server counts.
//!
//! Lines end as in YAML 1.1: at LF, CR, CRLF, NEL, and at Unicode's line and paragraph separators.

/// A place: byte and character offset, and line and column, all from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TextMark {
    pub(super) offset: usize,
    /// Characters before it; CRLF counts as two.
    pub(super) index: usize,
    pub(super) line: usize,
    /// Characters before it on its line.
    pub(super) column: usize,
}

#[derive(Clone, Debug)]
pub(super) struct TextCursor<'text> {
    text: &'text str,
    mark: TextMark,
}

impl<'text> TextCursor<'text> {
    pub(super) fn new(text: &'text str) -> Self {
        Self {
            text,
            mark: TextMark::default(),
        }
    }

    pub(super) fn mark(&self) -> TextMark {
        self.mark
    }

    pub(super) fn column(&self) -> usize {
        self.mark.column
    }

    pub(super) fn as_str(&self) -> &'text str {
        self.text
    }

    /// The byte so many bytes ahead; 0 past the end, which no text has.
    pub(super) fn byte(&self, ahead: usize) -> u8 {
        let at = self.mark.offset + ahead;
        self.text.as_bytes().get(at).copied().unwrap_or_default()
    }

    pub(super) fn is_end(&self) -> bool {
        self.mark.offset >= self.text.len()
    }

    pub(super) fn is_blank(&self) -> bool {
        is_blank(self.byte(0))
    }

    /// Whether a line ends so many bytes ahead.
    pub(super) fn is_break(&self, ahead: usize) -> bool {
        match self.byte(ahead) {
            b'\n' | b'\r' => true,
            0xC2 => self.byte(ahead + 1) == 0x85,
            0xE2 => self.byte(ahead + 1) == 0x80 && matches!(self.byte(ahead + 2), 0xA8 | 0xA9),
            _ => false,
        }
    }

    /// Whether a blank, a line's end or the text's end is so many bytes ahead.
    pub(super) fn is_gap(&self, ahead: usize) -> bool {
        match self.byte(ahead) {
            0 | b' ' | b'\t' => true,
            _ => self.is_break(ahead),
        }
    }

    pub(super) fn is_line_end(&self) -> bool {
        self.is_end() || self.is_break(0)
    }

    /// Whether a line that starts here is `---` or `...`, by itself or before a blank.
    pub(super) fn is_document_mark(&self) -> bool {
        let first = self.byte(0);
        self.mark.column == 0
            && matches!(first, b'-' | b'.')
            && self.byte(1) == first
            && self.byte(2) == first
            && self.is_gap(3)
    }

    /// Moves past a character that ends no line.
    pub(super) fn skip(&mut self) {
        self.mark.offset += match self.byte(0) {
            0..0x80 => 1,
            0x80..0xE0 => 2,
            0xE0..0xF0 => 3,
            0xF0.. => 4,
        };
        self.mark.index += 1;
        self.mark.column += 1;
    }

    /// Moves past characters of one byte each.
    pub(super) fn skip_bytes(&mut self, count: usize) {
        self.mark.offset += count;
        self.mark.index += count;
        self.mark.column += count;
    }

    /// Skips a line end and returns it as it is read: LF for all but Unicode's line and paragraph separators.
    pub(super) fn skip_break(&mut self) -> char {
        let (bytes, chars, read) = match self.byte(0) {
            b'\r' if self.byte(1) == b'\n' => (2, 2, '\n'),
            0xC2 => (2, 1, '\n'),
            0xE2 if self.byte(2) == 0xA8 => (3, 1, '\u{2028}'),
            0xE2 => (3, 1, '\u{2029}'),
            _ => (1, 1, '\n'),
        };
        self.mark.offset += bytes;
        self.mark.index += chars;
        self.mark.column = 0;
        self.mark.line += 1;
        read
    }

    pub(super) fn skip_blanks(&mut self) {
        while self.is_blank() {
            self.skip_bytes(1);
        }
    }

    /// Moves to the end of the line if a comment is here.
    pub(super) fn skip_comment(&mut self) {
        if self.byte(0) == b'#' {
            while !self.is_line_end() {
                self.skip();
            }
        }
    }

    /// Takes letters, digits, dashes and underscores.
    pub(super) fn word(&mut self) -> &'text str {
        let start = self.mark.offset;
        while is_word(self.byte(0)) {
            self.skip_bytes(1);
        }
        self.since(start)
    }

    /// The text from an offset to here.
    pub(super) fn since(&self, start: usize) -> &'text str {
        self.text.get(start..self.mark.offset).unwrap_or_default()
    }

    /// The line after the last one, where the server sees the end of a text whose last line has no end.
    pub(super) fn finish_line(&mut self) {
        if self.mark.column != 0 {
            self.mark.column = 0;
            self.mark.line += 1;
        }
    }
}

pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// The ends of lines within a scalar, until it is known whether they are folded.
#[derive(Debug, Default)]
pub(super) struct LineBreaks {
    first: Option<char>,
    rest: String,
}

impl LineBreaks {
    pub(super) fn push(&mut self, read: char) {
        match self.first {
            None => self.first = Some(read),
            Some(_) => self.rest.push(read),
        }
    }

    /// Writes them as folding does: one alone becomes a space, of several the first goes.
    pub(super) fn fold_into(&mut self, text: &mut String) {
        match self.first.take() {
            Some('\n') if self.rest.is_empty() => text.push(' '),
            Some('\n') | None => {}
            Some(other) => text.push(other),
        }
        text.push_str(&self.rest);
        self.rest.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_as_in_yaml_1_1() {
        let mut cursor = TextCursor::new("é\r\nb\u{85}\u{2028}c");
        let mut places = Vec::new();
        while !cursor.is_end() {
            if cursor.is_break(0) {
                places.push(cursor.skip_break().to_string());
            } else {
                cursor.skip();
                let mark = cursor.mark();
                places.push(format!("{}:{}", mark.line, mark.column));
            }
        }
        assert_eq!(places, ["0:1", "\n", "1:1", "\n", "\u{2028}", "3:1"]);
        assert_eq!((cursor.mark().offset, cursor.mark().index), (11, 7));
    }

    #[test]
    fn breaks_fold() {
        for (given, expected) in [
            ("\n", " "),
            ("\n\n\n", "\n\n"),
            ("\u{2028}\n", "\u{2028}\n"),
            ("", ""),
        ] {
            let mut breaks = LineBreaks::default();
            given.chars().for_each(|read| breaks.push(read));
            let mut text = String::new();
            breaks.fold_into(&mut text);
            assert_eq!(text, expected);
        }
    }
}
