//! Diagrams of values below the source of an expression.

use serde::Serialize;

/// A line of a diagram.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Line {
    /// A line of the source.
    Source(String),
    /// A line of values, or of strokes that lead to them.
    Values(String),
}

/// The maximum width of a line of source, in characters; longer ones are split.
const WIDTH: usize = 100;

/// Draws values below a text; positions are in code points.
pub(crate) fn draw(text: &str, values: Vec<(usize, String)>) -> Vec<Line> {
    let mut lines = Vec::new();
    for (start, piece) in pieces(text) {
        let end = start + piece.chars().count();
        let indent = piece.chars().take_while(|character| *character == ' ').count();
        let within = values.iter().filter(|(at, _)| (start..end).contains(at));
        let within: Vec<(usize, &str)> = within
            .map(|(at, value)| ((at - start).saturating_sub(indent), value.as_str()))
            .collect();
        if piece.trim().is_empty() {
            continue;
        }
        let visible_text: String = piece.chars().skip(indent).map(visible).collect();
        lines.push(Line::Source(visible_text.trim_end().to_owned()));
        lines.extend(under(&within).into_iter().map(Line::Values));
    }
    lines
}

/// Replaces control characters, which could move the cursor.
fn visible(character: char) -> char {
    if character.is_control() { ' ' } else { character }
}

/// The lines of a text with their start positions; long ones are split at blanks.
fn pieces(text: &str) -> Vec<(usize, String)> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for line in text.split('\n') {
        let characters: Vec<char> = line.chars().collect();
        let mut from = 0;
        while let Some(rest) = characters.get(from..).filter(|rest| rest.len() > WIDTH) {
            let blank = rest.iter().take(WIDTH).rposition(|character| *character == ' ');
            let length = blank.filter(|at| *at > WIDTH / 3).map_or(WIDTH, |at| at + 1);
            pieces.push((start + from, rest.iter().take(length).collect()));
            from += length;
        }
        let rest = characters.get(from..).unwrap_or_default();
        pieces.push((start + from, rest.iter().collect()));
        start += characters.len() + 1;
    }
    pieces
}

/// The lines below a source line: strokes first, then values, from right to left.
fn under(values: &[(usize, &str)]) -> Vec<String> {
    let mut left: Vec<(usize, &str)> = values.to_vec();
    left.sort_by_key(|(at, _)| *at);
    // Of two values at a position the inner one, which comes later, is more specific.
    left.dedup_by(|later, earlier| {
        later.0 == earlier.0 && {
            *earlier = *later;
            true
        }
    });
    let mut lines = Vec::new();
    if !left.is_empty() {
        lines.push(row(&left, usize::MAX));
    }
    while !left.is_empty() {
        let first = fitting(&left);
        lines.push(row(&left, first));
        left.truncate(first);
    }
    lines
}

/// The index from which on values fit into one line.
fn fitting(values: &[(usize, &str)]) -> usize {
    let mut first = values.len();
    let mut next = usize::MAX;
    for (index, (at, value)) in values.iter().enumerate().rev() {
        if at + value.chars().count() >= next {
            break;
        }
        (first, next) = (index, *at);
    }
    first
}

/// A line with strokes up to the value `first`, and the values from there on.
fn row(values: &[(usize, &str)], first: usize) -> String {
    let mut line = String::new();
    let mut width = 0;
    for (index, (at, value)) in values.iter().enumerate() {
        line.push_str(&" ".repeat(at.saturating_sub(width)));
        let text = if index < first { "|" } else { value };
        line.push_str(text);
        width = at.max(&width) + text.chars().count();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, values: &[(usize, &str)], expected: &[&str]) {
        let values = values
            .iter()
            .map(|(at, value)| (*at, (*value).to_owned()))
            .collect();
        let lines: Vec<String> = draw(text, values)
            .into_iter()
            .map(|line| match line {
                Line::Source(line) | Line::Values(line) => line,
            })
            .collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn values_hang_under_their_places() {
        check(
            "a.b <= 5 && c",
            &[(2, "7"), (4, "false"), (9, "false")],
            &["a.b <= 5 && c", "  | |    |", "  | |    false", "  7 false"],
        );
        check(
            "a == 'x'",
            &[(0, "\"long value\""), (2, "false")],
            &["a == 'x'", "| |", "| false", "\"long value\""],
        );
    }

    #[test]
    fn lines_are_drawn_one_by_one() {
        check(
            "a &&\n  b\n",
            &[(0, "true"), (7, "false")],
            &["a &&", "|", "true", "b", "|", "false"],
        );
    }

    #[test]
    fn long_lines_are_drawn_in_pieces() {
        let text = format!("{} && b", "a".repeat(98));
        let first = format!("{} &&", "a".repeat(98));
        let [first, _] = first.split_once(' ').map(<[&str; 2]>::from).unwrap();
        check(&text, &[(102, "true")], &[first, "&& b", "   |", "   true"]);
    }
}
