//! Standard base64 with padding (RFC 4648), as JSON holds bytes; line breaks in it are skipped.

/// Decodes text.
///
/// # Errors
/// The offset of the invalid byte, as Go's decoder counts it.
pub fn decode(text: &str) -> Result<Vec<u8>, usize> {
    let mut decoder = Base64Decoder {
        bytes: text.as_bytes(),
        at: 0,
    };
    let mut decoded = Vec::with_capacity(text.len() / 4 * 3);
    while let Some((values, count)) = decoder.quantum()? {
        let joined = values
            .iter()
            .fold(0u32, |joined, value| (joined << 6) | u32::from(*value));
        let [_, first, second, third] = joined.to_be_bytes();
        decoded.extend([first, second, third].into_iter().take(count.saturating_sub(1)));
    }
    Ok(decoded)
}

/// The text of bytes.
pub fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or_default());
        let joined = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        for digit in 0..4 {
            let value = (joined >> (18 - 6 * digit)) & 63;
            let digit_byte = DIGITS.get(value as usize).filter(|_| digit <= chunk.len());
            text.push(digit_byte.map_or('=', |digit| char::from(*digit)));
        }
    }
    text
}

struct Base64Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Base64Decoder<'_> {
    /// The next four digits, and the number of them before padding; `None` at the end.
    // Upstream: encoding/base64/base64.go, Encoding.decodeQuantum
    fn quantum(&mut self) -> Result<Option<([u8; 4], usize)>, usize> {
        let mut values = [0; 4];
        for digit in 0..4 {
            self.skip_breaks();
            let Some(byte) = self.bytes.get(self.at).copied() else {
                return if digit == 0 {
                    Ok(None)
                } else {
                    Err(self.at - digit)
                };
            };
            self.at += 1;
            match value(byte) {
                Some(value) => {
                    if let Some(slot) = values.get_mut(digit) {
                        *slot = value;
                    }
                }
                None if byte == b'=' => return self.padding(digit).map(|()| Some((values, digit))),
                None => return Err(self.at - 1),
            }
        }
        Ok(Some((values, 4)))
    }

    /// Checks the rest after a first `=`: another one if two digits come before it, and then the end.
    fn padding(&mut self, digits: usize) -> Result<(), usize> {
        if digits < 2 {
            return Err(self.at - 1);
        }
        if digits == 2 {
            self.skip_breaks();
            match self.bytes.get(self.at) {
                None => return Err(self.bytes.len()),
                Some(b'=') => self.at += 1,
                Some(_) => return Err(self.at - 1),
            }
        }
        self.skip_breaks();
        if self.at < self.bytes.len() {
            Err(self.at)
        } else {
            Ok(())
        }
    }

    fn skip_breaks(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b'\n' | b'\r')) {
            self.at += 1;
        }
    }
}

fn value(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_decodes_or_says_where_it_does_not() {
        for (text, expected) in [
            ("", Ok("")),
            ("aGVsbG8=", Ok("hello")),
            ("aGk=\n", Ok("hi")),
            ("aA==", Ok("h")),
            ("aGVs\r\nbG8h", Ok("hello!")),
            ("not base64", Err(3)),
            ("aGk", Err(0)),
            ("aA=", Err(3)),
            ("aGk=x", Err(4)),
            ("=", Err(0)),
            ("YQ", Err(0)),
            ("YWJjYQ", Err(4)),
            ("YQ=x", Err(2)),
            ("YQ==YQ==", Err(4)),
        ] {
            assert_eq!(
                decode(text),
                expected.map(|text| text.as_bytes().to_vec()),
                "{text:?}"
            );
        }
    }

    #[test]
    fn bytes_encode() {
        for (bytes, expected) in [("", ""), ("h", "aA=="), ("hi", "aGk="), ("hello!", "aGVsbG8h")] {
            assert_eq!(encode(bytes.as_bytes()), expected);
        }
    }
}
