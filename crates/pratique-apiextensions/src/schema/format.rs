//! The formats of texts that a server checks.

use std::sync::OnceLock;

use pratique_gotext::net::{parse_sloppy_cidr, parse_sloppy_ip};
use pratique_gotext::regexp::Regex;
use pratique_gotext::strfmt;
use pratique_gotext::url::Url;
use pratique_schema::Release;

use super::SchemaNode;
use crate::duration;
use crate::email;

/// Whether a text has a format.
pub(crate) type FormatCheck = fn(&str) -> bool;

/// The formats that a server checks, by their names without hyphens; it ignores all others.
// Upstream: apiextensions-apiserver/pkg/apiserver/validation/formats.go, supportedVersionedFormats;
// kube-openapi/pkg/validation/strfmt/default.go
const FORMATS: [(&str, FormatCheck); 26] = [
    ("bsonobjectid", |text| {
        text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    }),
    ("uri", |text| Url::parse_request_uri(text).is_ok()),
    ("email", email::is_address),
    ("hostname", is_hostname),
    ("ipv4", |text| {
        text.contains('.') && parse_sloppy_ip(text).is_some()
    }),
    ("ipv6", |text| {
        text.contains(':') && parse_sloppy_ip(text).is_some()
    }),
    ("cidr", |text| parse_sloppy_cidr(text).is_some()),
    ("mac", is_mac),
    ("uuid", strfmt::is_uuid),
    ("uuid3", |text| UUID3.matches(text)),
    ("uuid4", |text| UUID4.matches(text)),
    ("uuid5", |text| UUID5.matches(text)),
    ("isbn", |text| is_isbn10(text) || is_isbn13(text)),
    ("isbn10", is_isbn10),
    ("isbn13", is_isbn13),
    ("creditcard", is_credit_card),
    ("ssn", |text| text.len() == 11 && SSN.matches(text)),
    ("hexcolor", |text| HEX_COLOR.matches(text)),
    ("rgbcolor", |text| RGB_COLOR.matches(text)),
    ("byte", strfmt::is_base64),
    ("password", |_| true),
    ("date", strfmt::is_date),
    ("duration", |text| duration::parse(text).is_some()),
    ("datetime", strfmt::is_datetime),
    ("k8sshortname", |text| text.len() <= 63 && is_short_name(text)),
    ("k8slongname", |text| {
        text.len() <= 253 && text.split('.').all(is_short_name)
    }),
];

/// The check of a format by its name, in which hyphens do not count.
pub(crate) fn format_check(name: &str) -> Option<FormatCheck> {
    let name = name.replace('-', "");
    let entry = FORMATS.iter().find(|(known, _)| *known == name);
    entry.map(|(_, check)| *check)
}

/// Formats that 1.34 has, whose servers recognise what the release before did.
const SINCE_1_34: [&str; 2] = ["k8sshortname", "k8slongname"];

/// Whether a server warns of a format of values of a type that it does not check.
// Upstream: apiextensions-apiserver/pkg/apiserver/validation/formats.go, GetUnrecognizedFormats: before 1.36, of strings only.
pub(crate) fn is_unrecognized_format(of: &str, format: &str, release: &Release) -> bool {
    let is_looked_at = of == "string" || release.at_least(1, 36);
    is_looked_at && !is_recognized_format(of, format, release)
}

/// Whether a server checks a format of values of a type, by its name.
// Upstream: apiextensions-apiserver/pkg/apiserver/validation/formats.go, GetUnrecognizedFormats
fn is_recognized_format(of: &str, format: &str, release: &Release) -> bool {
    match of {
        // Upstream: apiextensions-apiserver/pkg/apiserver/validation/formats.go, StripUnsupportedFormatsPostProcessorForVersion: before
        // 1.36, whatever the type is.
        _ if !release.at_least(1, 36) => {
            let name = format.replace('-', "");
            // Upstream: supportedFormatsAtVersion there: of the release before the server's.
            let is_supported = release.at_least(1, 35) || !SINCE_1_34.contains(&name.as_str());
            is_supported && format_check(&name).is_some()
        }
        "" | "string" => format_check(format).is_some(),
        "integer" => matches!(format, "int32" | "int64"),
        "number" => matches!(format, "float" | "double"),
        _ => false,
    }
}

impl SchemaNode {
    /// The format as far as a server checks it, by its name as it is written.
    // Upstream: apiextensions-apiserver/pkg/apiserver/validation/formats.go, StripUnsupportedFormatsPostProcessorForVersion
    pub(super) fn known_format(&self, release: &Release) -> &str {
        let format = &*self.values.format;
        // Where there are two types, it is as if there were none.
        let of = if self.is_int_or_string {
            ""
        } else {
            self.type_name()
        };
        if is_recognized_format(of, format, release) {
            format
        } else {
            ""
        }
    }
}

static UUID3: FormatPattern =
    FormatPattern::new("(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$");
static UUID4: FormatPattern =
    FormatPattern::new("(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$");
static UUID5: FormatPattern =
    FormatPattern::new("(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$");
static SSN: FormatPattern = FormatPattern::new(r"^\d{3}[- ]?\d{2}[- ]?\d{4}$");
static HEX_COLOR: FormatPattern = FormatPattern::new("^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$");
static RGB_COLOR: FormatPattern = FormatPattern::new(
    r"^rgb\(\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*\)$",
);
static HOSTNAME: FormatPattern = FormatPattern::new(
    r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$",
);
static CREDIT_CARD: FormatPattern = FormatPattern::new(
    r"^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$",
);

/// A pattern of this file, all of which compile (a test checks that).
struct FormatPattern {
    text: &'static str,
    regex: OnceLock<Option<Regex>>,
}

impl FormatPattern {
    const fn new(text: &'static str) -> Self {
        FormatPattern {
            text,
            regex: OnceLock::new(),
        }
    }

    fn matches(&self, text: &str) -> bool {
        let regex = self.regex.get_or_init(|| Regex::new(self.text).ok());
        regex.as_ref().is_some_and(|regex| regex.is_match(text))
    }
}

fn is_hostname(text: &str) -> bool {
    text.len() <= 255 && HOSTNAME.matches(text) && text.split('.').all(|part| part.len() <= 63)
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
    if !CREDIT_CARD.matches(&digits) {
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
            &UUID3,
            &UUID4,
            &UUID5,
            &SSN,
            &HEX_COLOR,
            &RGB_COLOR,
            &HOSTNAME,
            &CREDIT_CARD,
        ] {
            assert!(Regex::new(pattern.text).is_ok(), "{}", pattern.text);
        }
    }
}
