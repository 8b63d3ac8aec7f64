//! The line of a file that a problem is on, with the place underlined.

use std::collections::HashMap;
use std::fs;
use std::ops::Range;

use pratique_manifest::Location;

use crate::style::{Style, Tone};

/// The longest part of a line that is shown, in characters.
const WIDTH: usize = 100;
/// How much of that comes before the place.
const BEFORE: usize = 40;

/// The texts of files, by path, as far as they were looked at.
#[derive(Debug, Default)]
pub(crate) struct Texts(HashMap<String, Option<Text>>);

/// A file's text and where its lines start.
#[derive(Debug)]
struct Text {
    content: String,
    starts: Vec<usize>,
}

impl Texts {
    /// Knows the text of a file that cannot be read again.
    pub(crate) fn insert(&mut self, path: &str, content: &[u8]) {
        let text = String::from_utf8(content.to_vec()).ok();
        self.0.insert(path.to_owned(), text.map(Text::new));
    }

    /// The line of a place, and the place underlined; nothing for a file that is no text any more.
    pub(crate) fn excerpt(&mut self, location: &Location, tone: Tone, style: Style) -> Option<String> {
        let text = self.text(&location.file)?;
        let number = usize::try_from(location.start.line).ok()?;
        let line = text.line(number)?;
        let start = usize::try_from(location.start.column).ok()?.saturating_sub(1);
        let end = if location.end.line == location.start.line {
            usize::try_from(location.end.column).ok()?.saturating_sub(1)
        } else {
            usize::MAX
        };
        Some(frame(number, line.trim_end(), start..end, tone, style))
    }

    fn text(&mut self, path: &str) -> Option<&Text> {
        if !self.0.contains_key(path) {
            let text = fs::read_to_string(path).ok();
            self.0.insert(path.to_owned(), text.map(Text::new));
        }
        self.0.get(path)?.as_ref()
    }
}

impl Text {
    fn new(content: String) -> Self {
        let breaks = content.match_indices('\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(breaks).collect();
        Text { content, starts }
    }

    /// A line, counted from 1.
    fn line(&self, number: usize) -> Option<&str> {
        let start = *self.starts.get(number.checked_sub(1)?)?;
        self.content.get(start..)?.split('\n').next()
    }
}

/// Shows the part of a line around a range of its characters.
fn frame(number: usize, line: &str, place: Range<usize>, tone: Tone, style: Style) -> String {
    let Range { start, end } = place;
    let length = line.chars().count();
    let from = if length <= WIDTH {
        0
    } else {
        start.min(length).saturating_sub(BEFORE)
    };
    let shown: String = line.chars().skip(from).take(WIDTH).map(visible).collect();
    let last = shown.chars().count() + from;
    let end = end.clamp(start + 1, last.max(start + 1));
    let (left, right) = (
        if from > 0 { "…" } else { "" },
        if last < length { "…" } else { "" },
    );
    let pad: String = left
        .chars()
        .chain(line.chars().skip(from).take(start - from))
        .map(blank)
        .collect();
    let carets = "^".repeat(end - start);
    let number = number.to_string();
    let margin = " ".repeat(number.len());
    format!(
        "{} {left}{shown}{right}\n{} {pad}{}\n",
        style.paint(Tone::Faint, &format!("{number} |")),
        style.paint(Tone::Faint, &format!("{margin} |")),
        style.paint(tone, &carets),
    )
}

/// A character as it is shown: none that moves the cursor.
fn visible(character: char) -> char {
    if character.is_control() { ' ' } else { character }
}

/// A blank as wide as a character.
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
        assert_eq!(frame(7, line, start..end, Tone::Bad, Style::default()), expected);
    }

    #[test]
    fn places_are_underlined() {
        check("a: bcd", 3, 6, "7 | a: bcd\n  |    ^^^\n");
        check("a: bcd", 3, usize::MAX, "7 | a: bcd\n  |    ^^^\n");
        check("a:", 2, 2, "7 | a:\n  |   ^\n");
        check("a:", 9, 10, "7 | a:\n  |   ^\n");
        check("\ta: 語x", 5, 6, "7 |  a: 語x\n  |     \u{3000}^\n");
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
    }
}
