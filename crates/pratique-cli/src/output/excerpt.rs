//! Excerpts: the line of a problem, with its range underlined.

use std::collections::HashMap;
use std::ops::Range;

use pratique_manifest::Location;
use pratique_stream::to_utf8;
use pratique_types::is_nonprinting;

use super::text::{PrintableText, text};
use crate::input::permitted_paths::read_regular;
use crate::style::{StreamStyle, TextTone};

/// The maximum width of an excerpt, in characters.
const WIDTH: usize = 100;
/// The number of characters before the range.
const BEFORE: usize = 40;

/// The number of characters between indexed columns of a line.
const STRIDE: usize = 128;
/// The maximum size of a file, in bytes: that of manifests.
const LARGEST: u64 = 512 << 20;

/// A cache of the texts of files, by path.
#[derive(Debug, Default)]
pub(crate) struct FileTexts(HashMap<String, Option<IndexedText>>);

/// The text of a file, with indices of its lines and columns.
#[derive(Debug)]
struct IndexedText {
    text: String,
    /// The number of the first line.
    first: usize,
    starts: Vec<usize>,
    columns: HashMap<usize, ColumnOffsets>,
}

/// The offsets of every [`STRIDE`]th character of a line, and their number: a file may be one long line.
#[derive(Debug)]
struct ColumnOffsets {
    offsets: Vec<usize>,
    count: usize,
}

impl FileTexts {
    /// Adds the text of an input that cannot be read again.
    pub(crate) fn insert(&mut self, path: &str, content: &[u8]) {
        self.insert_part(path, content, 1);
    }

    /// Adds a part of the text of an input that begins with a line, counted from 1.
    pub(crate) fn insert_part(&mut self, path: &str, content: &[u8], line: u32) {
        let text = String::from_utf8(content.to_vec()).ok();
        let first = usize::try_from(line).unwrap_or(usize::MAX);
        let part = |text| IndexedText {
            first,
            ..IndexedText::new(text)
        };
        self.0.insert(path.to_owned(), text.map(part));
    }

    /// The line of a location, with the range underlined; `None` if the file cannot be read any more.
    pub(crate) fn excerpt(
        &mut self,
        location: &Location,
        tone: TextTone,
        style: StreamStyle,
    ) -> Option<PrintableText> {
        let contents = self.contents(&location.file)?;
        let number = usize::try_from(location.start.line).ok()?;
        let start = usize::try_from(location.start.column).ok()?.saturating_sub(1);
        let end = if location.end.line == location.start.line {
            usize::try_from(location.end.column).ok()?.saturating_sub(1)
        } else {
            usize::MAX
        };
        contents.frame(number, start..end, tone, style)
    }

    fn contents(&mut self, path: &str) -> Option<&mut IndexedText> {
        if !self.0.contains_key(path) {
            let bytes = read_regular(path, LARGEST).ok().map(to_utf8);
            let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
            self.0.insert(path.to_owned(), text.map(IndexedText::new));
        }
        self.0.get_mut(path)?.as_mut()
    }
}

impl IndexedText {
    fn new(text: String) -> Self {
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(breaks).collect();
        IndexedText {
            text,
            first: 1,
            starts,
            columns: HashMap::new(),
        }
    }

    /// Shows the part of a line, counted from 1, around a range of characters.
    fn frame(
        &mut self,
        number: usize,
        place: Range<usize>,
        tone: TextTone,
        style: StreamStyle,
    ) -> Option<PrintableText> {
        let index = number.checked_sub(self.first)?;
        let start = *self.starts.get(index)?;
        let end = self
            .starts
            .get(index + 1)
            .map_or(self.text.len(), |next| next - 1);
        let line = self.text.get(start..end)?.trim_end();
        let columns = self
            .columns
            .entry(number)
            .or_insert_with(|| ColumnOffsets::new(line));
        Some(frame(number, line, columns, place, tone, style))
    }
}

impl ColumnOffsets {
    fn new(line: &str) -> Self {
        let characters = line.char_indices().enumerate();
        let strides = characters.clone().filter(|(column, _)| column % STRIDE == 0);
        ColumnOffsets {
            offsets: strides.map(|(_, (offset, _))| offset).collect(),
            count: characters.count(),
        }
    }

    /// The characters of the line from a column on.
    fn from<'l>(&self, line: &'l str, column: usize) -> impl Iterator<Item = char> + 'l {
        let offset = self.offsets.get(column / STRIDE).copied().unwrap_or(line.len());
        line.get(offset..)
            .unwrap_or_default()
            .chars()
            .skip(column % STRIDE)
    }
}

/// Shows the part of a line around a range of characters.
fn frame(
    number: usize,
    line: &str,
    columns: &ColumnOffsets,
    place: Range<usize>,
    tone: TextTone,
    style: StreamStyle,
) -> PrintableText {
    let length = columns.count;
    let Range { start, end } = place;
    let from = if length <= WIDTH {
        0
    } else {
        start.min(length).saturating_sub(BEFORE)
    };
    let excerpt: String = columns.from(line, from).take(WIDTH).map(visible).collect();
    let last = excerpt.chars().count() + from;
    let end = end.clamp(start + 1, last.max(start + 1));
    let (left, right) = (
        if from > 0 { "…" } else { "" },
        if last < length { "…" } else { "" },
    );
    let pad: String = left
        .chars()
        .chain(columns.from(line, from).take(start - from))
        .map(blank)
        .collect();
    let carets = "^".repeat(end - start);
    let number = number.to_string();
    let margin = " ".repeat(number.len());
    text!(
        "{} {}{}{}\n{} {}{}\n",
        style.paint(TextTone::Faint, text!("{} |", number)),
        left,
        excerpt,
        right,
        style.paint(TextTone::Faint, text!("{} |", margin)),
        pad,
        style.paint(tone, carets),
    )
}

/// Replaces a character that is invisible or moves the cursor.
fn visible(character: char) -> char {
    match character {
        '\t' => ' ',
        hidden if is_nonprinting(hidden) => '\u{fffd}',
        seen => seen,
    }
}

/// A blank of the width of a character.
fn blank(character: char) -> char {
    // Wide characters of East Asia take two columns, and so does the ideographic space.
    match character {
        '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' => '\u{3000}',
        '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}' => '\u{3000}',
        '\u{1f300}'..='\u{1faff}' => '\u{3000}',
        _ => ' ',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, start: usize, end: usize, expected: &str) {
        let shown = frame(
            7,
            line,
            &ColumnOffsets::new(line),
            start..end,
            TextTone::Bad,
            StreamStyle::default(),
        );
        assert_eq!(shown.as_str(), expected);
    }

    #[test]
    fn places_are_underlined() {
        check("a: bcd", 3, 6, "7 | a: bcd\n  |    ^^^\n");
        check("a: bcd", 3, usize::MAX, "7 | a: bcd\n  |    ^^^\n");
        check("a:", 2, 2, "7 | a:\n  |   ^\n");
        check("a:", 9, 10, "7 | a:\n  |   ^\n");
        check("\ta: 語x", 5, 6, "7 |  a: 語x\n  |     \u{3000}^\n");
        check(
            "a\u{202e}\u{1b}: x",
            5,
            6,
            "7 | a\u{fffd}\u{fffd}: x\n  |      ^\n",
        );
    }

    #[test]
    fn long_lines_are_cut() {
        let line = format!("{}X{}", "a".repeat(500), "b".repeat(500));
        let expected = format!(
            "7 | …{}X{}…\n  |  {}^\n",
            "a".repeat(BEFORE),
            "b".repeat(WIDTH - BEFORE - 1),
            " ".repeat(BEFORE)
        );
        check(&line, 500, 501, &expected);
        let line = format!("{}X{}", "é".repeat(500), "b".repeat(10));
        let expected = format!(
            "7 | …{}X{}\n  |  {}^\n",
            "é".repeat(BEFORE),
            "b".repeat(10),
            " ".repeat(BEFORE)
        );
        check(&line, 500, 501, &expected);
        check("", 4_000_000_000, 4_000_000_001, "7 | \n  | ^\n");
    }
}
