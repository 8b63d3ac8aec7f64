//! JSON values that follow each other, as they come from `kubectl get -o json` twice over, or one a line.

use super::file_document::FileDocument;
use super::split::RawDocument;
use crate::budget::Budget;
use crate::json::{self, Document, SyntaxError};
use crate::position::{DocumentStart, Lead};

/// The values of a text that begins with a JSON object, each with the part of the text that holds it.
///
/// After a fault the text is taken apart at lines that begin with `{`, which is where a value on a line of its own
/// begins, and where others mostly do. So one that is broken costs the others nothing, and no byte is looked at more than
/// a few times.
pub(crate) struct Parts<'a> {
    chunk: &'a FileDocument,
    budget: &'a Budget,
    /// Where the next value is looked for.
    at: usize,
    /// Where it has to end.
    end: usize,
    /// Where the value that failed last begins.
    failed: usize,
    has_recovered: bool,
    place: Place,
}

impl<'a> Parts<'a> {
    pub(crate) fn new(chunk: &'a FileDocument, budget: &'a Budget) -> Self {
        Parts {
            chunk,
            budget,
            at: 0,
            end: chunk.raw.bytes.len(),
            failed: 0,
            has_recovered: false,
            place: Place::default(),
        }
    }

    /// The next value, or why there is none in the part that has yet to be read.
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

    /// Goes back to the value that failed, and reads it again without the lines from the next that may begin a value.
    /// False if that was done.
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
        let found = rest.windows(2).position(|pair| pair == b"\n{");
        found.map_or(bytes.len(), |found| self.at + found + 1)
    }

    /// A part as a document of its own. Later parts must not begin earlier, but for one that failed.
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

/// A place in a text, told in lines.
#[derive(Default)]
struct Place {
    at: usize,
    /// Lines before it.
    lines: usize,
    line_start: usize,
    /// Characters before it on its line.
    chars: usize,
}

impl Place {
    /// Goes on to a byte. One that was passed is where the last part began, so this stays there.
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
            let lead = Lead {
                chars: text.lead.chars + self.chars,
                bytes: text.lead.bytes + self.at,
            };
            return DocumentStart { lead, ..*text };
        }
        DocumentStart {
            line: text.line + self.lines,
            offset: text.offset + text.lead.bytes + self.line_start,
            lead: Lead {
                chars: self.chars,
                bytes: self.at - self.line_start,
            },
        }
    }
}
