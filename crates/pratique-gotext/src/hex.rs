//! `encoding/hex`.

use std::fmt::Write as _;

/// Two lower-case digits for each byte.
// Upstream: encoding/hex, EncodeToString
pub fn encode_to_string(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().fold(String::new(), |mut digits, byte| {
        // A String takes whatever is written.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_two_digits() {
        assert_eq!(encode_to_string([0, 0x0a, 0xff]), "000aff");
        assert_eq!(encode_to_string([]), "");
    }
}
