//! Differences of two values, as messages about immutable fields show them: hunks of indented JSON.
//!
//! The lines that are taken to be equal are those that Python's `difflib` takes, which Go's package follows.
// Upstream: apimachinery/pkg/util/diff/diff.go, Diff; github.com/pmezard/go-difflib/difflib/difflib.go

use std::collections::HashMap;
use std::fmt::Write as _;

/// Texts of more lines are not compared: the time grows with the square of their number.
const MAX_LINES: usize = 20_000;
/// How many equal lines surround a change.
const CONTEXT: usize = 3;

/// Lines of the one text and lines of the other that belong together.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LineEdit {
    is_equal: bool,
    old: (usize, usize),
    new: (usize, usize),
}

/// The difference of two JSON texts.
pub(crate) fn json_diff(old: &str, new: &str) -> String {
    let (old, new) = (indent(old), indent(new));
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    if old.len() > MAX_LINES || new.len() > MAX_LINES {
        return String::new();
    }
    let mut text = String::new();
    for hunk in hunks(&edits(&old, &new)) {
        write_hunk(&hunk, &old, &new, &mut text);
    }
    text
}

/// JSON with a line for each member and element, indented by one space a level.
// Upstream: encoding/json/indent.go, Indent
fn indent(json: &str) -> String {
    let mut text = String::with_capacity(json.len() * 2);
    let (mut depth, mut in_string, mut is_escaped, mut is_empty) = (0usize, false, false, false);
    for letter in json.chars() {
        if in_string {
            text.push(letter);
            in_string = is_escaped || letter != '"';
            is_escaped = letter == '\\' && !is_escaped;
            continue;
        }
        let closes = matches!(letter, '}' | ']');
        if is_empty && !closes {
            is_empty = false;
            depth += 1;
            break_line(&mut text, depth);
        }
        match letter {
            '{' | '[' => {
                text.push(letter);
                is_empty = true;
            }
            '}' | ']' => {
                if is_empty {
                    is_empty = false;
                } else {
                    depth = depth.saturating_sub(1);
                    break_line(&mut text, depth);
                }
                text.push(letter);
            }
            ',' => {
                text.push(letter);
                break_line(&mut text, depth);
            }
            ':' => text.push_str(": "),
            _ => {
                in_string = letter == '"';
                text.push(letter);
            }
        }
    }
    text
}

fn break_line(text: &mut String, depth: usize) {
    text.push('\n');
    text.extend(std::iter::repeat_n(' ', depth));
}

/// The parts in which the texts are equal, and those between them.
fn edits(old: &[&str], new: &[&str]) -> Vec<LineEdit> {
    let mut edits = Vec::new();
    let (mut from, mut to) = (0, 0);
    for (at, other, size) in matches(old, new) {
        if from < at || to < other {
            edits.push(LineEdit {
                is_equal: false,
                old: (from, at),
                new: (to, other),
            });
        }
        (from, to) = (at + size, other + size);
        if size > 0 {
            edits.push(LineEdit {
                is_equal: true,
                old: (at, from),
                new: (other, to),
            });
        }
    }
    edits
}

/// The longest equal part, those before and after it, and so on; the last one is empty and at the end.
fn matches(old: &[&str], new: &[&str]) -> Vec<(usize, usize, usize)> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, line) in new.iter().enumerate() {
        places.entry(line).or_default().push(at);
    }
    // Lines that occur often are no place to begin.
    if new.len() >= 200 {
        let limit = new.len() / 100 + 1;
        places.retain(|_, at| at.len() <= limit);
    }
    let mut matches = Vec::new();
    let mut ranges = vec![(0, old.len(), 0, new.len())];
    while let Some((from, to, other_from, other_to)) = ranges.pop() {
        let (at, other, size) = longest(old, new, &places, (from, to), (other_from, other_to));
        if size > 0 {
            matches.push((at, other, size));
            if from < at && other_from < other {
                ranges.push((from, at, other_from, other));
            }
            if at + size < to && other + size < other_to {
                ranges.push((at + size, to, other + size, other_to));
            }
        }
    }
    matches.sort_unstable();
    let mut joined: Vec<(usize, usize, usize)> = Vec::new();
    for (at, other, size) in matches {
        match joined.last_mut() {
            Some(last) if last.0 + last.2 == at && last.1 + last.2 == other => last.2 += size,
            _ => joined.push((at, other, size)),
        }
    }
    joined.push((old.len(), new.len(), 0));
    joined
}

fn longest(
    old: &[&str],
    new: &[&str],
    places: &HashMap<&str, Vec<usize>>,
    (from, to): (usize, usize),
    (other_from, other_to): (usize, usize),
) -> (usize, usize, usize) {
    let (mut at, mut other, mut size) = (from, other_from, 0);
    let mut lengths: HashMap<usize, usize> = HashMap::new();
    for (index, line) in old.iter().enumerate().take(to).skip(from) {
        let mut next = HashMap::new();
        let places = places.get(line).map(Vec::as_slice).unwrap_or_default();
        for place in places
            .iter()
            .filter(|place| (other_from..other_to).contains(place))
        {
            let previous = place.checked_sub(1).and_then(|previous| lengths.get(&previous));
            let length = previous.map_or(1, |length| length + 1);
            next.insert(*place, length);
            if length > size {
                (at, other, size) = (index + 1 - length, place + 1 - length, length);
            }
        }
        lengths = next;
    }
    while at > from && other > other_from && old.get(at - 1) == new.get(other - 1) {
        (at, other, size) = (at - 1, other - 1, size + 1);
    }
    while at + size < to && other + size < other_to && old.get(at + size) == new.get(other + size) {
        size += 1;
    }
    (at, other, size)
}

/// Changes with the equal lines around them.
fn hunks(edits: &[LineEdit]) -> Vec<Vec<LineEdit>> {
    let mut edits = edits.to_vec();
    if let Some(first) = edits.first_mut().filter(|first| first.is_equal) {
        first.old.0 = first.old.0.max(first.old.1.saturating_sub(CONTEXT));
        first.new.0 = first.new.0.max(first.new.1.saturating_sub(CONTEXT));
    }
    if let Some(last) = edits.last_mut().filter(|last| last.is_equal) {
        last.old.1 = last.old.1.min(last.old.0 + CONTEXT);
        last.new.1 = last.new.1.min(last.new.0 + CONTEXT);
    }
    let (mut hunks, mut hunk) = (Vec::new(), Vec::new());
    for edit in edits {
        let mut edit = edit;
        if edit.is_equal && edit.old.1 - edit.old.0 > 2 * CONTEXT {
            hunk.push(LineEdit {
                old: (edit.old.0, edit.old.1.min(edit.old.0 + CONTEXT)),
                new: (edit.new.0, edit.new.1.min(edit.new.0 + CONTEXT)),
                ..edit
            });
            hunks.push(std::mem::take(&mut hunk));
            edit.old.0 = edit.old.0.max(edit.old.1.saturating_sub(CONTEXT));
            edit.new.0 = edit.new.0.max(edit.new.1.saturating_sub(CONTEXT));
        }
        hunk.push(edit);
    }
    // What is left may be equal lines only, or none.
    if hunk.len() > 1 || hunk.iter().any(|edit| !edit.is_equal) {
        hunks.push(hunk);
    }
    hunks
}

fn write_hunk(hunk: &[LineEdit], old: &[&str], new: &[&str], text: &mut String) {
    let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else {
        return;
    };
    let range = |(from, to): (usize, usize)| match to - from {
        1 => (from + 1).to_string(),
        0 => format!("{from},0"),
        length => format!("{},{length}", from + 1),
    };
    let (of_old, of_new) = ((first.old.0, last.old.1), (first.new.0, last.new.1));
    // Writing to a string does not fail.
    let _ = writeln!(text, "@@ -{} +{} @@", range(of_old), range(of_new));
    let mut write = |mark: char, lines: &[&str], (from, to): (usize, usize)| {
        for line in lines.iter().take(to).skip(from) {
            let _ = writeln!(text, "{mark}{line}");
        }
    };
    for edit in hunk {
        if edit.is_equal {
            write(' ', old, edit.old);
        } else {
            write('-', old, edit.old);
            write('+', new, edit.new);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_shown_with_their_surroundings() {
        let old = r#"{"a":1,"b":[],"c":"x","d":null,"e":{},"f":2,"g":3,"h":4,"i":5,"j":6}"#;
        let new = r#"{"a":1,"b":[],"c":"y","d":null,"e":{},"f":2,"g":3,"h":4,"i":5,"j":6}"#;
        assert_eq!(
            json_diff(old, new),
            "@@ -1,7 +1,7 @@\n {\n  \"a\": 1,\n  \"b\": [],\n- \"c\": \"x\",\n+ \"c\": \"y\",\n  \"d\": null,\n  \"e\": {},\n  \"f\": 2,\n"
        );
        assert_eq!(json_diff(old, old), "");
    }
}
