//! Reading the text of an address, zones and all, for everything that contains one: `ip()`, `cidr()`, hosts of URLs.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::strconv::quote_bytes;

/// An address as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WrittenAddress {
    pub(crate) ip: IpAddr,
    /// Whether a zone follows: `fe80::1%eth0`.
    pub(crate) has_zone: bool,
}

/// Why a text is no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("ParseAddr({}): {message}{}", quote_bytes(.text), at(.rest))]
pub struct AddressError {
    text: Vec<u8>,
    message: &'static str,
    /// What was left to read when the fault was found, where that helps.
    rest: Vec<u8>,
}

fn at(rest: &[u8]) -> String {
    if rest.is_empty() {
        String::new()
    } else {
        format!(" (at {})", quote_bytes(rest))
    }
}

/// A fault and the text that was left.
type AddressFault<'a> = (&'static str, &'a [u8]);

impl WrittenAddress {
    /// Reads an address. The text comes from users and need not be UTF-8.
    // Upstream: net/netip/netip.go, ParseAddr
    pub(crate) fn parse(text: &[u8]) -> Result<Self, AddressError> {
        let parsed = match text.iter().find(|byte| matches!(byte, b'.' | b':' | b'%')) {
            Some(b'.') => ipv4(text).map(|ip| Self {
                ip: IpAddr::V4(ip),
                has_zone: false,
            }),
            Some(b':') => ipv6_with_zone(text),
            // Perhaps a zone without its address.
            Some(_) => Err(("missing IPv6 address", &[] as &[u8])),
            None => Err(("unable to parse IP", &[] as &[u8])),
        };
        parsed.map_err(|(message, rest)| AddressError {
            text: text.to_owned(),
            message,
            rest: rest.to_owned(),
        })
    }
}

fn ipv4(text: &[u8]) -> Result<Ipv4Addr, AddressFault<'_>> {
    let mut octets = [0u8; 4];
    let mut filled = 0;
    let (mut value, mut digits) = (0u16, 0);
    let mut rest = text;
    while let Some((byte, behind)) = rest.split_first() {
        match byte {
            b'0'..=b'9' => {
                if digits == 1 && value == 0 {
                    return Err(("IPv4 field has octet with leading zero", &[]));
                }
                value = value * 10 + u16::from(byte - b'0');
                digits += 1;
                if value > 255 {
                    return Err(("IPv4 field has value >255", &[]));
                }
            }
            b'.' => {
                if digits == 0 || behind.is_empty() {
                    return Err(("IPv4 field must have at least one digit", rest));
                }
                if filled == 3 {
                    return Err(("IPv4 address too long", &[]));
                }
                set_octet(&mut octets, filled, value);
                filled += 1;
                (value, digits) = (0, 0);
            }
            _ => return Err(("unexpected character", rest)),
        }
        rest = behind;
    }
    if filled < 3 {
        return Err(("IPv4 address too short", &[]));
    }
    set_octet(&mut octets, filled, value);
    Ok(Ipv4Addr::from(octets))
}

fn set_octet(octets: &mut [u8; 4], index: usize, value: u16) {
    if let (Some(octet), Ok(value)) = (octets.get_mut(index), u8::try_from(value)) {
        *octet = value;
    }
}

fn ipv6_with_zone(text: &[u8]) -> Result<WrittenAddress, AddressFault<'_>> {
    let mut parts = text.splitn(2, |byte| *byte == b'%');
    let (address, zone) = (parts.next().unwrap_or_default(), parts.next());
    if zone == Some(b"") {
        return Err(("zone must be a non-empty string", &[]));
    }
    let ip = AddressGroups::read(address)?.expanded()?;
    Ok(WrittenAddress {
        ip: IpAddr::V6(ip),
        has_zone: zone.is_some(),
    })
}

/// The 16-bit groups of an IPv6 address, before `::` is expanded.
#[derive(Default)]
struct AddressGroups {
    groups: [u16; 8],
    filled: usize,
    /// The index of the first group behind `::`.
    ellipsis: Option<usize>,
}

impl AddressGroups {
    fn read(text: &[u8]) -> Result<Self, AddressFault<'_>> {
        let mut this = Self::default();
        let mut rest = text;
        if let Some(behind) = rest.strip_prefix(b"::") {
            this.ellipsis = Some(0);
            rest = behind;
            if rest.is_empty() {
                return Ok(this);
            }
        }
        while this.filled < 8 {
            let (group, behind) = hex_group(rest)?;
            if behind.first() == Some(&b'.') {
                this.push_ipv4(rest)?;
                return Ok(this);
            }
            this.push(group);
            match this.separator(behind)? {
                [] => return Ok(this),
                behind => rest = behind,
            }
        }
        Err(("trailing garbage after address", rest))
    }

    /// What follows the colon or colons at the start of `rest`.
    fn separator<'a>(&mut self, rest: &'a [u8]) -> Result<&'a [u8], AddressFault<'a>> {
        match rest {
            [] => Ok(rest),
            [b':'] => Err(("colon must be followed by more characters", rest)),
            [b':', behind @ ..] => match behind {
                [b':', ..] if self.ellipsis.is_some() => Err(("multiple :: in address", behind)),
                [b':', behind @ ..] => {
                    self.ellipsis = Some(self.filled);
                    Ok(behind)
                }
                _ => Ok(behind),
            },
            _ => Err(("unexpected character, want colon", rest)),
        }
    }

    fn push(&mut self, group: u16) {
        if let Some(slot) = self.groups.get_mut(self.filled) {
            *slot = group;
            self.filled += 1;
        }
    }

    fn push_ipv4<'a>(&mut self, text: &'a [u8]) -> Result<(), AddressFault<'a>> {
        if self.ellipsis.is_none() && self.filled != 6 {
            return Err((
                "embedded IPv4 address must replace the final 2 fields of the address",
                text,
            ));
        }
        if self.filled > 6 {
            return Err((
                "too many hex fields to fit an embedded IPv4 at the end of the address",
                text,
            ));
        }
        let [a, b, c, d] = ipv4(text)?.octets();
        self.push(u16::from_be_bytes([a, b]));
        self.push(u16::from_be_bytes([c, d]));
        Ok(())
    }

    fn expanded(mut self) -> Result<Ipv6Addr, AddressFault<'static>> {
        match self.ellipsis {
            None if self.filled < 8 => Err(("address string too short", &[])),
            Some(_) if self.filled == 8 => Err(("the :: must expand to at least one field of zeros", &[])),
            ellipsis => {
                let missing = 8 - self.filled;
                // The groups that are not filled are zero: turn them to where `::` stands.
                if let Some(behind) = ellipsis.and_then(|start| self.groups.get_mut(start..)) {
                    behind.rotate_right(missing);
                }
                Ok(Ipv6Addr::from(self.groups))
            }
        }
    }
}

fn hex_group(text: &[u8]) -> Result<(u16, &[u8]), AddressFault<'_>> {
    let mut value = 0u16;
    let mut rest = text;
    let mut digits = 0;
    while let Some((byte, behind)) = rest.split_first() {
        let Some(digit) = char::from(*byte).to_digit(16) else {
            break;
        };
        if digits == 4 {
            return Err(("each group must have 4 or less digits", text));
        }
        value = value << 4 | digit as u16;
        digits += 1;
        rest = behind;
    }
    if digits == 0 {
        return Err(("each colon-separated field must have at least one digit", text));
    }
    Ok((value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let got = WrittenAddress::parse(text.as_bytes())
            .map_or_else(|error| error.to_string(), |address| address.ip.to_string());
        assert_eq!(got, expected, "{text}");
    }

    #[test]
    fn dotted() {
        check("192.0.2.1", "192.0.2.1");
        check("0.0.0.0", "0.0.0.0");
        check("1.2.3", "ParseAddr(\"1.2.3\"): IPv4 address too short");
        check("1.2.3.4.5", "ParseAddr(\"1.2.3.4.5\"): IPv4 address too long");
        check(
            "1.2.03.4",
            "ParseAddr(\"1.2.03.4\"): IPv4 field has octet with leading zero",
        );
        check("1.2.256.4", "ParseAddr(\"1.2.256.4\"): IPv4 field has value >255");
        check(
            "1..3.4",
            "ParseAddr(\"1..3.4\"): IPv4 field must have at least one digit (at \".3.4\")",
        );
        check(
            "1.2.3.",
            "ParseAddr(\"1.2.3.\"): IPv4 field must have at least one digit (at \".\")",
        );
        check(
            "1.2.3.x",
            "ParseAddr(\"1.2.3.x\"): unexpected character (at \"x\")",
        );
    }

    #[test]
    fn colons() {
        check("2001:DB8::1", "2001:db8::1");
        check("::", "::");
        check("1::", "1::");
        check("::1.2.3.4", "::102:304");
        check("::ffff:1.2.3.4", "::ffff:1.2.3.4");
        check("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8");
        check("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0");
        check("fe80::1%eth0", "fe80::1");
        check(
            "1:2:3:4:5:6:7::8",
            "ParseAddr(\"1:2:3:4:5:6:7::8\"): the :: must expand to at least one field of zeros",
        );
        check(
            "1:2:3:4:5:6:7:8:9",
            "ParseAddr(\"1:2:3:4:5:6:7:8:9\"): trailing garbage after address (at \"9\")",
        );
        check("1:2", "ParseAddr(\"1:2\"): address string too short");
        check(
            "1::2::3",
            "ParseAddr(\"1::2::3\"): multiple :: in address (at \":3\")",
        );
        check(
            "12345::",
            "ParseAddr(\"12345::\"): each group must have 4 or less digits (at \"12345::\")",
        );
        check(
            ":1",
            "ParseAddr(\":1\"): each colon-separated field must have at least one digit (at \":1\")",
        );
        check(
            "1:",
            "ParseAddr(\"1:\"): colon must be followed by more characters (at \":\")",
        );
        check(
            "1:x",
            "ParseAddr(\"1:x\"): each colon-separated field must have at least one digit (at \"x\")",
        );
        check(
            "fe80::1%",
            "ParseAddr(\"fe80::1%\"): zone must be a non-empty string",
        );
    }

    #[test]
    fn neither() {
        check("", "ParseAddr(\"\"): unable to parse IP");
        check("localhost", "ParseAddr(\"localhost\"): unable to parse IP");
        check("%eth0", "ParseAddr(\"%eth0\"): missing IPv6 address");
    }
}
