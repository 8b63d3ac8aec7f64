//! Text that the server reads and the parser does not, rewritten so that both do.
//!
//! Where YAML 1.1 is more lenient, the parser stops with a fault that names the place. The text is then changed there to
//! what means the same in YAML 1.2, and parsed again; spans are told in the text as it was.

use crate::position::Span;

/// A change that keeps the meaning of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patch {
    /// Indents a line of a quoted scalar, which drops the blanks again.
    Indent { at: usize },
    /// Sets a comment apart from what it follows.
    Separate { at: usize },
    /// Puts a space in place of a tab.
    Blank { at: usize },
    /// Writes the escaped apostrophes from a place on to the end of the quoted scalar by their code.
    Apostrophes { from: usize },
    /// Ends the document, and drops what follows its end marker.
    End { at: usize },
}

/// More than any manifest is indented.
const INDENT: usize = 256;

/// A text, and what was put into it.
pub(super) struct Patched {
    pub(super) text: String,
    /// Places in the text as it now is, and the bytes that were put in there.
    inserted: Vec<(usize, usize)>,
}

impl Patched {
    pub(super) fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            inserted: Vec::new(),
        }
    }

    pub(super) fn apply(&mut self, patch: Patch) {
        match patch {
            Patch::Indent { at } => self.insert(at, &" ".repeat(INDENT)),
            Patch::Separate { at } => self.insert(at, " "),
            Patch::Blank { at } => {
                if self.text.get(at..at + 1) == Some("\t") {
                    self.text.replace_range(at..at + 1, " ");
                }
            }
            Patch::Apostrophes { from } => {
                let mut at = from;
                while let Some(found) = self.next_escape(at) {
                    at = found + 2;
                    if self.text.get(found..at) == Some("\\'") {
                        self.text.replace_range(found..at, "\\x");
                        self.insert(at, "27");
                    }
                }
            }
            Patch::End { at } => self.text.truncate(at),
        }
    }

    /// The next escape of a scalar in double quotes.
    fn next_escape(&self, from: usize) -> Option<usize> {
        let rest = self.text.get(from..)?;
        let found = rest.find(['\\', '"'])?;
        rest.get(found..)?.starts_with('\\').then_some(from + found)
    }

    fn insert(&mut self, at: usize, blanks: &str) {
        if !self.text.is_char_boundary(at) {
            return;
        }
        self.text.insert_str(at, blanks);
        for (place, _) in self.inserted.iter_mut().filter(|(place, _)| *place >= at) {
            *place += blanks.len();
        }
        self.inserted.push((at, blanks.len()));
    }

    /// A span in the text as it was.
    pub(super) fn original(&self, span: Span) -> Span {
        Span::new(
            self.original_offset(span.start as usize),
            self.original_offset(span.end as usize),
        )
    }

    fn original_offset(&self, offset: usize) -> usize {
        let before = self
            .inserted
            .iter()
            .map(|(at, len)| offset.saturating_sub(*at).min(*len));
        offset - before.sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_those_of_the_text_as_it_was() {
        let mut patched = Patched::new("a: [b,#c\n d, \"it\\'s\"]");
        patched.apply(Patch::Apostrophes { from: 16 });
        patched.apply(Patch::Separate { at: 6 });
        assert_eq!(patched.text, "a: [b, #c\n d, \"it\\x27s\"]");
        assert_eq!(patched.original(Span::new(7, 9)), Span::new(6, 8));
        assert_eq!(patched.original(Span::new(14, 24)), Span::new(13, 21));
    }
}
