//! Quoting within messages about times.

use std::fmt::Write as _;

/// A text as messages about times and durations quote it: all but plain ASCII by its bytes.
// Upstream: time/format.go, quote
pub(super) fn quote(text: &[u8]) -> String {
    let mut quoted = String::from("\"");
    for &byte in text {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', char::from(byte)]),
            b' '..0x80 => quoted.push(char::from(byte)),
            _ => {
                // Writing to a string cannot fail.
                let _ = write!(quoted, "\\x{byte:02x}");
            }
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_ascii_is_shown_by_bytes() {
        assert_eq!(
            quote("a\"\\\té\u{7f}".as_bytes()),
            "\"a\\\"\\\\\\x09\\xc3\\xa9\u{7f}\""
        );
    }
}
