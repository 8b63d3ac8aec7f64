//! Places in a file: spans of a document's text, and their lines and columns.

use std::sync::{Arc, OnceLock};

use serde::{Serialize, Serializer};

/// A range of bytes of a document's text; `start` is inclusive, `end` exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes from one to before another.
    pub fn new(start: usize, end: usize) -> Self {
        Self {
            start: saturate(start),
            end: saturate(end),
        }
    }
}

/// A place in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Byte offset in the file, from 0.
    pub offset: usize,
}

/// A range of a file, and the document of the file that it lies in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Location {
    /// The file's path, as it was given or found.
    #[serde(serialize_with = "serialize_text")]
    pub file: Arc<str>,
    /// Which document of the file, from 0.
    pub document: usize,
    /// Where the range starts.
    pub start: Position,
    /// Where the range ends (exclusive).
    pub end: Position,
}

fn serialize_text<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

/// Where a document's text begins in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentStart {
    /// The line, from 1.
    pub line: usize,
    /// The byte at which that line starts, in a file without carriage returns.
    pub offset: usize,
    /// The blanks before it on that line.
    pub lead: TrimmedBlanks,
}

impl DocumentStart {
    /// Where a file starts.
    pub const FILE: Self = Self {
        line: 1,
        offset: 0,
        lead: TrimmedBlanks { chars: 0, bytes: 0 },
    };
}

/// The byte offsets at which a file's lines start; none if they follow from the document's text.
pub type FileLines = Option<Arc<[u32]>>;

/// The lines of a file whose documents' texts are not simply parts of it: with carriage returns, or bytes that are not
/// UTF-8.
pub fn file_lines(content: &[u8]) -> FileLines {
    let is_plain = !content.contains(&b'\r') && std::str::from_utf8(content).is_ok();
    (!is_plain).then(|| line_starts(content))
}

/// Blanks that were trimmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrimmedBlanks {
    /// How many characters.
    pub chars: usize,
    /// How many bytes.
    pub bytes: usize,
}

/// The text of a document, which may be a part of the text that all documents of a file share.
#[derive(Debug)]
enum DocumentText {
    Owned(String),
    Part(Arc<String>, Span),
}

impl DocumentText {
    fn as_str(&self) -> &str {
        match self {
            DocumentText::Owned(text) => text,
            DocumentText::Part(file, span) => file
                .as_str()
                .get(span.start as usize..span.end as usize)
                .unwrap_or_default(),
        }
    }
}

/// One document's text and its place in its file.
#[derive(Debug)]
pub struct DocumentSource {
    file: Arc<str>,
    index: u32,
    start: CompactStart,
    /// None once the text is discarded: a server keeps many such documents.
    content: Option<Box<DocumentContent>>,
}

/// The text of a document, and its lines.
#[derive(Debug)]
struct DocumentContent {
    text: DocumentText,
    file_lines: FileLines,
    /// The byte offsets at which the document's lines start, computed at first use.
    lines: OnceLock<Arc<[u32]>>,
}

/// A [`DocumentStart`], smaller: files have less than 4 GiB.
#[derive(Clone, Copy, Debug)]
struct CompactStart {
    line: u32,
    offset: u32,
    lead: [u32; 2],
}

impl From<DocumentStart> for CompactStart {
    fn from(start: DocumentStart) -> Self {
        CompactStart {
            line: saturate(start.line),
            offset: saturate(start.offset),
            lead: [start.lead.chars, start.lead.bytes].map(saturate),
        }
    }
}

impl From<CompactStart> for DocumentStart {
    fn from(start: CompactStart) -> Self {
        let [chars, bytes] = start.lead.map(|count| count as usize);
        DocumentStart {
            line: start.line as usize,
            offset: start.offset as usize,
            lead: TrimmedBlanks { chars, bytes },
        }
    }
}

impl DocumentContent {
    fn new(text: String, file_lines: FileLines) -> Box<Self> {
        Box::new(DocumentContent {
            text: DocumentText::Owned(text),
            file_lines,
            lines: OnceLock::new(),
        })
    }
}

impl DocumentSource {
    /// A document of a file: its text, and where it starts there.
    pub fn new(
        file: Arc<str>,
        index: usize,
        text: String,
        start: DocumentStart,
        file_lines: FileLines,
    ) -> Self {
        Self {
            file,
            index: saturate(index),
            start: start.into(),
            content: Some(DocumentContent::new(text, file_lines)),
        }
    }

    /// Shares the text of the file if the document's text is a part of it.
    pub fn share(&mut self, file: &Arc<String>) {
        let start = self.start();
        let at = start.offset + start.lead.bytes;
        if let Some(content) = &mut self.content {
            let span = Span::new(at, at + content.text.as_str().len());
            let part = DocumentText::Part(Arc::clone(file), span);
            if part.as_str() == content.text.as_str() {
                content.text = part;
            }
        }
    }

    /// The document without its text: every place is its start.
    pub fn without_text(&self) -> Self {
        let file_lines = self.file_lines().cloned();
        Self {
            file: Arc::clone(&self.file),
            index: self.index,
            start: self.start,
            content: file_lines.map(|lines| DocumentContent::new(String::new(), Some(lines))),
        }
    }

    /// The path of the file that the document is in.
    #[must_use]
    pub fn file(&self) -> &Arc<str> {
        &self.file
    }

    /// Which document of the file it is, from 0.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index as usize
    }

    /// The document's text, with LF line ends, without surrounding blanks, in UTF-8.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.content.as_ref().map_or("", |content| content.text.as_str())
    }

    /// The text within a span.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        self.as_str()
            .get(span.start as usize..span.end as usize)
            .unwrap_or_default()
    }

    /// The file position of a byte offset of the document's text.
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.as_str().floor_char_boundary(offset);
        let lines = self.lines();
        let line = lines
            .partition_point(|start| *start as usize <= offset)
            .saturating_sub(1);
        let start = lines.get(line).copied().unwrap_or_default() as usize;
        let line_start_text = self.as_str().get(start..offset).unwrap_or_default();
        let from = self.start();
        let lead = if line == 0 {
            from.lead
        } else {
            TrimmedBlanks::default()
        };
        let file_line = from.line + line;
        let line_start = match self.file_lines() {
            Some(lines) => lines
                .get(file_line.saturating_sub(1))
                .copied()
                .unwrap_or_default() as usize,
            None if line == 0 => from.offset,
            None => from.offset + from.lead.bytes + start,
        };
        Position {
            line: saturate(file_line),
            column: saturate(lead.chars + line_start_text.chars().count() + 1),
            offset: line_start + lead.bytes + line_start_text.len(),
        }
    }

    /// Where it starts in its file.
    pub fn start(&self) -> DocumentStart {
        self.start.into()
    }

    /// The byte offsets at which the lines of its file start, unless they follow from its text.
    pub fn file_lines(&self) -> Option<&Arc<[u32]>> {
        self.content
            .as_ref()
            .and_then(|content| content.file_lines.as_ref())
    }

    fn lines(&self) -> &[u32] {
        match &self.content {
            Some(content) => content
                .lines
                .get_or_init(|| line_starts(content.text.as_str().as_bytes())),
            None => &[0],
        }
    }

    /// The file location of a span of the document's text.
    #[must_use]
    pub fn location(&self, span: Span) -> Location {
        Location {
            file: Arc::clone(&self.file),
            document: self.index(),
            start: self.position(span.start as usize),
            end: self.position(self.as_str().ceil_char_boundary(span.end as usize)),
        }
    }

    /// Where the document starts.
    #[must_use]
    pub fn beginning(&self) -> Location {
        self.location(Span::default())
    }

    /// The span of a line of the document, from 1, without its indentation and line end.
    pub fn line_span(&self, line: usize) -> Span {
        let start = self
            .lines()
            .get(line.saturating_sub(1))
            .copied()
            .unwrap_or_default() as usize;
        let content = self
            .as_str()
            .get(start..)
            .unwrap_or_default()
            .lines()
            .next()
            .unwrap_or_default();
        let indent = content.len() - content.trim_start().len();
        Span::new(start + indent, start + content.trim_end().len().max(indent))
    }
}

/// The byte offsets at which the lines of a file start.
fn line_starts(bytes: &[u8]) -> Arc<[u32]> {
    let after_breaks = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| saturate(at + 1));
    std::iter::once(0).chain(after_breaks).collect()
}

/// A length or an offset in 32 bits, at most 4 GiB.
pub(crate) fn saturate(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file: &str, line: usize, text: &str, offset: usize, expected: (u32, u32, usize)) {
        let start = DocumentStart {
            line,
            offset: file.split_inclusive('\n').take(line - 1).map(str::len).sum(),
            lead: TrimmedBlanks::default(),
        };
        let lines = file_lines(file.as_bytes());
        let source = DocumentSource::new("f".into(), 0, text.to_owned(), start, lines);
        let found = source.position(offset);
        assert_eq!((found.line, found.column, found.offset), expected);
    }

    #[test]
    fn positions_are_those_of_the_file() {
        check("a: b", 1, "a: b", 3, (1, 4, 3));
        check("x\r\n---\r\na: b\r\nc: d\r\n", 3, "a: b\nc: d", 8, (4, 4, 17));
        check("é: b", 1, "é: b", 4, (1, 4, 4));
        check("x\n---\na: b\nc: d\n", 3, "a: b\nc: d", 8, (4, 4, 14));
    }
}
