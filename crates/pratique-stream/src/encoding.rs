//! From the encoding that a byte order mark names to UTF-8.
//!
//! Shells of Windows write files as UTF-16, and clients of API servers read them by their byte order mark, before anything is
//! divided into documents. What has no such mark is left as it is.

use std::io::{self, Chain, Cursor, Read};

/// How much is read at once, in bytes.
const BLOCK: usize = 32 << 10;

/// The length of the longest byte order mark.
const MARK: usize = 4;

/// An encoding that a byte order mark names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MarkedEncoding {
    Utf8,
    Utf16(ByteOrder),
    Utf32(ByteOrder),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ByteOrder {
    Little,
    Big,
}

impl MarkedEncoding {
    /// The encoding of a text, and the length of its byte order mark.
    // Upstream: cli-runtime/pkg/resource/visitor.go, FileVisitor.Visit, which reads no UTF-32
    fn detect(head: &[u8]) -> Option<(Self, usize)> {
        match head {
            [0xFF, 0xFE, 0, 0, ..] => Some((MarkedEncoding::Utf32(ByteOrder::Little), 4)),
            [0, 0, 0xFE, 0xFF, ..] => Some((MarkedEncoding::Utf32(ByteOrder::Big), 4)),
            [0xFF, 0xFE, ..] => Some((MarkedEncoding::Utf16(ByteOrder::Little), 2)),
            [0xFE, 0xFF, ..] => Some((MarkedEncoding::Utf16(ByteOrder::Big), 2)),
            [0xEF, 0xBB, 0xBF, ..] => Some((MarkedEncoding::Utf8, 3)),
            _ => None,
        }
    }

    /// The number of bytes of a unit.
    fn width(self) -> usize {
        match self {
            MarkedEncoding::Utf8 => 1,
            MarkedEncoding::Utf16(_) => 2,
            MarkedEncoding::Utf32(_) => 4,
        }
    }

    /// A unit of as many bytes.
    fn unit(self, bytes: &[u8]) -> u32 {
        let add = |unit: u32, byte: &u8| (unit << 8) | u32::from(*byte);
        match self {
            MarkedEncoding::Utf16(ByteOrder::Little) | MarkedEncoding::Utf32(ByteOrder::Little) => {
                bytes.iter().rev().fold(0, add)
            }
            _ => bytes.iter().fold(0, add),
        }
    }
}

/// Reads UTF-16 and UTF-32 with a byte order mark as UTF-8, without the mark, and everything else as it is. As for clients, what is
/// no character in the former becomes U+FFFD.
#[derive(Debug)]
pub struct Utf8Reader<R> {
    input: Chain<Cursor<Vec<u8>>, R>,
    encoding: Option<MarkedEncoding>,
    /// Bytes that are not converted yet.
    raw: Vec<u8>,
    /// The first half of a character in UTF-16.
    high: Option<u32>,
    text: Vec<u8>,
    /// How much of the text was given.
    given: usize,
}

impl<R: Read> Utf8Reader<R> {
    /// Reads the byte order mark, if there is one.
    ///
    /// # Errors
    /// The beginning cannot be read.
    pub fn new(mut input: R) -> io::Result<Self> {
        let mut head = Vec::with_capacity(MARK);
        input.by_ref().take(MARK as u64).read_to_end(&mut head)?;
        let (encoding, mark) = match MarkedEncoding::detect(&head) {
            Some((encoding, mark)) => (Some(encoding), mark),
            None => (None, 0),
        };
        head.drain(..mark);
        Ok(Utf8Reader {
            input: Cursor::new(head).chain(input),
            encoding,
            raw: Vec::new(),
            high: None,
            text: Vec::new(),
            given: 0,
        })
    }

    /// Whether there is a byte order mark: the offsets of the text are not those of the input.
    pub fn is_converted(&self) -> bool {
        self.encoding.is_some()
    }

    /// Reads and converts a block.
    fn fill(&mut self, encoding: MarkedEncoding) -> io::Result<()> {
        let count = self
            .input
            .by_ref()
            .take(BLOCK as u64)
            .read_to_end(&mut self.raw)?;
        self.text.clear();
        self.given = 0;
        let units = self.raw.chunks_exact(encoding.width());
        let rest = units.remainder().to_vec();
        let units: Vec<u32> = units.map(|bytes| encoding.unit(bytes)).collect();
        self.raw = rest;
        for unit in units {
            self.convert(unit, encoding);
        }
        if count == 0 && (self.high.take().is_some() || !self.raw.is_empty()) {
            self.raw.clear();
            self.push(None);
        }
        Ok(())
    }

    fn convert(&mut self, unit: u32, encoding: MarkedEncoding) {
        if matches!(encoding, MarkedEncoding::Utf32(_)) {
            return self.push(char::from_u32(unit));
        }
        match (self.high.take(), unit) {
            (Some(high), 0xDC00..=0xDFFF) => {
                self.push(char::from_u32(
                    0x1_0000 + ((high - 0xD800) << 10) + (unit - 0xDC00),
                ));
            }
            (Some(_), _) => {
                self.push(None);
                self.convert(unit, encoding);
            }
            (None, 0xD800..=0xDBFF) => self.high = Some(unit),
            (None, _) => self.push(char::from_u32(unit)),
        }
    }

    fn push(&mut self, character: Option<char>) {
        let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
        let mut bytes = [0; 4];
        self.text
            .extend_from_slice(character.encode_utf8(&mut bytes).as_bytes());
    }
}

impl<R: Read> Read for Utf8Reader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let encoding = match self.encoding {
            None | Some(MarkedEncoding::Utf8) => return self.input.read(into),
            Some(encoding) => encoding,
        };
        if into.is_empty() {
            return Ok(0);
        }
        if self.given == self.text.len() {
            self.fill(encoding)?;
            // A block without a whole character is followed by more, or by the end.
            while self.text.is_empty() && !(self.raw.is_empty() && self.high.is_none()) {
                self.fill(encoding)?;
            }
        }
        let mut rest = self.text.get(self.given..).unwrap_or_default();
        let count = rest.read(into)?;
        self.given += count;
        Ok(count)
    }
}

/// A whole text as UTF-8.
pub fn to_utf8(mut content: Vec<u8>) -> Vec<u8> {
    match MarkedEncoding::detect(&content) {
        None => return content,
        Some((MarkedEncoding::Utf8, mark)) => {
            content.drain(..mark);
            return content;
        }
        Some(_) => {}
    }
    let mut text = Vec::with_capacity(content.len());
    // Reading from memory and writing to it cannot fail.
    let read = Utf8Reader::new(content.as_slice()).and_then(|mut reader| reader.read_to_end(&mut text));
    debug_assert!(read.is_ok());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(text: &str, name: &str) -> Vec<u8> {
        let with_mark = format!("\u{feff}{text}");
        let units = with_mark.encode_utf16();
        let characters = with_mark.chars().map(u32::from);
        match name {
            "utf-16le" => units.flat_map(u16::to_le_bytes).collect(),
            "utf-16be" => units.flat_map(u16::to_be_bytes).collect(),
            "utf-32le" => characters.flat_map(u32::to_le_bytes).collect(),
            "utf-8" => with_mark.into_bytes(),
            _ => characters.flat_map(u32::to_be_bytes).collect(),
        }
    }

    /// Gives a byte at a time, as a slow pipe may.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let length = into.len().min(1);
            self.0.read(&mut into[..length])
        }
    }

    #[test]
    fn marked_texts_become_utf_8() {
        let long = "name: é\u{1f980}\r\n".repeat(BLOCK / 7);
        for text in ["", "a", "a: 1\n---\nb: \u{1f980}ü\n", &long] {
            for name in ["utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be"] {
                let content = encoded(text, name);
                let mut read = String::new();
                let mut reader = Utf8Reader::new(Slow(&content)).unwrap();
                reader.read_to_string(&mut read).unwrap();
                assert!(read == text && reader.is_converted(), "{name} {text:?}");
                assert!(to_utf8(content) == text.as_bytes(), "{name}");
            }
        }
    }

    #[test]
    fn everything_else_stays() {
        for text in [&b""[..], b"a", b"\xEF\xBBa: 1\n", b"a\0:\0", b"\xFF", b"\0\0\xFE"] {
            assert_eq!(to_utf8(text.to_vec()), text);
            let mut read = Vec::new();
            Utf8Reader::new(text).unwrap().read_to_end(&mut read).unwrap();
            assert_eq!(read, text);
        }
    }

    #[test]
    fn what_is_no_character_is_replaced() {
        for (content, expected) in [
            (&b"\xFF\xFEa\0b"[..], "a\u{fffd}"),
            (b"\xFF\xFE\x00\xD8a\0", "\u{fffd}a"),
            (b"\xFF\xFE\x00\xDCa\0", "\u{fffd}a"),
            (b"\xFE\xFF\xD8\x00", "\u{fffd}"),
            (b"\xFF\xFE\0\0\x00\x00\x11\x00", "\u{fffd}"),
            (b"\0\0\xFE\xFF\0\0\0a\0", "a\u{fffd}"),
        ] {
            assert_eq!(String::from_utf8(to_utf8(content.to_vec())).unwrap(), expected);
        }
    }
}
