//! Base64 (RFC 4648) as Go's standard encoding reads it: padded, with line breaks anywhere.

/// Bytes in base64 with padding (RFC 4648).
pub fn encoded(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut encoded = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let six = (bits >> (18 - 6 * digit)) & 0x3f;
            let known = DIGITS.get(six as usize).filter(|_| digit <= group.len());
            encoded.push(known.map_or('=', |own| char::from(*own)));
        }
    }
    encoded
}

/// The position of the first byte that does not fit.
pub(super) fn fault(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let mut at = 0;
    let mut within = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' => within = (within + 1) % 4,
            b'\n' | b'\r' => {}
            b'=' if within >= 2 => return fault_in_padding(bytes, at + 1, within, is_break),
            _ => return Some(at),
        }
        at += 1;
    }
    (within > 0).then(|| at - within)
}

/// What follows the first `=` of a group of which `within` characters were read.
fn fault_in_padding(
    bytes: &[u8],
    start: usize,
    within: usize,
    is_break: impl Fn(&u8) -> bool,
) -> Option<usize> {
    let skip = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        from + rest.iter().take_while(|byte| is_break(byte)).count()
    };
    let mut at = skip(start);
    if within == 2 {
        match bytes.get(at) {
            None => return Some(bytes.len()),
            Some(b'=') => at = skip(at + 1),
            Some(_) => return Some(at - 1),
        }
    }
    (at < bytes.len()).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn faults_are_where_go_finds_them() {
        for (text, at) in [
            ("", None),
            ("YQ==", None),
            ("YWI=", None),
            ("YWJj", None),
            ("YW\nJj", None),
            ("not base64", Some(3)),
            ("YQ", Some(0)),
            ("YWJjYQ", Some(4)),
            ("YQ=", Some(3)),
            ("YQ=x", Some(2)),
            ("YQ==YQ==", Some(4)),
            ("=", Some(0)),
        ] {
            assert_eq!(fault(text), at, "{text:?}");
        }
    }
}
