//! Changes of a text.

/// A part of a text, in bytes, and what takes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) text: String,
}

/// The text with all changes; of changes that overlap, the first in the text counts.
pub(super) fn apply(text: &str, mut edits: Vec<Edit>) -> String {
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
        out.push_str(&edit.text);
        at = edit.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}
