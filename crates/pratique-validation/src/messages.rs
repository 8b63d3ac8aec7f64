//! What is wrong with a name, a number or another scalar, in the words of `k8s.io/apimachinery`'s `validation`.
//!
//! Each function returns the server's messages; none means "valid".

use pratique_gotext::validation;

/// A function that validates a name, or the beginning of one that is completed.
pub type NameRule = fn(name: &str, is_prefix: bool) -> Vec<String>;

/// What is wrong with a name that is a DNS subdomain, as that of most objects.
// Upstream: apimachinery/pkg/api/validation/generic.go, NameIsDNSSubdomain
pub fn subdomain_name(name: &str, is_prefix: bool) -> Vec<String> {
    if is_prefix {
        validation::dns1123_subdomain_prefix(name)
    } else {
        validation::dns1123_subdomain(name)
    }
}

/// What is wrong with a name that is a DNS label.
// Upstream: apimachinery/pkg/api/validation/generic.go, NameIsDNSLabel
pub fn label_name(name: &str, is_prefix: bool) -> Vec<String> {
    if is_prefix {
        validation::dns1123_label_prefix(name)
    } else {
        validation::dns1123_label(name)
    }
}

/// What is wrong with the name of a Service before names could begin with digits.
// Upstream: apimachinery/pkg/api/validation/generic.go, NameIsDNS1035Label
pub(crate) fn lettered_label_name(name: &str, is_prefix: bool) -> Vec<String> {
    if is_prefix {
        validation::dns1035_label_prefix(name)
    } else {
        validation::dns1035_label(name)
    }
}

/// What is wrong with a name that is a segment of a path, as that of every object.
// Upstream: apimachinery/pkg/api/validation/path/name.go, ValidatePathSegmentName
pub fn path_segment_name(name: &str, is_prefix: bool) -> Vec<String> {
    if !is_prefix && (name == "." || name == "..") {
        return vec![format!("may not be '{name}'")];
    }
    let banned = ["/", "%"].into_iter().filter(|banned| name.contains(banned));
    banned
        .map(|banned| format!("may not contain '{banned}'"))
        .collect()
}

// Upstream: apimachinery/pkg/util/validation/validation.go, InclusiveRangeError
pub(crate) fn inclusive_range(low: i64, high: i64) -> String {
    format!("must be between {low} and {high}, inclusive")
}

// Upstream: apimachinery/pkg/util/validation/validation.go, IsValidPortNum
pub(crate) fn port_number(port: i64) -> Option<String> {
    (!(1..=65535).contains(&port)).then(|| inclusive_range(1, 65535))
}

/// A user's or group's number.
// Upstream: apimachinery/pkg/util/validation/validation.go, IsValidUserID, IsValidGroupID
pub(crate) fn unix_id(id: i64) -> Option<String> {
    let max = i64::from(i32::MAX);
    (!(0..=max).contains(&id)).then(|| inclusive_range(0, max))
}

// Upstream: apimachinery/pkg/util/validation/validation.go, IsValidPortName
pub(crate) fn port_name(name: &str) -> Vec<String> {
    if is_port_name(name) {
        return Vec::new();
    }
    let mut messages = Vec::new();
    let mut check = |is_wrong: bool, message: &str| {
        if is_wrong {
            messages.push(message.to_owned());
        }
    };
    let is_charset = |byte: u8| byte == b'-' || byte.is_ascii_lowercase() || byte.is_ascii_digit();
    check(name.len() > 15, "must be no more than 15 characters");
    check(
        name.is_empty() || !name.bytes().all(is_charset),
        "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
    );
    check(
        !name.bytes().any(|byte| byte.is_ascii_lowercase()),
        "must contain at least one letter (a-z)",
    );
    check(name.contains("--"), "must not contain consecutive hyphens");
    check(
        name.starts_with('-') || name.ends_with('-'),
        "must not begin or end with a hyphen",
    );
    messages
}

/// Whether a name is valid, in one walk.
fn is_port_name(name: &str) -> bool {
    let (mut previous, mut has_letter) = (b'-', false);
    let fits = name.bytes().all(|byte| {
        let fits = byte.is_ascii_lowercase() || byte.is_ascii_digit() || (byte == b'-' && previous != b'-');
        has_letter |= byte.is_ascii_lowercase();
        previous = byte;
        fits
    });
    fits && has_letter && previous != b'-' && name.len() <= 15
}

// Upstream: apimachinery/pkg/api/validate/content/identifier.go, IsCIdentifier
pub(crate) fn c_identifier(text: &str) -> Option<&'static str> {
    let is_part = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
    let is_valid =
        text.bytes().all(is_part) && text.bytes().next().is_some_and(|first| !first.is_ascii_digit());
    (!is_valid).then_some(
        "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or \
         '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')",
    )
}

// Upstream: apimachinery/pkg/util/validation/validation.go, IsConfigMapKey
pub(crate) fn config_map_key(key: &str) -> Vec<String> {
    let mut messages = Vec::new();
    if key.len() > 253 {
        messages.push("must be no more than 253 characters".to_owned());
    }
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    if key.is_empty() || !key.bytes().all(is_allowed) {
        messages.push(
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  \
             or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
                .to_owned(),
        );
    }
    // Upstream: apimachinery/pkg/util/validation/validation.go, hasChDirPrefix
    match key {
        "." => messages.push("must not be '.'".to_owned()),
        ".." => messages.push("must not be '..'".to_owned()),
        _ if key.starts_with("..") => messages.push("must not start with '..'".to_owned()),
        _ => {}
    }
    messages
}

// Upstream: apimachinery/pkg/util/validation/validation.go, IsRelaxedEnvVarName
pub(crate) fn env_var_name(name: &str) -> Vec<String> {
    let mut messages = Vec::new();
    if name.is_empty() {
        messages.push("environment variable name must be non-empty".to_owned());
    }
    if !name
        .bytes()
        .all(|byte| matches!(byte, b' '..=b'~') && byte != b'=')
    {
        messages.push(
            "a valid environment variable name must consist only of printable ASCII characters other than '='".to_owned(),
        );
    }
    messages
}

// Upstream: apimachinery/pkg/util/validation/validation.go, IsHTTPHeaderName
pub(crate) fn http_header_name(name: &str) -> Option<&'static str> {
    let is_allowed = |byte: u8| byte == b'-' || byte.is_ascii_alphanumeric();
    let is_valid = !name.is_empty() && name.bytes().all(is_allowed);
    (!is_valid).then_some(
        "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is \
         '[-A-Za-z0-9]+')",
    )
}

// Upstream: apimachinery/pkg/util/validation/validation.go, IsDNS1123SubdomainWithUnderscore
pub(crate) fn subdomain_with_underscore(name: &str) -> Vec<String> {
    let mut messages = Vec::new();
    if name.len() > 253 {
        messages.push("must be no more than 253 characters".to_owned());
    }
    let is_edge = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_label = |label: &str| {
        let bytes = label.strip_prefix('_').unwrap_or(label).as_bytes();
        bytes.first().is_some_and(is_edge)
            && bytes.last().is_some_and(is_edge)
            && bytes.iter().all(|byte| is_edge(byte) || b"-_".contains(byte))
    };
    if !name.split('.').all(is_label) {
        messages.push(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must \
             start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
             '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')"
                .to_owned(),
        );
    }
    messages
}

/// What is wrong with an address of a field that always took addresses, and takes those of old forms unless it is strict.
// Upstream: apimachinery/pkg/util/validation/ip.go, IsValidIPForLegacyField
pub(crate) fn ip_address(text: &str, is_strict: bool) -> Option<&'static str> {
    use pratique_gotext::net::{Ip, IpError};
    match Ip::parse(text) {
        Ok(_) => None,
        Err(IpError::Mapped(_)) if !is_strict => None,
        Err(_) if !is_strict && has_leading_zeros(text) => None,
        Err(IpError::Mapped(_)) => Some("must not be an IPv4-mapped IPv6 address"),
        Err(_) if has_leading_zeros(text) => Some("must not have leading 0s"),
        Err(_) => Some("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
    }
}

/// Whether a text is an IPv4 address but for leading zeros.
fn has_leading_zeros(text: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && part.trim_start_matches('0').len() <= 3
            && part
                .trim_start_matches('0')
                .parse::<u16>()
                .map_or(true, |number| number <= 255)
    };
    text.split('.').count() == 4 && text.split('.').all(is_part)
}
