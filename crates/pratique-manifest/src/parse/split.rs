//! Splits files into documents at lines that start with `---`, before they are parsed.
//!
//! The rules are the server's, by lines, and not YAML's: a separator counts within a block scalar or within JSON, a first
//! separator belongs to the document that it opens, and line ends become LF.

use crate::position::{DocumentStart, TrimmedBlanks};

/// A document as bytes, trimmed, and where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawDocument {
    pub(crate) bytes: Vec<u8>,
    pub(crate) start: DocumentStart,
}

/// A separator with text other than a comment after it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BadSeparator {
    /// The text after the dashes, trimmed.
    pub(crate) rest: String,
    /// The line, from 1.
    pub(crate) line: usize,
}

/// How many invalid separators of a file are reported.
const MAX_BAD_SEPARATORS: usize = 1000;

/// How many documents a file has at most.
pub(crate) fn count(content: &[u8]) -> usize {
    lines(content).filter(|line| line.starts_with(b"---")).count() + 1
}

/// The invalid separators. The server stops at the first.
pub(crate) fn bad_separators(content: &[u8]) -> Vec<BadSeparator> {
    let lines = lines(content).enumerate();
    let errors = lines.filter_map(|(index, line)| {
        let after = line.strip_prefix(b"---")?;
        let rest = String::from_utf8_lossy(after).trim().to_owned();
        (!rest.is_empty() && !rest.starts_with('#')).then_some(BadSeparator {
            rest,
            line: index + 1,
        })
    });
    errors.take(MAX_BAD_SEPARATORS).collect()
}

/// Splits a file's content. Blank documents are left out; invalid separators separate, too.
// Upstream: apiserver/pkg/admission/plugin/manifest/loader.go, splitYAMLDocuments
pub(crate) fn split(content: &[u8]) -> Vec<RawDocument> {
    let mut documents = Vec::new();
    let mut buffer: Vec<u8> = Vec::new();
    let mut first = DocumentStart::FILE;
    let mut offset = 0;
    for (number, line) in lines(content).enumerate().map(|(index, line)| (index + 1, line)) {
        let start = offset;
        offset += line.len() + 1;
        if line.starts_with(b"---") && !buffer.is_empty() {
            documents.extend(trimmed(&buffer, first));
            buffer.clear();
            continue;
        }
        if buffer.is_empty() {
            (first.line, first.offset) = (number, start);
        }
        buffer.extend_from_slice(line);
        buffer.push(b'\n');
    }
    documents.extend(trimmed(&buffer, first));
    documents
}

/// The lines of a file without their ends, which are LF or CRLF.
fn lines(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    let content = content
        .strip_suffix(b"\n")
        .map_or((content, false), |rest| (rest, true));
    let (body, ended) = content;
    let count = body.iter().filter(|byte| **byte == b'\n').count();
    let nothing = body.is_empty() && !ended;
    body.split(|byte| *byte == b'\n')
        .enumerate()
        .filter(move |_| !nothing)
        .map(move |(index, line)| {
            let has_end = ended || index < count;
            line.strip_suffix(b"\r").filter(|_| has_end).unwrap_or(line)
        })
}

fn trimmed(buffer: &[u8], first: DocumentStart) -> Option<RawDocument> {
    let start = leading_blanks(buffer);
    let end = buffer.len() - trailing_blanks(buffer);
    let bytes = buffer.get(start..end).filter(|bytes| !bytes.is_empty())?;
    let preceding_bytes = buffer.get(..start).unwrap_or_default();
    let on_line = preceding_bytes
        .rsplit(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    let breaks = preceding_bytes.iter().filter(|byte| **byte == b'\n').count();
    let lead = TrimmedBlanks {
        chars: String::from_utf8_lossy(on_line).chars().count(),
        bytes: on_line.len(),
    };
    Some(RawDocument {
        bytes: bytes.to_vec(),
        start: DocumentStart {
            line: first.line + breaks,
            offset: first.offset + preceding_bytes.len() - on_line.len(),
            lead,
        },
    })
}

fn leading_blanks(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(len) = blank_len(bytes.get(at..).unwrap_or_default(), true) {
        at += len;
    }
    at
}

fn trailing_blanks(bytes: &[u8]) -> usize {
    let mut len = 0;
    while let Some(blank) = blank_len(bytes.get(..bytes.len() - len).unwrap_or_default(), false) {
        len += blank;
    }
    len
}

/// The length of the Unicode blank at an end of some bytes, which need not be UTF-8.
fn blank_len(bytes: &[u8], at_start: bool) -> Option<usize> {
    (1..=3).find(|len| {
        let part = if at_start {
            bytes.get(..*len)
        } else {
            bytes.len().checked_sub(*len).and_then(|at| bytes.get(at..))
        };
        let text = part.and_then(|part| std::str::from_utf8(part).ok());
        text.is_some_and(|text| !text.is_empty() && text.chars().all(char::is_whitespace))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content: &str, expected: &[(&str, usize)]) {
        let (documents, errors) = (split(content.as_bytes()), bad_separators(content.as_bytes()));
        let found: Vec<_> = documents
            .iter()
            .map(|d| (std::str::from_utf8(&d.bytes).unwrap(), d.start.line))
            .collect();
        assert_eq!(found, expected);
        assert_eq!(errors, []);
    }

    #[test]
    fn separators_split_and_blanks_go() {
        check("", &[]);
        check(" \n\n", &[]);
        check("a: 1", &[("a: 1", 1)]);
        check("a: 1\n---\nb: 2\n", &[("a: 1", 1), ("b: 2", 3)]);
        check("a: 1\r\n--- # next\r\n\r\n b: 2\r\n", &[("a: 1", 1), ("b: 2", 4)]);
    }

    #[test]
    fn a_first_separator_belongs_to_its_document() {
        check("---\na: 1\n", &[("---\na: 1", 1)]);
        check("---\n---\na: 1\n", &[("---", 1), ("a: 1", 3)]);
        check(
            "a: 1\n---\n---\n---\nb: 2\n",
            &[("a: 1", 1), ("---", 3), ("b: 2", 5)],
        );
    }

    #[test]
    fn text_after_a_separator_is_an_error() {
        let errors = bad_separators(b"a: 1\n--- b: 2\n----\n");
        let found: Vec<_> = errors
            .iter()
            .map(|error| (error.rest.as_str(), error.line))
            .collect();
        assert_eq!(found, [("b: 2", 2), ("-", 3)]);
    }
}
