//! Edits of a text.

/// A replacement of a byte range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RangeEdit {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) text: String,
}

/// Applies edits to a text; of overlapping edits, the first wins.
pub(super) fn apply(text: &str, mut edits: Vec<RangeEdit>) -> String {
    let ends_with_returns = text.contains("\r\n");
    edits.sort_by_key(|edit| (edit.start, edit.end));
    let mut out = String::new();
    let mut at = 0;
    for edit in edits
        .into_iter()
        .filter(|edit| text.get(edit.start..edit.end).is_some())
    {
        if edit.start < at {
            continue;
        }
        out.push_str(text.get(at..edit.start).unwrap_or_default());
        if ends_with_returns {
            out.push_str(&edit.text.replace('\n', "\r\n"))
        } else {
            out.push_str(&edit.text)
        }
        at = edit.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, edits: &[(usize, usize, &str)], expected: &str) {
        let edit = |(start, end, text): &(usize, usize, &str)| RangeEdit {
            start: *start,
            end: *end,
            text: (*text).to_owned(),
        };
        assert_eq!(apply(text, edits.iter().map(edit).collect()), expected);
    }

    #[test]
    fn changes_are_made_in_order() {
        check("abcdef", &[(4, 5, "E"), (1, 2, "")], "acdEf");
        check("abc", &[(0, 2, "x"), (1, 3, "y"), (9, 9, "z")], "xc");
    }

    #[test]
    fn lines_end_as_in_the_file() {
        check("a\r\nb\r\n", &[(1, 1, "\nc")], "a\r\nc\r\nb\r\n");
    }
}
