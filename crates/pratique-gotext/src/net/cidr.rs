//! Networks: an address and how many of its bits name the network.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use super::ip::is_mapped;
use super::{AddressError, Ip, WrittenAddress};
use crate::strconv::quote;

/// A network as it was written: bits behind the prefix are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cidr {
    address: IpAddr,
    prefix_length: u8,
}

/// Why a text is no [`Cidr`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CidrError {
    /// The text is malformed.
    #[error("network address parse error during conversion from string: netip.ParsePrefix({}): {reason}", quote(.text))]
    Malformed {
        /// What was read.
        text: String,
        /// Why it is malformed.
        reason: PrefixError,
    },
    /// A network of IPv4-mapped IPv6 addresses.
    #[error("IPv4-mapped IPv6 address {} is not allowed", quote(.0))]
    Mapped(String),
}

/// Why the text of a network is malformed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrefixError {
    /// No length.
    #[error("no '/'")]
    NoSlash,
    /// No address before the slash.
    #[error(transparent)]
    Address(AddressError),
    /// An address with a zone.
    #[error("IPv6 zones cannot be present in a prefix")]
    Zone,
    /// A length that is no plain number.
    #[error("bad bits after slash: {}", quote(.0))]
    Length(String),
    /// More bits than the address has.
    #[error("prefix length out of range")]
    OutOfRange,
}

impl Cidr {
    /// Reads `address/length`.
    ///
    /// # Errors
    /// When either part is malformed or has a form that is refused: zones, leading zeroes, IPv4 mapped into IPv6.
    // Upstream: net/netip/netip.go, ParsePrefix; apiserver/pkg/cel/library/cidr.go, parseCIDR
    pub fn parse(text: &str) -> Result<Self, CidrError> {
        let cidr = parse(text).map_err(|reason| CidrError::Malformed {
            text: text.to_owned(),
            reason,
        })?;
        if is_mapped(cidr.address) {
            return Err(CidrError::Mapped(text.to_owned()));
        }
        Ok(cidr)
    }

    /// The address as it was written.
    pub fn ip(self) -> Ip {
        Ip::from_unmapped(self.address)
    }

    /// How many bits name the network.
    pub fn prefix_length(self) -> u8 {
        self.prefix_length
    }

    /// How many bytes the prefix takes.
    pub fn size(self) -> u64 {
        u64::from(self.prefix_length.div_ceil(8))
    }

    /// The network with all bits behind the prefix cleared.
    #[must_use]
    pub fn masked(self) -> Self {
        Self {
            address: mask(self.address, self.prefix_length),
            ..self
        }
    }

    /// Whether the address lies in the network.
    pub fn contains_ip(self, ip: Ip) -> bool {
        mask(self.address, self.prefix_length) == mask(ip.address(), self.prefix_length)
    }

    /// Whether all addresses of the other network lie in this one.
    pub fn contains_cidr(self, other: Self) -> bool {
        self.prefix_length <= other.prefix_length && self.contains_ip(other.ip())
    }
}

impl FromStr for Cidr {
    type Err = CidrError;

    fn from_str(text: &str) -> Result<Self, CidrError> {
        Self::parse(text)
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix_length)
    }
}

fn parse(text: &str) -> Result<Cidr, PrefixError> {
    let (address, length) = text.rsplit_once('/').ok_or(PrefixError::NoSlash)?;
    let address = WrittenAddress::parse(address.as_bytes()).map_err(PrefixError::Address)?;
    if address.has_zone {
        return Err(PrefixError::Zone);
    }
    let bits = parse_length(length).ok_or_else(|| PrefixError::Length(length.to_owned()))?;
    let limit = if address.ip.is_ipv4() { 32 } else { 128 };
    match u8::try_from(bits) {
        Ok(prefix_length) if prefix_length <= limit => Ok(Cidr {
            address: address.ip,
            prefix_length,
        }),
        _ => Err(PrefixError::OutOfRange),
    }
}

/// Digits without sign or leading zero, as far as 64 bits reach.
fn parse_length(text: &str) -> Option<i64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text.len() < 2 || !text.starts_with('0'));
    plain.then(|| text.parse().ok()).flatten()
}

fn mask(address: IpAddr, bits: u8) -> IpAddr {
    let bits = u32::from(bits);
    match address {
        IpAddr::V4(ip) => {
            let mask = u32::MAX.checked_shl(32u32.saturating_sub(bits)).unwrap_or(0);
            IpAddr::V4((ip.to_bits() & mask).into())
        }
        IpAddr::V6(ip) => {
            let mask = u128::MAX.checked_shl(128u32.saturating_sub(bits)).unwrap_or(0);
            IpAddr::V6((ip.to_bits() & mask).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let got = Cidr::parse(text).map_or_else(|error| error.to_string(), |cidr| cidr.to_string());
        let got = got.trim_start_matches("network address parse error during conversion from string: ");
        assert_eq!(got, expected, "{text}");
    }

    #[test]
    fn reads_and_shows() {
        check("10.1.2.3/8", "10.1.2.3/8");
        check("2001:DB8::/32", "2001:db8::/32");
        check("0.0.0.0/0", "0.0.0.0/0");
        check("10.0.0.0", "netip.ParsePrefix(\"10.0.0.0\"): no '/'");
        check(
            "x/8",
            "netip.ParsePrefix(\"x/8\"): ParseAddr(\"x\"): unable to parse IP",
        );
        check(
            "fe80::1%a/8",
            "netip.ParsePrefix(\"fe80::1%a/8\"): IPv6 zones cannot be present in a prefix",
        );
        check(
            "10.0.0.0/08",
            "netip.ParsePrefix(\"10.0.0.0/08\"): bad bits after slash: \"08\"",
        );
        check(
            "10.0.0.0/-1",
            "netip.ParsePrefix(\"10.0.0.0/-1\"): bad bits after slash: \"-1\"",
        );
        check(
            "10.0.0.0/",
            "netip.ParsePrefix(\"10.0.0.0/\"): bad bits after slash: \"\"",
        );
        check(
            "10.0.0.0/33",
            "netip.ParsePrefix(\"10.0.0.0/33\"): prefix length out of range",
        );
        check(
            "::ffff:1.2.3.4/100",
            "IPv4-mapped IPv6 address \"::ffff:1.2.3.4/100\" is not allowed",
        );
    }

    #[test]
    fn masks() {
        for (text, expected) in [
            ("10.1.2.3/8", "10.0.0.0/8"),
            ("10.1.2.3/0", "0.0.0.0/0"),
            ("10.1.2.3/32", "10.1.2.3/32"),
            ("2001:db8:ffff::1/36", "2001:db8:f000::/36"),
            ("2001:db8::1/0", "::/0"),
        ] {
            assert_eq!(Cidr::parse(text).unwrap().masked().to_string(), expected);
        }
    }

    #[test]
    fn contains() {
        let contains_ip = |cidr, ip| Cidr::parse(cidr).unwrap().contains_ip(Ip::parse(ip).unwrap());
        assert!(contains_ip("10.1.0.0/8", "10.2.3.4"));
        assert!(!contains_ip("10.0.0.0/8", "11.0.0.1"));
        assert!(!contains_ip("0.0.0.0/0", "::1"));
        let contains = |cidr, other| {
            Cidr::parse(cidr)
                .unwrap()
                .contains_cidr(Cidr::parse(other).unwrap())
        };
        assert!(contains("10.0.0.0/8", "10.1.2.3/24"));
        assert!(contains("10.0.0.0/8", "10.9.9.9/8"));
        assert!(!contains("10.0.0.0/24", "10.0.0.0/8"));
        assert!(!contains("::/0", "10.0.0.0/8"));
    }
}
