//! Pieces of a stream, and where they begin.

use std::ops::Range;
use std::sync::Arc;

/// Some documents of a stream, or some items of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The text. In items of a JSON list, the commas between them are blanks.
    pub text: Vec<u8>,
    /// Where the text begins.
    pub start: StreamPlace,
    /// How many documents and items stand before it.
    pub number: usize,
    /// What the text is.
    pub form: PieceForm,
    /// The JSON values of the text, if it consists of such values only; they may be invalid.
    pub values: Vec<JsonSpan>,
}

/// A JSON value in the text of a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonSpan {
    /// The bytes of the piece.
    pub range: Range<usize>,
}

/// What the text of a piece is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PieceForm {
    /// Documents.
    Documents,
    /// Items of a list: JSON values, or a YAML sequence.
    Items(Arc<ListHeader>),
    /// A list without its items. Only with this it is known to be complete, and to have a kind.
    ListEnd(Arc<ListHeader>),
}

/// What a list says about itself before its items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListHeader {
    /// Its `apiVersion`.
    pub api_version: Option<String>,
    /// Its `kind`.
    pub kind: Option<String>,
}

/// A place in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamPlace {
    /// The line, from 1.
    pub line: usize,
    /// The characters before it on that line.
    pub column: usize,
    /// The bytes before it.
    pub offset: usize,
}

/// Why the rest of a stream is not read.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The stream cannot be read.
    #[error(transparent)]
    Read(#[from] std::io::Error),
    /// A document exceeds [`Limits::document`](crate::Limits::document).
    #[error("a document is too large")]
    TooLarge(StreamPlace),
}

impl StreamPlace {
    /// The start of a stream.
    pub const START: Self = StreamPlace {
        line: 1,
        column: 0,
        offset: 0,
    };

    /// The place after some text that begins here.
    #[must_use]
    pub fn after(self, text: &[u8]) -> Self {
        let offset = self.offset + text.len();
        match memchr::memrchr(b'\n', text) {
            None => StreamPlace {
                column: self.column + chars(text),
                offset,
                ..self
            },
            Some(last) => StreamPlace {
                line: self.line + memchr::memchr_iter(b'\n', text).count(),
                column: chars(text.get(last + 1..).unwrap_or_default()),
                offset,
            },
        }
    }
}

/// How many characters there are in a text.
fn chars(text: &[u8]) -> usize {
    // The sum of a chunk fits into a byte, so that many bytes are added at once.
    let begins = |byte: &u8| u8::from(!matches!(byte, 0x80..0xC0));
    let of_chunk = |chunk: &[u8]| chunk.iter().map(begins).sum::<u8>();
    text.chunks(usize::from(u8::MAX))
        .map(|chunk| usize::from(of_chunk(chunk)))
        .sum()
}
