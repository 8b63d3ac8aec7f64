//! The formats of texts that a server checks.

use std::net::Ipv6Addr;
use std::sync::OnceLock;

use pratique_cel::regex::Regex;
use pratique_gotext::strfmt;
use pratique_gotext::url::Url;

use super::{Schema, Type};
use crate::duration;
use crate::email;

/// A format that a server checks; it ignores all others.
// Upstream: apiextensions-apiserver/pkg/apiserver/validation/formats.go, supportedVersionedFormats
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    BsonObjectId,
    Uri,
    Email,
    Hostname,
    Ipv4,
    Ipv6,
    Cidr,
    Mac,
    Uuid,
    Uuid3,
    Uuid4,
    Uuid5,
    Isbn,
    Isbn10,
    Isbn13,
    CreditCard,
    Ssn,
    HexColor,
    RgbColor,
    Byte,
    Password,
    Date,
    Duration,
    DateTime,
    ShortName,
    LongName,
}

impl Format {
    /// The format of a name, in which hyphens do not count.
    pub(crate) fn named(name: &str) -> Option<Format> {
        Some(match name.replace('-', "").as_str() {
            "bsonobjectid" => Format::BsonObjectId,
            "uri" => Format::Uri,
            "email" => Format::Email,
            "hostname" => Format::Hostname,
            "ipv4" => Format::Ipv4,
            "ipv6" => Format::Ipv6,
            "cidr" => Format::Cidr,
            "mac" => Format::Mac,
            "uuid" => Format::Uuid,
            "uuid3" => Format::Uuid3,
            "uuid4" => Format::Uuid4,
            "uuid5" => Format::Uuid5,
            "isbn" => Format::Isbn,
            "isbn10" => Format::Isbn10,
            "isbn13" => Format::Isbn13,
            "creditcard" => Format::CreditCard,
            "ssn" => Format::Ssn,
            "hexcolor" => Format::HexColor,
            "rgbcolor" => Format::RgbColor,
            "byte" => Format::Byte,
            "password" => Format::Password,
            "date" => Format::Date,
            "duration" => Format::Duration,
            "datetime" => Format::DateTime,
            "k8sshortname" => Format::ShortName,
            "k8slongname" => Format::LongName,
            _ => return None,
        })
    }

    // Upstream: kube-openapi/pkg/validation/strfmt/default.go
    pub(crate) fn is_valid(self, text: &str) -> bool {
        match self {
            Format::BsonObjectId => text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_hexdigit()),
            Format::Uri => Url::parse_request_uri(text).is_ok(),
            Format::Email => email::is_address(text),
            Format::Hostname => is_hostname(text),
            Format::Ipv4 => text.contains('.') && (is_ipv4(text) || is_ipv6(text)),
            Format::Ipv6 => text.contains(':') && is_ipv6(text),
            Format::Cidr => is_cidr(text),
            Format::Mac => is_mac(text),
            Format::Uuid => strfmt::is_uuid(text),
            Format::Uuid3 => matches(&UUID3, UUID3_PATTERN, text),
            Format::Uuid4 => matches(&UUID4, UUID4_PATTERN, text),
            Format::Uuid5 => matches(&UUID5, UUID5_PATTERN, text),
            Format::Isbn => is_isbn10(text) || is_isbn13(text),
            Format::Isbn10 => is_isbn10(text),
            Format::Isbn13 => is_isbn13(text),
            Format::CreditCard => is_credit_card(text),
            Format::Ssn => text.len() == 11 && matches(&SSN, SSN_PATTERN, text),
            Format::HexColor => matches(&HEX_COLOR, HEX_COLOR_PATTERN, text),
            Format::RgbColor => matches(&RGB_COLOR, RGB_COLOR_PATTERN, text),
            Format::Byte => strfmt::is_base64(text),
            Format::Password => true,
            Format::Date => strfmt::is_date(text),
            Format::Duration => duration::parse(text).is_some(),
            Format::DateTime => strfmt::is_datetime(text),
            Format::ShortName => text.len() <= 63 && is_short_name(text),
            Format::LongName => text.len() <= 253 && text.split('.').all(is_short_name),
        }
    }
}

impl Schema {
    /// The format as far as a server checks it, by its name as it is written.
    // Upstream: apiextensions-apiserver/pkg/apiserver/validation/formats.go, StripUnsupportedFormatsPostProcessorForVersion
    pub(crate) fn known_format(&self) -> &str {
        let format = &*self.values.format;
        let is_known = match self.types() {
            [] | [Type::String] | [_, _, ..] => Format::named(format).is_some(),
            [Type::Integer] => matches!(format, "int32" | "int64"),
            [Type::Number] => matches!(format, "float" | "double"),
            _ => false,
        };
        if is_known { format } else { "" }
    }
}

static UUID3: OnceLock<Option<Regex>> = OnceLock::new();
static UUID4: OnceLock<Option<Regex>> = OnceLock::new();
static UUID5: OnceLock<Option<Regex>> = OnceLock::new();
static SSN: OnceLock<Option<Regex>> = OnceLock::new();
static HEX_COLOR: OnceLock<Option<Regex>> = OnceLock::new();
static RGB_COLOR: OnceLock<Option<Regex>> = OnceLock::new();
static HOSTNAME: OnceLock<Option<Regex>> = OnceLock::new();
static CREDIT_CARD: OnceLock<Option<Regex>> = OnceLock::new();

const UUID3_PATTERN: &str = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$";
const UUID4_PATTERN: &str = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$";
const UUID5_PATTERN: &str = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$";
const SSN_PATTERN: &str = r"^\d{3}[- ]?\d{2}[- ]?\d{4}$";
const HEX_COLOR_PATTERN: &str = "^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$";
const RGB_COLOR_PATTERN: &str = r"^rgb\(\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*\)$";
const HOSTNAME_PATTERN: &str = r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$";
const CREDIT_CARD_PATTERN: &str = r"^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$";

/// Whether a text matches a pattern of this file, all of which compile (a test checks that).
fn matches(compiled: &OnceLock<Option<Regex>>, pattern: &str, text: &str) -> bool {
    let regex = compiled.get_or_init(|| Regex::new(pattern).ok());
    regex.as_ref().is_some_and(|regex| regex.is_match(text))
}

fn is_hostname(text: &str) -> bool {
    text.len() <= 255
        && matches(&HOSTNAME, HOSTNAME_PATTERN, text)
        && text.split('.').all(|part| part.len() <= 63)
}

fn is_short_name(text: &str) -> bool {
    let is_edge =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let bytes = text.as_bytes();
    is_edge(bytes.first())
        && is_edge(bytes.last())
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-')
}

/// Four numbers below 256, with any leading zeroes.
// Upstream: k8s.io/utils/net/parse.go, ParseIPSloppy
fn is_ipv4(text: &str) -> bool {
    let is_part = |part: &str| decimal(part).is_some_and(|number| number <= 255);
    text.split('.').count() == 4 && text.split('.').all(is_part)
}

/// Go's `net.ParseIP` takes no zones either.
fn is_ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}

// Upstream: k8s.io/utils/net/parse.go, ParseCIDRSloppy
fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else {
        return false;
    };
    let most = match (is_ipv4(address), is_ipv6(address)) {
        (true, _) => 32,
        (_, true) => 128,
        _ => return false,
    };
    decimal(bits).is_some_and(|bits| bits <= most)
}

fn decimal(text: &str) -> Option<u32> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let significant = text.trim_start_matches('0');
    match is_number {
        true if significant.is_empty() => Some(0),
        true => significant.parse().ok(),
        false => None,
    }
}

// Upstream: net/mac.go, ParseMAC
fn is_mac(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() < 14 {
        return false;
    }
    let (separator, digits) = match (bytes.get(2), bytes.get(4)) {
        (Some(separator @ (b':' | b'-')), _) => (*separator, 2),
        (_, Some(b'.')) => (b'.', 4),
        _ => return false,
    };
    let groups = bytes.split(|byte| *byte == separator);
    let octets = groups.clone().count() * digits / 2;
    matches!(octets, 6 | 8 | 20)
        && groups
            .into_iter()
            .all(|group| group.len() == digits && group.iter().all(u8::is_ascii_hexdigit))
}

/// The text without white space and hyphens.
fn isbn_digits(text: &str) -> Vec<u8> {
    let is_dropped = |byte: &u8| matches!(byte, b'-' | b' ' | b'\t' | b'\n' | b'\r' | b'\x0c');
    text.bytes().filter(|byte| !is_dropped(byte)).collect()
}

fn is_isbn10(text: &str) -> bool {
    let digits = isbn_digits(text);
    let Some((last, first)) = digits.split_last() else {
        return false;
    };
    if first.len() != 9 || !first.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let check = match last {
        b'X' => 10,
        digit if digit.is_ascii_digit() => u32::from(digit - b'0'),
        _ => return false,
    };
    let sum: u32 = (1..)
        .zip(first)
        .map(|(at, digit)| at * u32::from(digit - b'0'))
        .sum();
    (sum + 10 * check).is_multiple_of(11)
}

fn is_isbn13(text: &str) -> bool {
    let digits = isbn_digits(text);
    if digits.len() != 13 || !digits.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let weights = [1, 3].into_iter().cycle();
    let sum: u32 = weights
        .zip(&digits)
        .map(|(weight, digit)| weight * u32::from(digit - b'0'))
        .sum();
    sum.is_multiple_of(10)
}

// Upstream: kube-openapi/pkg/internal/third_party/govalidator/validator.go, IsCreditCard
fn is_credit_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    if !matches(&CREDIT_CARD, CREDIT_CARD_PATTERN, &digits) {
        return false;
    }
    let weights = [1, 2].into_iter().cycle();
    let doubled = weights.zip(digits.bytes().rev()).map(|(weight, digit)| {
        let number = weight * u32::from(digit - b'0');
        number / 10 + number % 10
    });
    doubled.sum::<u32>().is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_compile() {
        for pattern in [
            UUID3_PATTERN,
            UUID4_PATTERN,
            UUID5_PATTERN,
            SSN_PATTERN,
            HEX_COLOR_PATTERN,
            RGB_COLOR_PATTERN,
            HOSTNAME_PATTERN,
            CREDIT_CARD_PATTERN,
        ] {
            assert!(Regex::new(pattern).is_ok(), "{pattern}");
        }
    }
}
