//! Streams of JSON values, as from several runs of `kubectl get -o json`, or one on each line.

use super::file_document::FileDocument;
use super::split::RawDocument;
use crate::budget::Budget;
use crate::json::{self, Document, SyntaxError};
use crate::position::{DocumentStart, TrimmedBlanks};

/// The values of a text that begins with a JSON object, each with its part of the text.
///
/// After an error the text is split at lines that begin with `{`, where values usually begin. So an invalid value does not
/// affect the others, and no byte is read more than a few times.
pub(crate) struct JsonStream<'a> {
    chunk: &'a FileDocument,
    budget: &'a Budget,
    /// The offset at which the next value is searched.
    at: usize,
    /// The offset at which it has to end.
    end: usize,
    /// The offset of the last invalid value.
    failed: usize,
    has_recovered: bool,
    place: StreamPlace,
}

impl<'a> JsonStream<'a> {
    pub(crate) fn new(chunk: &'a FileDocument, budget: &'a Budget) -> Self {
        JsonStream {
            chunk,
            budget,
            at: 0,
            end: chunk.raw.bytes.len(),
            failed: 0,
            has_recovered: false,
            place: StreamPlace::default(),
        }
    }

    /// The next value, or why the next part is invalid.
    pub(crate) fn next(&mut self) -> Option<(FileDocument, Result<Document, SyntaxError>)> {
        let bytes = self.chunk.raw.bytes.as_slice();
        loop {
            let rest = bytes.get(self.at..self.end).unwrap_or_default();
            if let Some(blanks) = rest.iter().position(|byte| !json::is_blank(*byte)) {
                self.at += blanks;
                break;
            }
            if self.end >= bytes.len() {
                return None;
            }
            self.at = self.end;
            self.end = self.next_line();
        }
        let start = self.at;
        let text = bytes.get(start..self.end).unwrap_or_default();
        match json::parse_first(text, self.budget) {
            Ok((value, length)) => {
                self.at = start + length;
                Some((self.part(start, self.at), Ok(value)))
            }
            Err(error) => {
                (self.failed, self.at) = (start, self.end);
                Some((self.part(start, start + text.trim_ascii_end().len()), Err(error)))
            }
        }
    }

    /// Goes back to the last invalid value, to read it again up to the next line that may begin a value. False if that was
    /// done before.
    pub(crate) fn recover(&mut self) -> bool {
        if self.has_recovered {
            return false;
        }
        self.has_recovered = true;
        self.at = self.failed;
        self.end = self.next_line();
        true
    }

    /// The start of the next line that begins with `{`.
    fn next_line(&self) -> usize {
        let bytes = self.chunk.raw.bytes.as_slice();
        let rest = bytes.get(self.at..).unwrap_or_default();
        let line_break = rest.windows(2).position(|pair| pair == b"\n{");
        line_break.map_or(bytes.len(), |offset| self.at + offset + 1)
    }

    /// A part as a document. Parts must not begin before earlier ones, except an invalid one that is read again.
    fn part(&mut self, from: usize, to: usize) -> FileDocument {
        let raw = &self.chunk.raw;
        self.place.go_to(from, &raw.bytes);
        FileDocument {
            raw: RawDocument {
                bytes: raw.bytes.get(from..to).unwrap_or_default().to_vec(),
                start: self.place.start(&raw.start),
            },
            ..self.chunk.without_text()
        }
    }
}

/// A place in a text, in lines.
#[derive(Default)]
struct StreamPlace {
    at: usize,
    /// Lines before it.
    lines: usize,
    line_start: usize,
    /// Characters before it on its line.
    chars: usize,
}

impl StreamPlace {
    /// Advances to a byte. A byte that was passed is the start of the last part, so this stays there.
    fn go_to(&mut self, to: usize, bytes: &[u8]) {
        for (at, byte) in bytes.iter().enumerate().take(to).skip(self.at) {
            match byte {
                b'\n' => {
                    self.lines += 1;
                    self.line_start = at + 1;
                    self.chars = 0;
                }
                // The further bytes of a character.
                0x80..0xC0 => {}
                _ => self.chars += 1,
            }
        }
        self.at = self.at.max(to);
    }

    /// The place in the file, of whose text this one begins there.
    fn start(&self, text: &DocumentStart) -> DocumentStart {
        if self.lines == 0 {
            let lead = TrimmedBlanks {
                chars: text.lead.chars + self.chars,
                bytes: text.lead.bytes + self.at,
            };
            return DocumentStart { lead, ..*text };
        }
        DocumentStart {
            line: text.line + self.lines,
            offset: text.offset + text.lead.bytes + self.line_start,
            lead: TrimmedBlanks {
                chars: self.chars,
                bytes: self.at - self.line_start,
            },
        }
    }
}
