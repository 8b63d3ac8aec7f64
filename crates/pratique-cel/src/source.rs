//! The text of an expression and the places in it.

/// The text of an expression, with an index of its lines.
#[derive(Clone, Debug)]
pub struct Source {
    text: String,
    /// For each line: the offset of its first code point, and of its first byte.
    lines: Vec<(u32, usize)>,
}

/// A place in a source: the line counts from 1, the column in code points from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 1; `-1` for what has no place.
    pub line: i32,
    /// The column in code points, from 0; `-1` for what has no place.
    pub column: i32,
}

impl Position {
    /// The place of errors about an expression as a whole.
    pub const NOWHERE: Position = Position { line: -1, column: -1 };

    /// The byte of this place in its text: the first for what has no place, the end for what lies behind it.
    pub fn byte_offset(self, text: &str) -> usize {
        let (Ok(line), Ok(column)) = (usize::try_from(self.line), usize::try_from(self.column)) else {
            return 0;
        };
        let lines = text.split_inclusive('\n').take(line.saturating_sub(1));
        let start: usize = lines.map(str::len).sum();
        let line = text.get(start..).unwrap_or_default();
        start + line.char_indices().nth(column).map_or(line.len(), |(at, _)| at)
    }
}

impl Source {
    /// Takes the text of an expression.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let mut lines = vec![(0, 0)];
        let (mut offset, mut byte) = (0, 0);
        for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            offset += line.chars().count() as u32;
            byte += line.len();
            lines.push((offset, byte));
        }
        Source { text, lines }
    }

    /// The whole text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The place of an offset in code points.
    pub fn position(&self, offset: u32) -> Position {
        let after = self.lines.partition_point(|(start, _)| *start <= offset);
        let start = after
            .checked_sub(1)
            .and_then(|line| self.lines.get(line))
            .map_or(0, |(start, _)| *start);
        Position {
            line: after as i32,
            column: (offset - start) as i32,
        }
    }

    /// The text of a line, counted from 1, without its end.
    pub fn line(&self, line: i32) -> Option<&str> {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        let (_, start) = *self.lines.get(index)?;
        let end = self
            .lines
            .get(index + 1)
            .map_or(self.text.len(), |(_, next)| next - 1);
        self.text.get(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_bytes() {
        let text = "'ä' +\n  b";
        for (line, column, offset) in [(1, 0, 0), (1, 2, 3), (2, 2, 9), (2, 9, 10), (-1, 0, 0)] {
            assert_eq!(
                Position { line, column }.byte_offset(text),
                offset,
                "{line}:{column}"
            );
        }
    }

    #[test]
    fn places_count_lines_and_code_points() {
        let source = Source::new("a\nßb\n");
        for (offset, line, column) in [(0, 1, 0), (1, 1, 1), (2, 2, 0), (3, 2, 1), (5, 3, 0)] {
            assert_eq!(source.position(offset), Position { line, column });
        }
        assert_eq!(source.line(2), Some("ßb"));
        assert_eq!(source.line(3), Some(""));
        assert_eq!(source.line(4), None);
    }
}
