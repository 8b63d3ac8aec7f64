//! Blocks of PEM.

use pratique_json::base64;

const START: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"\n-----END ";
const END_OF_LINE: &[u8] = b"-----";

/// A block of PEM.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PemBlock {
    /// What it says that it holds.
    pub(crate) label: String,
    pub(crate) has_headers: bool,
    pub(crate) bytes: Vec<u8>,
}

/// The first block of a text, and what follows it. Text before a block, and blocks that are malformed, are skipped.
// Upstream: encoding/pem/pem.go, Decode
pub(crate) fn decode_block(text: &[u8]) -> Option<(PemBlock, &[u8])> {
    let mut rest = text;
    loop {
        // Of several lines that begin a block, the last before the first that ends one counts.
        let end = find(rest, END)?;
        let after_end = rest.get(end + END.len()..)?;
        if let Some(read) = read_block(rest, end) {
            return Some(read);
        }
        rest = after_end;
    }
}

/// The block that ends at a place, if there is one.
fn read_block(text: &[u8], end: usize) -> Option<(PemBlock, &[u8])> {
    let head = text.get(..end)?;
    let begin = head.windows(START.len()).rposition(|window| window == START)?;
    if begin > 0 && text.get(begin - 1) != Some(&b'\n') {
        return None;
    }
    let (line, mut rest) = split_line(text.get(begin + START.len()..)?);
    let label = line.strip_suffix(END_OF_LINE)?;
    let mut block = PemBlock {
        label: String::from_utf8_lossy(label).into_owned(),
        ..PemBlock::default()
    };
    while let (line, next) = split_line(rest)
        && line.contains(&b':')
    {
        block.has_headers = true;
        rest = next;
        // Headers end before the block does.
        if text.len() - rest.len() > end {
            return None;
        }
    }
    // Where the block is empty, its first line has consumed the line break before its end.
    let start = text.len() - rest.len();
    let trailer = text.get(end + END.len()..)?;
    let trailer = trailer.strip_prefix(label)?.strip_prefix(END_OF_LINE)?;
    let (blank, following) = split_line(trailer);
    if !blank.is_empty() {
        return None;
    }
    if start < end {
        let content = text.get(start..end)?;
        let content: Vec<u8> = content
            .iter()
            .copied()
            .filter(|byte| !b" \t".contains(byte))
            .collect();
        block.bytes = base64::decode(std::str::from_utf8(&content).ok()?).ok()?;
    }
    Some((block, following))
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

/// The first line without its break and the spaces at its end, and what follows it.
// Upstream: encoding/pem/pem.go, getLine
fn split_line(text: &[u8]) -> (&[u8], &[u8]) {
    let length = text.iter().position(|byte| *byte == b'\n');
    let (line, rest) = match length {
        None => (text, [].as_slice()),
        Some(length) => (
            text.get(..length).unwrap_or_default(),
            text.get(length + 1..).unwrap_or_default(),
        ),
    };
    let is_broken = line.len() + rest.len() < text.len();
    let line = line.strip_suffix(b"\r").filter(|_| is_broken).unwrap_or(line);
    let length = line.iter().rposition(|byte| !b" \t".contains(byte));
    let line = line.get(..length.map_or(0, |last| last + 1));
    (line.unwrap_or_default(), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(&str, bool, &[u8], &str)>) {
        let block = decode_block(text.as_bytes());
        let block = block
            .as_ref()
            .map(|(block, rest)| (block, std::str::from_utf8(rest).unwrap()));
        let shown = block.map(|(block, rest)| {
            (
                block.label.as_str(),
                block.has_headers,
                block.bytes.as_slice(),
                rest,
            )
        });
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_block_is_found_in_a_text() {
        check("", None);
        check(
            "x\n-----BEGIN A B-----\nYQ==\n-----END A B-----\nrest",
            Some(("A B", false, b"a", "rest")),
        );
        check("-----BEGIN A-----\n-----END A-----", Some(("A", false, b"", "")));
        check(
            "-----BEGIN A-----\nkey: value\n\nY Q==\n-----END A-----",
            Some(("A", true, b"a", "")),
        );
    }

    #[test]
    fn malformed_blocks_are_skipped() {
        check("x-----BEGIN A-----\nYQ==\n-----END A-----\n", None);
        check("-----BEGIN A-----\nYQ==\n-----END B-----\n", None);
        check("-----BEGIN A-----\nY\n-----END A-----\n", None);
        check(
            "-----BEGIN A-----\n-----BEGIN B-----\nYQ==\n-----END B-----\n",
            Some(("B", false, b"a", "")),
        );
        check(
            "-----BEGIN A-----\nY\n-----END A-----\n-----BEGIN B-----\nYQ==\n-----END B-----\n",
            Some(("B", false, b"a", "")),
        );
    }
}
