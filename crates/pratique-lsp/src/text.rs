//! The text of a document, and positions in it.

use lsp_types::{Position, Range, TextDocumentContentChangeEvent};
use pratique_manifest::Location;

/// A text with the places where its lines begin.
#[derive(Clone, Debug, Default)]
pub(crate) struct IndexedText {
    content: String,
    lines: Vec<usize>,
}

impl IndexedText {
    pub(crate) fn new(content: String) -> Self {
        let breaks = content.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect();
        IndexedText { content, lines }
    }

    pub(crate) fn content(&self) -> &str {
        &self.content
    }

    /// A line without its end, and where it begins.
    fn line(&self, line: u32) -> (usize, &str) {
        let line = line as usize;
        let Some(start) = self.lines.get(line).copied() else {
            return (self.content.len(), "");
        };
        let end = self
            .lines
            .get(line + 1)
            .map_or(self.content.len(), |next| next - 1);
        let text = self.content.get(start..end).unwrap_or_default();
        (start, text.strip_suffix('\r').unwrap_or(text))
    }

    /// The byte that a position is at; the end of the line where the line is shorter.
    pub(crate) fn offset(&self, position: Position) -> usize {
        let (start, line) = self.line(position.line);
        let mut units = 0;
        for (at, character) in line.char_indices() {
            if units >= position.character {
                return start + at;
            }
            units += utf16(character);
        }
        start + line.len()
    }

    /// A position as locations of manifests have it: line and column from 1, the column in characters.
    pub(crate) fn line_and_column(&self, position: Position) -> (u32, u32) {
        let (start, line) = self.line(position.line);
        let start = line
            .get(..self.offset(position).saturating_sub(start))
            .unwrap_or(line);
        let column = start.chars().count() + 1;
        (position.line + 1, u32::try_from(column).unwrap_or(u32::MAX))
    }

    /// The range of a location.
    pub(crate) fn range(&self, location: &Location) -> Range {
        let place = |at: &pratique_manifest::Position| {
            let (_, line) = self.line(at.line.saturating_sub(1));
            let start = line.chars().take(at.column.saturating_sub(1) as usize);
            Position::new(at.line.saturating_sub(1), start.map(utf16).sum())
        };
        Range::new(place(&location.start), place(&location.end))
    }

    /// Applies a change of the client.
    pub(crate) fn apply(&mut self, change: TextDocumentContentChangeEvent) {
        let Some(range) = change.range else {
            *self = IndexedText::new(change.text);
            return;
        };
        let start = self.offset(range.start);
        let end = self.offset(range.end).max(start);
        let mut content = std::mem::take(&mut self.content);
        content.replace_range(start..end, &change.text);
        *self = IndexedText::new(content);
    }
}

/// The UTF-16 code units of a character, in which clients count.
fn utf16(character: char) -> u32 {
    if u32::from(character) > 0xffff { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_utf16() {
        let text = IndexedText::new("a\r\nä😀b\nend".to_owned());
        let at = Position::new(1, 3);
        assert_eq!(text.offset(at), 9);
        assert_eq!(text.line_and_column(at), (2, 3));
        assert_eq!(text.offset(Position::new(0, 9)), 1);
        assert_eq!(text.offset(Position::new(9, 9)), text.content().len());
    }

    #[test]
    fn changes_apply() {
        let mut text = IndexedText::new("one\ntwo\n".to_owned());
        let change = |range, text: &str| TextDocumentContentChangeEvent {
            range,
            range_length: None,
            text: text.to_owned(),
        };
        let range = Range::new(Position::new(0, 2), Position::new(1, 1));
        text.apply(change(Some(range), "X"));
        assert_eq!(text.content(), "onXwo\n");
        text.apply(change(None, "new"));
        assert_eq!(text.content(), "new");
    }
}
