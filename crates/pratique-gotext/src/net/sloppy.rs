//! Addresses as Go read them before 1.17, which API servers still take.

use std::net::{IpAddr, Ipv4Addr};

/// Reads an address whose octets may have leading zeroes.
// Upstream: k8s.io/utils/net/parse.go, ParseIPSloppy
pub fn parse_sloppy_ip(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    let octets: Vec<u8> = text.split('.').map(parse_sloppy_number).collect::<Option<_>>()?;
    let octets: [u8; 4] = octets.try_into().ok()?;
    Some(Ipv4Addr::from(octets).into())
}

/// Reads a network: its address, and the length of its prefix, which is at most that of the address in bits. Both may have leading
/// zeroes.
// Upstream: k8s.io/utils/net/parse.go, ParseCIDRSloppy
pub fn parse_sloppy_cidr(text: &str) -> Option<(IpAddr, u8)> {
    let (address, length) = text.split_once('/')?;
    let address = parse_sloppy_ip(address)?;
    let length = parse_sloppy_number(length)?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    (length <= most).then_some((address, length))
}

fn parse_sloppy_number(text: &str) -> Option<u8> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.trim_start_matches('0') {
        _ if !is_number => None,
        "" => Some(0),
        digits => digits.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_zeroes_are_taken() {
        for (text, expected) in [
            ("10.0.0.1", Some("10.0.0.1")),
            ("010.000.0.01", Some("10.0.0.1")),
            ("::1", Some("::1")),
            ("10.0.0.256", None),
            ("10.0.0", None),
            ("10.0.0.0.1", None),
            ("10.0.0.+1", None),
            ("10..0.1", None),
            ("fe80::1%eth0", None),
            ("", None),
        ] {
            let address = parse_sloppy_ip(text).map(|address| address.to_string());
            assert_eq!(address.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn networks_have_a_length_within_their_address() {
        for (text, expected) in [
            ("010.0.0.0/08", Some(8)),
            ("10.0.0.0/32", Some(32)),
            ("10.0.0.0/33", None),
            ("::/128", Some(128)),
            ("::/129", None),
            ("10.0.0.0", None),
            ("10.0.0.0/", None),
            ("10.0.0.0/+8", None),
        ] {
            let length = parse_sloppy_cidr(text).map(|(_, length)| length);
            assert_eq!(length, expected, "{text}");
        }
    }
}
