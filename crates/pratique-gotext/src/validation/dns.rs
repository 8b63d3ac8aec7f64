//! Names of objects: DNS labels and subdomains.

use std::borrow::Cow;

use super::classes::{LOWER, is_of};
use super::errors::{shape, too_long, too_many_bytes};

const LABEL_MAX: usize = 63;
/// The most bytes of a DNS subdomain, such as the name of most objects.
// Upstream: apimachinery/pkg/util/validation/validation.go, DNS1123SubdomainMaxLength
pub const SUBDOMAIN_MAX: usize = 253;

const LABEL_PATTERN: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const LABEL_RULE: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', \
    and must start and end with an alphanumeric character";
const SUBDOMAIN_PATTERN: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const SUBDOMAIN_RULE: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \
    '-' or '.', and must start and end with an alphanumeric character";
const LABEL_1035_PATTERN: &str = "[a-z]([-a-z0-9]*[a-z0-9])?";
const LABEL_1035_RULE: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', \
    start with an alphabetic character, and end with an alphanumeric character";

/// Whether [`dns1123_label`] returns no errors.
///
/// ```
/// use pratique_gotext::validation::is_dns1123_label;
///
/// assert!(is_dns1123_label("a-1") && !is_dns1123_label("a-") && !is_dns1123_label(&"a".repeat(64)));
/// ```
pub fn is_dns1123_label(value: &str) -> bool {
    value.len() <= LABEL_MAX && is_label(value.as_bytes())
}

/// A DNS label (RFC 1123), such as the name of a namespace.
// Upstream: apimachinery/pkg/api/validate/content/dns.go, IsDNS1123Label
pub fn dns1123_label(value: &str) -> Vec<String> {
    check_label(value.as_bytes())
}

/// The start of a DNS label to which a suffix will be added, so that it may end in `-`.
// Upstream: apimachinery/pkg/api/validation/generic.go, NameIsDNSLabel
pub fn dns1123_label_prefix(value: &str) -> Vec<String> {
    check_label(&with_masked_dash(value))
}

/// A DNS subdomain (RFC 1123), such as the name of most objects.
// Upstream: apimachinery/pkg/api/validate/content/dns.go, IsDNS1123Subdomain
pub fn dns1123_subdomain(value: &str) -> Vec<String> {
    check_subdomain(value.as_bytes(), too_long)
}

/// The start of a DNS subdomain to which a suffix will be added, so that it may end in `-`.
// Upstream: apimachinery/pkg/api/validation/generic.go, NameIsDNSSubdomain
pub fn dns1123_subdomain_prefix(value: &str) -> Vec<String> {
    check_subdomain(&with_masked_dash(value), too_long)
}

/// A DNS label that starts with a letter (RFC 1035), such as the name of a service.
// Upstream: apimachinery/pkg/util/validation/validation.go, IsDNS1035Label
pub fn dns1035_label(value: &str) -> Vec<String> {
    check_1035(value.as_bytes())
}

/// The start of an RFC 1035 label to which a suffix will be added, so that it may end in `-`.
// Upstream: apimachinery/pkg/api/validation/generic.go, NameIsDNS1035Label
pub fn dns1035_label_prefix(value: &str) -> Vec<String> {
    check_1035(&with_masked_dash(value))
}

/// A subdomain in front of a label key, whose length has another message.
pub(super) fn key_prefix(value: &str) -> Vec<String> {
    check_subdomain(value.as_bytes(), too_many_bytes)
}

/// Whether [`key_prefix`] returns no errors.
pub(super) fn is_key_prefix(value: &str) -> bool {
    value.len() <= SUBDOMAIN_MAX && is_subdomain(value.as_bytes())
}

fn check_label(value: &[u8]) -> Vec<String> {
    let mut errors = Vec::new();
    if value.len() > LABEL_MAX {
        errors.push(too_long(LABEL_MAX));
    }
    if !is_label(value) {
        errors.push(if is_subdomain(value) {
            "must not contain dots".to_owned()
        } else {
            shape(LABEL_RULE, LABEL_PATTERN, &["my-name", "123-abc"])
        });
    }
    errors
}

fn check_subdomain(value: &[u8], too_long: fn(usize) -> String) -> Vec<String> {
    let mut errors = Vec::new();
    if value.len() > SUBDOMAIN_MAX {
        errors.push(too_long(SUBDOMAIN_MAX));
    }
    if !is_subdomain(value) {
        errors.push(shape(SUBDOMAIN_RULE, SUBDOMAIN_PATTERN, &["example.com"]));
    }
    errors
}

fn check_1035(value: &[u8]) -> Vec<String> {
    let mut errors = Vec::new();
    if value.len() > LABEL_MAX {
        errors.push(too_long(LABEL_MAX));
    }
    if !(is_label(value) && value.first().is_some_and(u8::is_ascii_lowercase)) {
        errors.push(shape(
            LABEL_1035_RULE,
            LABEL_1035_PATTERN,
            &["my-name", "abc-123"],
        ));
    }
    errors
}

fn is_label(value: &[u8]) -> bool {
    let is_alphanumeric = |byte: &u8| is_of(*byte, LOWER);
    value.first().is_some_and(is_alphanumeric)
        && value.last().is_some_and(is_alphanumeric)
        && value.iter().all(|byte| is_alphanumeric(byte) || *byte == b'-')
}

fn is_subdomain(value: &[u8]) -> bool {
    // The same as `is_label` for each part between dots. What is before a byte matters for the few separators only.
    let is_alphanumeric = |byte: &u8| is_of(*byte, LOWER);
    let fits = value.iter().enumerate().all(|(at, byte)| {
        if is_alphanumeric(byte) {
            return true;
        }
        let previous = at.checked_sub(1).and_then(|at| value.get(at));
        match byte {
            b'-' => previous.is_some_and(|previous| *previous != b'.'),
            b'.' => previous.is_some_and(is_alphanumeric),
            _ => false,
        }
    });
    fits && value.last().is_some_and(is_alphanumeric)
}

/// The reference makes a trailing dash valid by putting an `a` in place of the last *two* bytes, so `A-` passes and a name
/// may be one byte longer.
// Upstream: apimachinery/pkg/api/validation/generic.go, maskTrailingDash
fn with_masked_dash(value: &str) -> Cow<'_, [u8]> {
    match value.as_bytes() {
        [head @ .., _, b'-'] => head.iter().copied().chain([b'a']).collect(),
        bytes => bytes.into(),
    }
}

/// Whether a name is a domain, or one below it: `a.k8s.io` is within `k8s.io`, `ak8s.io` is not.
pub fn is_within_domain(name: &str, domain: &str) -> bool {
    let parent = name.strip_suffix(domain);
    parent.is_some_and(|parent| parent.is_empty() || parent.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
    const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    const LABEL_1035: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

    fn check(validate: fn(&str) -> Vec<String>, value: &str, expected: &[&str]) {
        assert_eq!(validate(value), expected, "{value}");
    }

    #[test]
    fn labels() {
        for valid in ["a", "0", "a--b", &"a".repeat(63)] {
            check(dns1123_label, valid, &[]);
            assert!(is_dns1123_label(valid));
        }
        for invalid in ["", "-a", "a-", "A", "a_b", "é", "a..b", "a\n"] {
            check(dns1123_label, invalid, &[LABEL]);
            assert!(!is_dns1123_label(invalid));
        }
        check(dns1123_label, "a.b", &["must not contain dots"]);
        check(
            dns1123_label,
            &"a".repeat(64),
            &["must be no more than 63 characters"],
        );
        check(
            dns1123_label,
            &"_".repeat(64),
            &["must be no more than 63 characters", LABEL],
        );
    }

    #[test]
    fn subdomains() {
        for valid in ["a.b", "0.0", "a-b.c", &"a".repeat(253)] {
            check(dns1123_subdomain, valid, &[]);
        }
        for invalid in ["", ".", "a.", ".a", "a.-b", "a-.b", "a..b", "A.b", "a.b-", "a_b"] {
            check(dns1123_subdomain, invalid, &[SUBDOMAIN]);
        }
        check(
            dns1123_subdomain,
            &"a".repeat(254),
            &["must be no more than 253 characters"],
        );
    }

    #[test]
    fn letters_first() {
        check(dns1035_label, "a0", &[]);
        check(dns1035_label, "0a", &[LABEL_1035]);
        check(dns1035_label, "", &[LABEL_1035]);
        check(dns1035_label, "a.b", &[LABEL_1035]);
    }

    #[test]
    fn prefixes() {
        check(dns1123_label_prefix, "ab-", &[]);
        check(dns1123_label_prefix, "A-", &[]);
        check(dns1123_label_prefix, "-", &[LABEL]);
        check(dns1123_label_prefix, "é-", &[LABEL]);
        check(dns1123_label_prefix, &format!("{}-", "a".repeat(63)), &[]);
        check(dns1123_subdomain_prefix, "a.b-", &[]);
        check(dns1035_label_prefix, "9-", &[]);
    }
}
