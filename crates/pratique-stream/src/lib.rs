//! Divides streams of Kubernetes objects into pieces that can be parsed one by one.
//!
//! A [`Splitter`] reads a stream and gives [`Piece`]s: one or more whole documents each. A document is what stands between
//! lines of `---`, or a JSON value that is followed by another one or by the end of its line. Nothing is parsed, and no more
//! is held than the document that is being read. A list that is longer than [`Limits::list`] is given in pieces, too, each
//! with some of its items: only its [end](PieceForm::ListEnd) tells whether it is complete. A [`Utf8Reader`] around the stream makes
//! UTF-8 of what has the byte order mark of UTF-16 or UTF-32.
//!
//! ```
//! use pratique_stream::{Limits, Splitter};
//!
//! let stream = "{\"kind\": \"Pod\"}\n{\"kind\": \"Node\"}\n---\nkind: Service\n";
//! let mut splitter = Splitter::new(stream.as_bytes(), Limits::default());
//! let piece = splitter.next().ok_or("nothing")??;
//! assert_eq!(piece.text, b"{\"kind\": \"Pod\"}\n{\"kind\": \"Node\"}\n---\n");
//! assert_eq!(piece.values.len(), 2);
//! let piece = splitter.next().ok_or("no YAML")??;
//! assert_eq!((piece.text.as_slice(), piece.start.line, piece.number), (&b"kind: Service\n"[..], 4, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod encoding;
mod json;
mod list;
mod piece;
mod splitter;
mod yaml;

pub use encoding::{Utf8Reader, to_utf8};
pub use piece::{JsonSpan, ListHeader, Piece, PieceForm, StreamError, StreamPlace};
pub use splitter::{Limits, Splitter};
