//! Some documents of a file, at their places in it.

use std::io::{self, Read as _};

use pratique_manifest::ManifestFile;
use pratique_stream::{Piece, PieceForm};

use crate::input::open::ObjectStream;

/// Some documents of a file. Of the others only the lines are left, so that what is found in it has the place that it has in
/// the file.
#[derive(Debug, Default)]
pub(crate) struct FileExcerpt {
    content: Vec<u8>,
    /// The line that the content ends in, from 0.
    line: usize,
}

impl FileExcerpt {
    /// Adds documents that come after those before; false if they are items of a list.
    pub(crate) fn add(&mut self, piece: &Piece) -> bool {
        if piece.form != PieceForm::Documents {
            return false;
        }
        let missing_lines = piece.start.line.saturating_sub(1).saturating_sub(self.line);
        let ends_within = !self.content.is_empty() && !self.content.ends_with(b"\n");
        // The documents between them are left out, and with them their separators.
        let has_line = missing_lines > usize::from(ends_within);
        let blanks = missing_lines.saturating_sub(usize::from(has_line && !self.content.is_empty()));
        self.content.resize(self.content.len() + blanks, b'\n');
        if blanks < missing_lines {
            self.content.extend_from_slice(b"---\n");
        }
        let indent = if missing_lines > 0 || self.content.is_empty() {
            piece.start.column
        } else {
            0
        };
        self.content.resize(self.content.len() + indent, b' ');
        self.content.extend_from_slice(&piece.text);
        self.line += missing_lines + memchr::memchr_iter(b'\n', &piece.text).count();
        true
    }

    /// Takes the whole file instead, as far as it fits, and a byte more.
    pub(crate) fn whole(&mut self, stream: io::Result<ObjectStream>, limit: u64) {
        self.content.clear();
        if let Ok(stream) = stream {
            // Unreadable input is reported when it is reviewed.
            drop(
                stream
                    .input
                    .take(limit.saturating_add(1))
                    .read_to_end(&mut self.content),
            );
        }
    }

    /// Its size, in bytes.
    pub(crate) fn len(&self) -> u64 {
        u64::try_from(self.content.len()).unwrap_or(u64::MAX)
    }

    /// The excerpt as a file.
    pub(crate) fn file(self, path: String) -> ManifestFile {
        ManifestFile {
            path,
            content: self.content,
        }
    }
}

#[cfg(test)]
mod tests {
    use pratique_stream::{Limits, Splitter};

    use super::*;

    /// Takes those documents of a text that have the word `keep`: so many.
    #[track_caller]
    fn check(text: &str, expected: usize) {
        let mut excerpt = FileExcerpt::default();
        for piece in Splitter::new(text.as_bytes(), Limits::default()).apart(&["keep"]) {
            let piece = piece.unwrap();
            if memchr::memmem::find(&piece.text, b"keep").is_some() {
                assert!(excerpt.add(&piece));
            }
        }
        let file = excerpt.file("f.yaml".to_owned());
        let content = String::from_utf8(file.content.clone()).unwrap();
        let lines = |text: &str| -> Vec<(usize, String)> {
            let lines = text.lines().map(str::to_owned).enumerate();
            lines.filter(|(_, line)| line.contains("keep")).collect()
        };
        assert_eq!(lines(&content), lines(text), "{content:?}");
        let contents = pratique_manifest::read_contents(&file);
        assert_eq!(contents.errors.failures().len(), 0, "{content:?}");
        assert_eq!(contents.documents.len(), expected, "{content:?}");
    }

    #[test]
    fn documents_stay_at_their_places() {
        check("keep: 1\n", 1);
        check("a: 1\n---\nb: keep\n---\nc: 2\n", 1);
        check("a: keep\n---\nb: 2\nc: 3\n---\nd: keep\n", 2);
        check("a: keep\n---\nb: keep\n---\nc: 3\n", 2);
        check("{\"a\":1}\n{\"b\":\"keep\"}\n{\"c\":\"keep\"}\n{\"d\":1}\n", 2);
        check("{\"b\":\"keep\"}\n{\"c\":1}\n{\"d\":1}\n{\"e\":\"keep\"}", 2);
    }

    #[test]
    fn items_of_lists_are_none() {
        let item = Piece {
            text: b"- keep\n".to_vec(),
            start: pratique_stream::StreamPlace::START,
            number: 0,
            form: PieceForm::ListEnd(std::sync::Arc::default()),
            values: Vec::new(),
        };
        assert!(!FileExcerpt::default().add(&item));
    }
}
