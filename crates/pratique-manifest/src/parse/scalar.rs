//! Maps places in a scalar's decoded text to places in the source.
//!
//! The two differ by quotes, escapes, indentation and folding. They are traversed together: characters other than blanks are
//! in both in the same order, and blanks appear or disappear only in runs.

use crate::position::{DocumentSource, Span};
use crate::tree::{Node, StringStyle, TreeValue};

/// The source span of the character at a byte offset of a string's decoded text, or the span of the whole value.
pub(crate) fn span_at(source: &DocumentSource, node: &Node, offset: usize) -> Span {
    let TreeValue::String(text, style) = &node.value else {
        return node.span;
    };
    let raw = source.slice(node.span);
    let base = node.span.start as usize;
    match SourceAlignment::new(raw, *style).find(text, offset) {
        Some((start, len)) => Span::new(base + start, base + start + len),
        None => node.span,
    }
}

/// The byte offsets of a string's decoded text at which a line of its source begins: of the first character on each that is
/// no blank, without the first line.
pub(crate) fn line_starts(source: &DocumentSource, node: &Node) -> Vec<usize> {
    let TreeValue::String(text, style) = &node.value else {
        return Vec::new();
    };
    let raw = source.slice(node.span);
    if raw.contains('\n') {
        SourceAlignment::new(raw, *style).line_starts(text)
    } else {
        Vec::new()
    }
}

/// One character of the source as it decodes.
#[derive(Clone, Copy)]
struct DecodedCharacter {
    decoded: char,
    at: usize,
    len: usize,
    /// Whether it is a blank that folding may drop, not an escape.
    blank: bool,
}

struct SourceAlignment<'a> {
    raw: &'a str,
    style: StringStyle,
    at: usize,
}

impl<'a> SourceAlignment<'a> {
    fn new(raw: &'a str, style: StringStyle) -> Self {
        let at = match style {
            StringStyle::Plain | StringStyle::Literal | StringStyle::Folded | StringStyle::Binary => 0,
            StringStyle::SingleQuoted | StringStyle::DoubleQuoted => {
                usize::from(raw.starts_with(['"', '\'']))
            }
        };
        Self { raw, style, at }
    }

    fn find(mut self, text: &str, offset: usize) -> Option<(usize, usize)> {
        let mut pending = self.piece();
        for (at, wanted) in text.char_indices() {
            if !is_blank(wanted) {
                while pending.is_some_and(|piece| piece.blank || is_blank(piece.decoded)) {
                    pending = self.piece();
                }
            }
            let piece = pending?;
            if at >= offset {
                return Some((piece.at, piece.len));
            }
            if !is_blank(wanted) || piece.blank || piece.decoded == wanted {
                pending = self.piece();
            }
        }
        let end = pending.map_or(self.at, |piece| piece.at);
        Some((end.min(self.raw.trim_end().len()), 0))
    }

    fn line_starts(mut self, text: &str) -> Vec<usize> {
        let raw = self.raw;
        let mut starts = Vec::new();
        let mut last = None;
        for (offset, _) in text.char_indices().filter(|(_, wanted)| !is_blank(*wanted)) {
            let mut pieces = std::iter::from_fn(|| self.piece());
            let Some(piece) = pieces.find(|piece| !piece.blank && !is_blank(piece.decoded)) else {
                break;
            };
            let is_next = |last: usize| {
                raw.get(last..piece.at)
                    .is_some_and(|passed| passed.contains('\n'))
            };
            if last.is_some_and(is_next) {
                starts.push(offset);
            }
            last = Some(piece.at);
        }
        starts
    }

    fn piece(&mut self) -> Option<DecodedCharacter> {
        let rest = self.raw.get(self.at..)?;
        let (decoded, len, blank) = match self.style {
            StringStyle::SingleQuoted if rest.starts_with("''") => ('\'', 2, false),
            StringStyle::DoubleQuoted if rest.starts_with('\\') => escape(rest)?,
            _ => rest.chars().next().map(|c| (c, c.len_utf8(), is_blank(c)))?,
        };
        let piece = DecodedCharacter {
            decoded,
            at: self.at,
            len,
            blank,
        };
        self.at += len;
        Some(piece)
    }
}

/// The character of the escape that a text begins with, the length of the escape, and whether it is an
/// escaped line break.
fn escape(rest: &str) -> Option<(char, usize, bool)> {
    let code = rest.chars().nth(1)?;
    let len = match code {
        'x' => 4,
        'u' if rest.get(6..8) == Some("\\u") && surrogate(rest.get(2..6)) => 12,
        'u' => 6,
        'U' => 10,
        other => 1 + other.len_utf8(),
    };
    let decoded = match code {
        'n' => '\n',
        't' | '\t' => '\t',
        'r' => '\r',
        ' ' => ' ',
        'x' | 'u' | 'U' => rest
            .get(2..len)
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .and_then(char::from_u32)
            .unwrap_or('\u{fffd}'),
        _ => '\u{fffd}',
    };
    Some((decoded, len, code == '\n'))
}

fn surrogate(digits: Option<&str>) -> bool {
    digits
        .and_then(|text| u32::from_str_radix(text, 16).ok())
        .is_some_and(|code| (0xD800..0xDC00).contains(&code))
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

#[cfg(test)]
mod tests {
    use crate::budget::Budget;
    use crate::json;
    use crate::parse::file_document::FileDocument;
    use crate::parse::parse;
    use crate::parse::source::ObjectSource;
    use crate::position::file_lines;
    use crate::tree::PathStep;

    /// The value of `a`, and where it is.
    fn value_of_a(text: &str) -> (Box<str>, ObjectSource) {
        let mut raw = crate::parse::split::split(text.as_bytes());
        let file_lines = file_lines(text.as_bytes());
        let file = FileDocument {
            file: "f".into(),
            index: 0,
            raw: raw.remove(0),
            file_lines,
        };
        let parsed = parse(file, &Budget::unlimited(), pratique_schema::Release::latest());
        let parsed = parsed.map_err(|failure| failure.text).unwrap();
        let id = parsed.tree().find(parsed.root, &path_of_a()).unwrap();
        let crate::TreeValue::String(value, _) = parsed.tree().get(id).value.clone() else {
            panic!()
        };
        (value, ObjectSource::new(parsed.document, parsed.root))
    }

    fn path_of_a() -> [PathStep; 1] {
        [PathStep::Field("a".to_owned())]
    }

    /// Checks the words at which lines of the source begin in the value of `a`.
    #[track_caller]
    fn check_lines(text: &str, expected: &[&str]) {
        let (value, source) = value_of_a(text);
        let starts = source.line_starts(&path_of_a());
        let words: Vec<&str> = starts
            .iter()
            .filter_map(|start| value.get(*start..)?.split_whitespace().next())
            .collect();
        assert_eq!(words, expected, "{text:?}");
    }

    /// Checks the lines and columns of some words in the value of `a`.
    #[track_caller]
    fn check(text: &str, expected: &[(&str, u32, u32)]) {
        let (value, source) = value_of_a(text);
        for (word, line, column) in expected {
            let offset = value.find(word).unwrap_or_else(|| panic!("{word} in {value:?}"));
            let start = source.locate_in(&path_of_a(), offset).start;
            assert_eq!((start.line, start.column), (*line, *column), "{word} in {text:?}");
        }
    }

    #[test]
    fn plain_and_quoted_scalars() {
        check("a: x && y", &[("x", 1, 4), ("y", 1, 9)]);
        check(
            "a: one\n  two\n\n  three",
            &[("one", 1, 4), ("two", 2, 3), ("three", 4, 3)],
        );
        check("a: 'it''s x'", &[("t", 1, 6), ("s", 1, 9), ("x", 1, 11)]);
        check(
            "a: \"q\\\"\\n\\u00e9 x\\\n   y\"",
            &[
                ("\"", 1, 6),
                ("\n", 1, 8),
                ("é", 1, 10),
                ("x", 1, 17),
                ("y", 2, 4),
            ],
        );
    }

    #[test]
    fn lines_of_the_source() {
        check_lines("a: x && y", &[]);
        check_lines("a: one\n  two\n\n  three", &["two", "three"]);
        check_lines("a: >-\n  // one\n  two\n    three\n", &["two", "three"]);
        check_lines("a: 'it''s\n  x'", &["x"]);
        check_lines("a: \"q\\\"\\n\\u00e9\n   y \\\n z\"", &["y", "z"]);
        check_lines("{\"a\": \"x\\ny\"}", &[]);
    }

    #[test]
    fn escaped_blanks() {
        check(
            "a: \"v \\x20&& \\u0020 w \\\n   \\ x\\t\\n y\"",
            &[
                ("v", 1, 5),
                ("&&", 1, 11),
                ("w", 1, 21),
                ("x", 2, 6),
                ("y", 2, 12),
            ],
        );
    }

    #[test]
    fn block_scalars() {
        check(
            "b: 1\na: |\n  x &&\n    y\n  z\n",
            &[("x", 3, 3), ("y", 4, 5), ("z", 5, 3)],
        );
        check(
            "a: >-\n  one\n  two\n\n  three\n",
            &[("one", 2, 3), ("two", 3, 3), ("three", 5, 3)],
        );
        check("a: |2-  # note\n    x\n   y", &[("x", 2, 5), ("y", 3, 4)]);
        check("a: >\n  | x\n  y\n", &[("|", 2, 3), ("x", 2, 5), ("y", 3, 3)]);
    }

    #[test]
    fn json_strings() {
        check(
            "{\"a\": \"x \\t \\ud83d\\ude00 y\"}",
            &[("x", 1, 8), ("\t", 1, 10), ("😀", 1, 13), ("y", 1, 26)],
        );
        assert!(json::is_json(b"\n{"));
    }

    #[test]
    fn lines_are_those_of_the_file() {
        check(
            "# licence\r\n\r\na: >\r\n  é x\r\n  y\r\n",
            &[("x", 4, 5), ("y", 5, 3)],
        );
    }
}
