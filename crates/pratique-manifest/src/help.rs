//! How a problem is fixed.

use std::fmt::{self, Display, Formatter};
use std::ops::Range;

use pratique_gotext::suggest::did_you_mean;
use serde::Serialize;

use crate::parse::source::ObjectSource;
use crate::position::{DocumentSource, Location, Span};
use crate::tree::PathStep;

/// How to fix a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Help {
    /// What to do.
    pub text: String,
    /// The change that does it, where one word in the place of another does, or another document.
    pub edit: Option<Edit>,
}

/// A change of a file: a text in the place of another, or a document behind another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edit {
    /// What is replaced; where nothing is, it is empty.
    pub location: Location,
    /// The new text.
    pub replacement: String,
}

/// The change in words, as editors and code scanning offer it.
impl Display for Edit {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.added_kind() {
            Some(kind) => write!(f, "Add a {kind}"),
            None => write!(f, "Replace it with `{}`", self.replacement),
        }
    }
}

impl Edit {
    /// The kind of the document that it adds.
    fn added_kind(&self) -> Option<&str> {
        let is_added = self.location.start == self.location.end;
        let mut lines = self.replacement.lines().filter(|_| is_added);
        lines.find_map(|line| line.strip_prefix("kind: "))
    }
}

/// What to do.
impl Display for Help {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Help {
    /// Help without an edit.
    pub fn new(text: impl Into<String>) -> Self {
        Help {
            text: text.into(),
            edit: None,
        }
    }

    /// Suggests a name for the one at a span, which may be in quotes.
    #[must_use]
    pub fn did_you_mean(meant: &str, document: &DocumentSource, span: Span) -> Self {
        Help::new(did_you_mean(meant)).replacing(document, span, meant)
    }

    /// Adds the change that puts a name in the place of the one at a span, which may be in quotes. There is none if
    /// something else than a name stands there.
    #[must_use]
    pub fn replacing(mut self, document: &DocumentSource, span: Span, replacement: &str) -> Self {
        self.edit = name_within(document, span)
            .filter(|_| is_name(replacement))
            .map(|span| Edit {
                location: document.location(span),
                replacement: replacement.to_owned(),
            });
        self
    }

    /// Adds the change that replaces a range of a string field's text. There is none if the text is written in another way
    /// than it is read, with escapes or on several lines, or if the field would not be a string any more.
    #[must_use]
    pub fn replacing_within(
        mut self,
        source: &ObjectSource,
        path: &[PathStep],
        range: Range<usize>,
        replacement: &str,
    ) -> Self {
        let is_safe = |c: char| c.is_ascii_alphanumeric() || "_-./&|=<>".contains(c);
        self.edit = source
            .locate_verbatim(path, range)
            .filter(|_| replacement.chars().all(is_safe))
            .map(|location| Edit {
                location,
                replacement: replacement.to_owned(),
            });
        self
    }

    /// Adds the change that puts a document behind the one of an object. There is none for JSON, nor behind an item of a list.
    #[must_use]
    pub fn adding_document(mut self, source: &ObjectSource, text: &str) -> Self {
        let document = source.document();
        let is_block = !source.is_json() && source.locate(&[]).start.column == 1;
        let end = u32::try_from(document.as_str().len()).unwrap_or(u32::MAX);
        self.edit = (is_block && end > 0).then(|| Edit {
            location: document.location(Span { start: end, end }),
            replacement: format!("\n---\n{}", text.trim_end()),
        });
        self
    }
}

impl From<String> for Help {
    fn from(text: String) -> Self {
        Help::new(text)
    }
}

impl From<&str> for Help {
    fn from(text: &str) -> Self {
        Help::new(text)
    }
}

/// The name at a span, without quotes.
fn name_within(document: &DocumentSource, span: Span) -> Option<Span> {
    let text = document.slice(span);
    let inner = ['"', '\'']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote));
    let quotes = u32::from(inner.is_some());
    is_name(inner.unwrap_or(text)).then(|| Span {
        start: span.start + quotes,
        end: span.end - quotes,
    })
}

/// Whether a text is a name, which is written alike with and without quotes.
fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(is_part)
}
