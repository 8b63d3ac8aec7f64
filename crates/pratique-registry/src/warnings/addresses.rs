//! Warnings about the form of addresses and networks, in fields that are older than the server's strict rules.
// Upstream: apimachinery/pkg/util/validation/ip.go, GetWarningsForIP, GetWarningsForCIDR

use std::fmt::Display;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use pratique_gotext::net::{parse_sloppy_cidr, parse_sloppy_ip};
use pratique_gotext::strconv::quote;
use pratique_json::Value;
use pratique_schema::Release;

use crate::object;

/// The warnings as a release words them.
pub(super) fn in_words_of(release: &Release, mut warnings: Vec<String>) -> Vec<String> {
    const NOW: &str = " is invalid: use ";
    // Upstream: apimachinery/pkg/util/validation/ip.go: in 1.36, what was to become invalid is so.
    if !release.at_least(1, 36) {
        let of_form = |warning: &&mut String| warning.contains(": non-standard ");
        for warning in warnings.iter_mut().filter(of_form) {
            *warning = warning.replacen(
                NOW,
                " will be considered invalid in a future Kubernetes release: use ",
                1,
            );
        }
    }
    warnings
}

/// The warning about an address at a path. What is no address at all is the business of validation.
pub(super) fn of_address(path: impl Display, text: &str) -> Option<String> {
    let address = parse_sloppy_ip(text)?;
    match text.parse::<IpAddr>() {
        Ok(IpAddr::V6(strict)) if strict.to_ipv4_mapped().is_none() => {
            let canonical = strict.to_string();
            (canonical != text).then(|| {
                format!(
                    "{path}: IPv6 address {} should be in RFC 5952 canonical format ({})",
                    quote(text),
                    quote(&canonical)
                )
            })
        }
        Ok(IpAddr::V4(_)) => None,
        // Leading zeroes, or IPv4 mapped into IPv6.
        Ok(IpAddr::V6(_)) | Err(_) => Some(format!(
            "{path}: non-standard IP address {} is invalid: use {}",
            quote(text),
            quote(&format_address(address))
        )),
    }
}

/// The warnings about a network at a path.
pub(super) fn of_network(path: impl Display, text: &str) -> Vec<String> {
    let Some((address, length)) = parse_sloppy_cidr(text) else {
        return Vec::new();
    };
    let network = mask(address, length);
    let network_text = format_network(network, length);
    let mut warnings = Vec::new();
    if address != network {
        let single = format!("{}/{}", format_address(address), width(address));
        warnings.push(format!(
            "{path}: CIDR value {} is ambiguous in this context (should be {} or {}?)",
            quote(text),
            quote(&network_text),
            quote(&single)
        ));
    }
    let strict = parse_strict_network(text);
    if strict.is_none() {
        warnings.push(format!(
            "{path}: non-standard CIDR value {} is invalid: use {}",
            quote(text),
            quote(&network_text)
        ));
    }
    if let Some(IpAddr::V6(strict)) = strict
        && warnings.is_empty()
    {
        let canonical = format!("{strict}/{length}");
        if canonical != text {
            warnings.push(format!(
                "{path}: IPv6 CIDR value {} should be in RFC 5952 canonical format ({})",
                quote(text),
                quote(&canonical)
            ));
        }
    }
    warnings
}

/// The warnings about the addresses of a list at a path.
pub(super) fn of_addresses(
    path: impl Display,
    object: &Value<'_>,
    list: object::FieldPath<'_>,
) -> Vec<String> {
    let addresses = object::list(object, list).iter().enumerate();
    let warnings = addresses.filter_map(|(at, address)| {
        of_address(format_args!("{path}[{at}]"), address.as_str().unwrap_or_default())
    });
    warnings.collect()
}

/// The warnings about the networks of a list at a path.
pub(super) fn of_networks(
    path: impl Display,
    object: &Value<'_>,
    list: object::FieldPath<'_>,
) -> Vec<String> {
    let networks = object::list(object, list).iter().enumerate();
    let warnings = networks.flat_map(|(at, network)| {
        of_network(format_args!("{path}[{at}]"), network.as_str().unwrap_or_default())
    });
    warnings.collect()
}

/// The address of a network that has nothing but the standard form.
// Upstream: net/netip/netip.go, ParsePrefix
fn parse_strict_network(text: &str) -> Option<IpAddr> {
    let (address, length) = text.split_once('/')?;
    let has_zeroes = length.len() > 1 && length.starts_with('0');
    match address.parse().ok()? {
        _ if has_zeroes => None,
        IpAddr::V6(address) if address.to_ipv4_mapped().is_some() => None,
        address => Some(address),
    }
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// The address without the bits behind a prefix.
fn mask(address: IpAddr, length: u8) -> IpAddr {
    let spare = u32::from(width(address).saturating_sub(length));
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(spare).unwrap_or_default();
            Ipv4Addr::from(u32::from(address) & mask).into()
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(spare).unwrap_or_default();
            Ipv6Addr::from(u128::from(address) & mask).into()
        }
    }
}

/// An address as Go's `net.IP` is written: IPv4 is, wherever it is mapped into IPv6.
fn format_address(address: IpAddr) -> String {
    address.to_canonical().to_string()
}

/// A network as Go's `net.IPNet` is written.
fn format_network(network: IpAddr, length: u8) -> String {
    let canonical = network.to_canonical();
    // Of a mapped address, the prefix begins behind what maps it.
    let skipped = width(network).saturating_sub(width(canonical));
    format!("{canonical}/{}", length.saturating_sub(skipped))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(warnings: impl IntoIterator<Item = String>, expected: &[&str]) {
        assert_eq!(warnings.into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn addresses() {
        for text in [
            "10.0.0.1",
            "2001:db8::1",
            "",
            "None",
            "10.0.0",
            "10.0.0.256",
            "fe80::1%eth0",
        ] {
            check(of_address("a", text), &[]);
        }
        let standard = "a: non-standard IP address \"010.1.0.01\" is invalid: use \"10.1.0.1\"";
        check(of_address("a", "010.1.0.01"), &[standard]);
        let mapped = "a: non-standard IP address \"::ffff:1.2.3.4\" is invalid: use \"1.2.3.4\"";
        check(of_address("a", "::ffff:1.2.3.4"), &[mapped]);
        let canonical =
            "a: IPv6 address \"2001:DB8:0::1\" should be in RFC 5952 canonical format (\"2001:db8::1\")";
        check(of_address("a", "2001:DB8:0::1"), &[canonical]);
    }

    #[test]
    fn networks() {
        for text in [
            "10.0.0.0/8",
            "2001:db8::/64",
            "0.0.0.0/0",
            "10.0.0.0",
            "10.0.0.0/33",
            "10.0.0.0/",
            "x/8",
        ] {
            check(of_network("a", text), &[]);
        }
        let ambiguous = "a: CIDR value \"10.1.0.0/8\" is ambiguous in this context (should be \"10.0.0.0/8\" or \
             \"10.1.0.0/32\"?)";
        check(of_network("a", "10.1.0.0/8"), &[ambiguous]);
        let standard = "a: non-standard CIDR value \"10.0.0.0/08\" is invalid: use \"10.0.0.0/8\"";
        check(of_network("a", "10.0.0.0/08"), &[standard]);
        let mapped = "a: non-standard CIDR value \"::ffff:1.2.3.0/120\" is invalid: use \"1.2.3.0/24\"";
        check(of_network("a", "::ffff:1.2.3.0/120"), &[mapped]);
        let canonical =
            "a: IPv6 CIDR value \"2001:DB8::/64\" should be in RFC 5952 canonical format (\"2001:db8::/64\")";
        check(of_network("a", "2001:DB8::/64"), &[canonical]);
    }
}
