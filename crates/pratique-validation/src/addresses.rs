//! Addresses and networks.

use std::net::IpAddr;

use pratique_gotext::net::{self, Cidr, Ip};
use pratique_gotext::strconv::quote;

use crate::errors::Errors;
use crate::messages::ip_address;
use crate::node::Node;

/// Whether Go's old parser takes it for an address: IPv4 addresses may have leading zeros.
pub(crate) fn is_ip(text: &str) -> bool {
    net::parse_sloppy_ip(text).is_some()
}

/// An address as Go's old parser reads it, of IPv4 where it is one that is written as IPv6.
pub(crate) fn parse_canonical_ip(text: &str) -> Option<Ip> {
    // Nearly all are written as both parsers read them.
    let read = Ip::parse(text).ok();
    read.or_else(|| Ip::parse(&net::parse_sloppy_ip(text)?.to_canonical().to_string()).ok())
}

// Upstream: k8s.io/utils/net/ipfamily.go, IsIPv6String
pub(crate) fn is_ipv6(text: &str) -> bool {
    matches!(net::parse_sloppy_ip(text), Some(IpAddr::V6(address)) if address.to_ipv4_mapped().is_none())
}

/// An address, unless the old object has it already.
// Upstream: pkg/apis/core/validation/validation.go, IsValidIPForLegacyField
pub(crate) fn validate_legacy_ip(address: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    let text = address.as_text();
    let is_wrong = ip_address(text, errors.gates().validates_addresses_strictly).is_some();
    if is_wrong && !old.items().any(|old| old.as_text() == text) {
        validate_legacy_ip_at(address, text, errors);
    }
}

/// An address that errors name at another place.
pub(crate) fn validate_legacy_ip_at(field: &Node<'_, '_>, text: &str, errors: &mut Errors) {
    if let Some(detail) = ip_address(text, errors.gates().validates_addresses_strictly) {
        errors.invalid(field, text, detail);
    }
}

/// Whether addresses are of both families; the text is that of Go's error.
// Upstream: k8s.io/utils/net/net.go, IsDualStackIPStrings
pub(crate) fn is_dual_stack<'t>(texts: impl Iterator<Item = &'t str>) -> Result<bool, String> {
    let (mut has_ipv4, mut has_ipv6) = (false, false);
    for (at, text) in texts.enumerate() {
        if !is_ip(text) {
            return Err(format!("invalid IP[{at}]: {text}"));
        }
        has_ipv6 |= is_ipv6(text);
        has_ipv4 |= !is_ipv6(text);
    }
    Ok(has_ipv4 && has_ipv6)
}

/// A network of a field that always took networks.
// Upstream: apimachinery/pkg/util/validation/ip.go, IsValidCIDRForLegacyField
pub(crate) fn validate_legacy_cidr(field: &Node<'_, '_>, text: &str, errors: &mut Errors) {
    validate_network(field, text, errors.gates().validates_addresses_strictly, errors);
}

// Upstream: apimachinery/pkg/util/validation/ip.go, parseCIDR
fn validate_network(field: &Node<'_, '_>, text: &str, is_strict: bool, errors: &mut Errors) {
    let Some((address, length)) = split_cidr(text) else {
        errors.invalid(field, text, CIDR);
        return;
    };
    if !is_strict {
        return;
    }
    match ip_address(address, true) {
        Some("must not be an IPv4-mapped IPv6 address") => {
            errors.invalid(field, text, "must not have an IPv4-mapped IPv6 address");
            return;
        }
        Some(_) => {
            errors.invalid(field, text, "must not have leading 0s in IP or prefix length");
            return;
        }
        None => {}
    }
    if length.len() > 1 && length.starts_with('0') {
        errors.invalid(field, text, "must not have leading 0s in IP or prefix length");
        return;
    }
    if let Ok(cidr) = Cidr::parse(text) {
        let masked = cidr.masked();
        if masked.ip().address() != cidr.ip().address() {
            errors.invalid(field, text, "must not have bits set beyond the prefix length");
        }
    }
}

/// A network as Go's old parser reads it, with leading zeros, and with IPv4 in the form of IPv6, of which the length of the prefix
/// is as it was written.
// Upstream: utils/net/parse.go, ParseCIDRSloppy
pub(crate) fn parse_sloppy_cidr(text: &str) -> Option<(Cidr, u8)> {
    let (address, written) = net::parse_sloppy_cidr(text)?;
    let canonical = address.to_canonical();
    let length = if address == canonical {
        written
    } else {
        written.checked_sub(96)?
    };
    let cidr = Cidr::parse(&format!("{canonical}/{length}")).ok()?;
    Some((cidr.masked(), written))
}

/// The address of a network interface with the length of its network's prefix, in its canonical form.
// Upstream: apimachinery/pkg/util/validation/ip.go, IsValidInterfaceAddress
pub(crate) fn validate_interface_address(field: &Node<'_, '_>, errors: &mut Errors) {
    let text = field.as_text();
    let Some((address, length)) = net::parse_sloppy_cidr(text) else {
        let detail = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)";
        errors.invalid(field, text, detail);
        return;
    };
    let address = address.to_canonical();
    let length = if address.is_ipv4() && length > 32 {
        length.saturating_sub(96)
    } else {
        length
    };
    let canonical = format!("{address}/{length}");
    if text != canonical {
        errors.invalid(
            field,
            text,
            &format!("must be in canonical form (\"{canonical}\")"),
        );
    }
}

/// The address and the length of a network, as Go's old parser takes them.
// Upstream: k8s.io/utils/net/parse.go, ParseCIDRSloppy
fn split_cidr(text: &str) -> Option<(&str, &str)> {
    let (address, length) = text.split_once('/')?;
    let bits = if address.contains(':') { 128 } else { 32 };
    let is_length = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
    let number: u32 = length.parse().ok()?;
    (is_length && number <= bits && is_ip(address)).then_some((address, length))
}

/// Whether networks are of both families; the text is that of Go's error.
// Upstream: k8s.io/utils/net/net.go, IsDualStackCIDRStrings
pub(crate) fn is_dual_stack_cidr<'t>(texts: impl Iterator<Item = &'t str>) -> Result<bool, String> {
    let (mut has_ipv4, mut has_ipv6) = (false, false);
    for (at, text) in texts.enumerate() {
        let Some((address, _)) = split_cidr(text) else {
            return Err(format!(
                "invalid CIDR[{at}]: <nil> (invalid CIDR address: {text})"
            ));
        };
        has_ipv6 |= is_ipv6(address);
        has_ipv4 |= !is_ipv6(address);
    }
    Ok(has_ipv4 && has_ipv6)
}

const CIDR: &str = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/// Addresses that no endpoint can have.
// Upstream: pkg/apis/core/validation/validation.go, ValidateEndpointIP
pub(crate) fn validate_endpoint_ip(address: &Node<'_, '_>, errors: &mut Errors) {
    let text = address.as_text();
    let Some(ip) = net::parse_sloppy_ip(text).map(|ip| ip.to_canonical()) else {
        errors.invalid(address, text, "must be a valid IP address");
        return;
    };
    let (is_link_local, is_link_local_multicast) = match ip {
        IpAddr::V4(ip) => (ip.is_link_local(), matches!(ip.octets(), [224, 0, 0, _])),
        IpAddr::V6(ip) => (
            ip.is_unicast_link_local(),
            ip.segments()
                .first()
                .is_some_and(|first| first & 0xff0f == 0xff02),
        ),
    };
    if ip.is_unspecified() {
        errors.invalid(address, text, &format!("may not be unspecified ({text})"));
    }
    if ip.is_loopback() {
        errors.invalid(
            address,
            text,
            "may not be in the loopback range (127.0.0.0/8, ::1/128)",
        );
    }
    if is_link_local {
        errors.invalid(
            address,
            text,
            "may not be in the link-local range (169.254.0.0/16, fe80::/10)",
        );
    }
    if is_link_local_multicast {
        errors.invalid(
            address,
            text,
            "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
        );
    }
}

/// An address in its canonical form.
// Upstream: apimachinery/pkg/util/validation/ip.go, IsValidIP
pub(crate) fn canonical_ip_messages(text: &str) -> Vec<String> {
    match (ip_address(text, true), Ip::parse(text)) {
        (Some(detail), _) => vec![detail.to_owned()],
        (None, Ok(ip)) if ip.to_string() != text => {
            vec![format!("must be in canonical form ({})", quote(&ip.to_string()))]
        }
        _ => Vec::new(),
    }
}

/// A network in its canonical form.
// Upstream: apimachinery/pkg/util/validation/ip.go, IsValidCIDR
pub(crate) fn validate_cidr(network: &Node<'_, '_>, errors: &mut Errors) {
    let count = errors.len();
    validate_network(network, network.as_text(), true, errors);
    if errors.len() > count {
        return;
    }
    if let Ok(cidr) = Cidr::parse(network.as_text()) {
        let canonical = cidr.masked().to_string();
        if canonical != network.as_text() {
            let detail = format!("must be in canonical form ({})", quote(&canonical));
            errors.invalid_or_empty(network, &detail);
        }
    }
}

/// Whether a network is one of IPv6 addresses, if it is one at all.
// Upstream: k8s.io/utils/net/ipfamily.go, IPFamilyOfCIDRString
pub(crate) fn is_ipv6_network(text: &str) -> Option<bool> {
    let (address, length) = text.split_once('/')?;
    let is_ipv6 = is_ipv6(address);
    let bits = if address.contains(':') { 128 } else { 32 };
    let is_length = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
    let length = length
        .parse::<u32>()
        .ok()
        .filter(|length| is_length && *length <= bits);
    (length.is_some() && is_ip(address)).then_some(is_ipv6)
}
