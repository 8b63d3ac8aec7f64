//! Percent-encoding, whose rules depend on the part of the URL.

use std::fmt::Write;

use super::Reason;

/// A part of a URL with rules of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UrlPart {
    Path,
    Host,
    /// The zone of an IPv6 host.
    Zone,
    User,
    /// A key or value of the query, in which `+` is a space.
    Query,
    Fragment,
}

/// Encodes every byte that may not stand in `part`.
pub(super) fn escape(bytes: &[u8], part: UrlPart) -> String {
    let mut out = String::with_capacity(bytes.len());
    for byte in bytes {
        if may_stand(*byte, part) {
            out.push(char::from(*byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// Decodes `text`, which must be well-formed for `part`.
pub(super) fn unescape(text: &[u8], part: UrlPart) -> Result<Vec<u8>, Reason> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, behind)) = rest.split_first() {
        rest = behind;
        match byte {
            b'%' => {
                let Some((decoded, behind)) = hex_pair(rest) else {
                    return Err(bad_escape(behind));
                };
                if !may_be_escaped(decoded, part) {
                    return Err(bad_escape(rest));
                }
                out.push(decoded);
                rest = behind;
            }
            b'+' if part == UrlPart::Query => out.push(b' '),
            byte if byte.is_ascii()
                && matches!(part, UrlPart::Host | UrlPart::Zone)
                && !may_stand(*byte, part) =>
            {
                return Err(Reason::HostCharacter(*byte));
            }
            byte => out.push(*byte),
        }
    }
    Ok(out)
}

/// Whether `text` is an encoding as `part` may have it, even though [`escape`] would encode more.
pub(super) fn is_valid(text: &str, part: UrlPart) -> bool {
    text.bytes()
        .all(|byte| may_stand(byte, part) || b"!$&'()*+,;=:@[]%".contains(&byte))
}

fn hex_pair(text: &[u8]) -> Option<(u8, &[u8])> {
    let [high, low, behind @ ..] = text else {
        return None;
    };
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let value = digit(high)? << 4 | digit(low)?;
    Some((u8::try_from(value).ok()?, behind))
}

/// Names the escape that starts before `behind`: at most three bytes of it.
fn bad_escape(behind: &[u8]) -> Reason {
    Reason::Escape([b'%'].into_iter().chain(behind.iter().copied().take(2)).collect())
}

/// Hosts take only bytes beyond ASCII percent-encoded; zones (RFC 6874) whatever a host may have, and blanks, which
/// Windows needs. Both take `%` itself.
fn may_be_escaped(byte: u8, part: UrlPart) -> bool {
    match part {
        UrlPart::Host => !byte.is_ascii() || byte == b'%',
        UrlPart::Zone => byte == b'%' || byte == b' ' || may_stand(byte, UrlPart::Host),
        UrlPart::Path | UrlPart::User | UrlPart::Query | UrlPart::Fragment => true,
    }
}

/// Whether `byte` needs no encoding in `part`.
fn may_stand(byte: u8, part: UrlPart) -> bool {
    let allowed: &[u8] = match part {
        UrlPart::Path => b"$&+,/:;=@",
        UrlPart::Host | UrlPart::Zone => b"!\"$&'()*+,:;<=>[]",
        UrlPart::User => b"$&+,;=",
        UrlPart::Query => b"",
        UrlPart::Fragment => b"!$&()*+,/:;=?@",
    };
    byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) || allowed.contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, part: UrlPart, expected: &str) {
        let got = unescape(text.as_bytes(), part).map_or_else(
            |reason| reason.to_string(),
            |bytes| String::from_utf8(bytes).unwrap(),
        );
        assert_eq!(got, expected, "{text} in {part:?}");
    }

    #[test]
    fn decoding() {
        check("a%20b+c", UrlPart::Path, "a b+c");
        check("a%20b+c", UrlPart::Query, "a b c");
        check("%", UrlPart::Path, "invalid URL escape \"%\"");
        check("a%2", UrlPart::Path, "invalid URL escape \"%2\"");
        check("%zzz", UrlPart::Path, "invalid URL escape \"%zz\"");
        check("%é", UrlPart::Path, "invalid URL escape \"%é\"");
        check("h%C3%A9", UrlPart::Host, "hé");
        check("h%20", UrlPart::Host, "invalid URL escape \"%20\"");
        check("%25%20%5b", UrlPart::Zone, "% [");
        check("%2f", UrlPart::Zone, "invalid URL escape \"%2f\"");
        check("a b", UrlPart::Host, "invalid character \" \" in host name");
    }

    #[test]
    fn encoding() {
        for (part, expected) in [
            (UrlPart::Path, "a%20/%3F:@&=%23%22%5B%5D%C3%A9"),
            (UrlPart::Host, "a%20%2F%3F:%40&=%23\"[]%C3%A9"),
            (UrlPart::User, "a%20%2F%3F%3A%40&=%23%22%5B%5D%C3%A9"),
            (UrlPart::Fragment, "a%20/?:@&=%23%22%5B%5D%C3%A9"),
        ] {
            assert_eq!(escape("a /?:@&=#\"[]é".as_bytes(), part), expected);
        }
    }
}
