//! Addresses.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;

use super::{AddressError, WrittenAddress};
use crate::strconv::quote;

/// An IPv4 or IPv6 address without zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ip(IpAddr);

/// Why a text is no [`Ip`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IpError {
    /// The text is malformed.
    #[error("IP Address {} parse error during conversion from string: {reason}", quote(.text))]
    Malformed {
        /// What was read.
        text: String,
        /// Why it is malformed.
        reason: AddressError,
    },
    /// An IPv6 address with a zone.
    #[error("IP address {} with zone value is not allowed", quote(.0))]
    Zone(String),
    /// An IPv4-mapped IPv6 address.
    #[error("IPv4-mapped IPv6 address {} is not allowed", quote(.0))]
    Mapped(String),
}

impl Ip {
    /// Reads an address.
    ///
    /// # Errors
    /// When `text` is no address, has a zone, or is an IPv4-mapped IPv6 address.
    // Upstream: apiserver/pkg/cel/library/ip.go, parseIPAddr
    pub fn parse(text: &str) -> Result<Self, IpError> {
        let address = WrittenAddress::parse(text.as_bytes()).map_err(|reason| IpError::Malformed {
            text: text.to_owned(),
            reason,
        })?;
        if address.has_zone {
            return Err(IpError::Zone(text.to_owned()));
        }
        if is_mapped(address.ip) {
            return Err(IpError::Mapped(text.to_owned()));
        }
        Ok(Self(address.ip))
    }

    pub(super) fn from_unmapped(ip: IpAddr) -> Self {
        Self(ip)
    }

    /// The address.
    pub fn address(self) -> IpAddr {
        self.0
    }

    /// 4 or 6.
    pub fn family(self) -> u8 {
        if self.0.is_ipv4() { 4 } else { 6 }
    }

    /// How many bytes the address has.
    pub fn size(self) -> u64 {
        if self.0.is_ipv4() { 4 } else { 16 }
    }

    /// `0.0.0.0` or `::`.
    pub fn is_unspecified(self) -> bool {
        self.0.is_unspecified()
    }

    /// `127.0.0.0/8` or `::1`.
    pub fn is_loopback(self) -> bool {
        self.0.is_loopback()
    }

    /// `224.0.0.0/24` or multicast of IPv6 with link-local scope.
    pub fn is_link_local_multicast(self) -> bool {
        match self.0 {
            IpAddr::V4(ip) => matches!(ip.octets(), [224, 0, 0, _]),
            IpAddr::V6(ip) => matches!(ip.octets(), [0xff, scope, ..] if scope & 0x0f == 2),
        }
    }

    /// `169.254.0.0/16` or `fe80::/10`.
    pub fn is_link_local_unicast(self) -> bool {
        match self.0 {
            IpAddr::V4(ip) => ip.is_link_local(),
            IpAddr::V6(ip) => matches!(ip.octets(), [0xfe, second, ..] if second & 0xc0 == 0x80),
        }
    }

    /// Every address that is not unspecified, loopback, multicast, link-local or the broadcast address; private ones count.
    pub fn is_global_unicast(self) -> bool {
        self.0 != IpAddr::V4(Ipv4Addr::BROADCAST)
            && !self.is_unspecified()
            && !self.is_loopback()
            && !self.0.is_multicast()
            && !self.is_link_local_unicast()
    }
}

impl FromStr for Ip {
    type Err = IpError;

    fn from_str(text: &str) -> Result<Self, IpError> {
        Self::parse(text)
    }
}

/// The canonical form: lower case, zeroes compressed.
impl fmt::Display for Ip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

pub(super) fn is_mapped(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V6(ip) if ip.to_ipv4_mapped().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let got = Ip::parse(text).map_or_else(|error| error.to_string(), |ip| ip.to_string());
        assert_eq!(got, expected, "{text}");
    }

    #[test]
    fn reads_and_shows() {
        check("10.0.0.1", "10.0.0.1");
        check("2001:0DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1");
        check("1:0:0:2:0:0:0:3", "1:0:0:2::3");
        check("1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7");
        check(
            "fe80::1%eth0",
            "IP address \"fe80::1%eth0\" with zone value is not allowed",
        );
        check(
            "::ffff:1.2.3.4",
            "IPv4-mapped IPv6 address \"::ffff:1.2.3.4\" is not allowed",
        );
        check(
            "x",
            "IP Address \"x\" parse error during conversion from string: ParseAddr(\"x\"): unable to parse IP",
        );
    }

    fn check_kinds(text: &str, expected: &str) {
        let ip = Ip::parse(text).unwrap();
        let kinds = [
            (ip.is_unspecified(), "unspecified"),
            (ip.is_loopback(), "loopback"),
            (ip.is_link_local_multicast(), "link-local-multicast"),
            (ip.is_link_local_unicast(), "link-local-unicast"),
            (ip.is_global_unicast(), "global"),
        ];
        let got: Vec<&str> = kinds
            .into_iter()
            .filter(|(holds, _)| *holds)
            .map(|(_, kind)| kind)
            .collect();
        assert_eq!(got.join(" "), expected, "{text}");
    }

    #[test]
    fn kinds() {
        for text in ["0.0.0.0", "::"] {
            check_kinds(text, "unspecified");
        }
        for text in ["127.9.9.9", "::1"] {
            check_kinds(text, "loopback");
        }
        for text in ["224.0.0.7", "ff02::1", "ff12::1"] {
            check_kinds(text, "link-local-multicast");
        }
        for text in ["169.254.1.1", "fe80::1", "febf::1"] {
            check_kinds(text, "link-local-unicast");
        }
        for text in ["10.0.0.1", "8.8.8.8", "fd00::1", "2001:db8::1", "fec0::1"] {
            check_kinds(text, "global");
        }
        for text in ["255.255.255.255", "224.0.1.1", "ff05::1"] {
            check_kinds(text, "");
        }
    }
}
