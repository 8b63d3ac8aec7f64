//! PEM files: blocks of base64 between lines with dashes.

use pratique_json::base64;

/// A block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PemBlock {
    /// The type: `CERTIFICATE`.
    pub(crate) label: String,
    /// Whether lines of the form `Key: value` come before its content.
    pub(crate) has_headers: bool,
    pub(crate) content: Vec<u8>,
}

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";

/// Parses the PEM blocks of a text, and ignores everything else.
// Upstream: encoding/pem, Decode
pub(crate) fn blocks(text: &[u8]) -> Vec<PemBlock> {
    let text = String::from_utf8_lossy(text);
    let mut lines = text.lines().map(str::trim_end);
    let mut blocks = Vec::new();
    while let Some(line) = lines.next() {
        let Some(label) = line
            .strip_prefix(BEGIN)
            .and_then(|rest| rest.strip_suffix(DASHES))
        else {
            continue;
        };
        let end = format!("{END}{label}{DASHES}");
        let mut rest = lines.clone();
        let content: Vec<&str> = rest.by_ref().take_while(|line| *line != end).collect();
        let is_ended = lines.clone().any(|line| line == end);
        if !is_ended {
            continue;
        }
        let headers = content.iter().take_while(|line| line.contains(':')).count();
        let encoded: String = content.iter().skip(headers).copied().collect();
        if let Some(content) = decoded(encoded.as_bytes()) {
            blocks.push(PemBlock {
                label: label.to_owned(),
                has_headers: headers > 0,
                content,
            });
            lines = rest;
        }
    }
    blocks
}

/// Decodes base64 with white space.
pub(crate) fn decoded(text: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?;
    let text: String = text.split_ascii_whitespace().collect();
    base64::decode(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &[u8])]) {
        let found = blocks(text.as_bytes());
        let found: Vec<(&str, &[u8])> = found
            .iter()
            .map(|block| (block.label.as_str(), block.content.as_slice()))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn blocks_of_files() {
        check(
            "-----BEGIN A-----\nAAEC\nAw==\n-----END A-----\n",
            &[("A", &[0, 1, 2, 3])],
        );
        check(
            "words\n-----BEGIN A-----\r\nAAEC\r\n-----END A-----\nmore\n-----BEGIN B C-----\n\n-----END B C-----",
            &[("A", &[0, 1, 2]), ("B C", &[])],
        );
        check(
            "-----BEGIN A-----\nX: y\n\nAAEC\n-----END A-----\n",
            &[("A", &[0, 1, 2])],
        );
        check("-----BEGIN A-----\nAAEC\n", &[]);
        check("-----BEGIN A-----\nAAEC\n-----END B-----\n", &[]);
        check("-----BEGIN A-----\n!\n-----END A-----\n", &[]);
        check("AAEC", &[]);
    }
}
