//! Names of drivers, pools, devices and their attributes.

use pratique_gotext::validation::{dns1123_label, dns1123_subdomain, label_value};

use crate::errors::{Errors, named};
use crate::messages::c_identifier;
use crate::node::Node;
use crate::pod::validate_driver_name;

/// The longest key of an attribute or a capacity: a domain, a slash, and an identifier.
pub(super) const MAX_QUALIFIED_NAME: usize = 63 + 1 + 32;

/// The name of a driver, of which declarative rules say the same.
// Upstream: pkg/apis/core/validation/validation.go, ValidateCSIDriverName
pub(in crate::kinds) fn validate_covered_driver(driver: &Node<'_, '_>, errors: &mut Errors) {
    let start = errors.len();
    if driver.as_text().is_empty() || driver.as_text().len() <= 63 {
        validate_driver_name(driver, errors);
        errors.cover_from(start, "format=k8s-long-name-caseless");
        return;
    }
    errors.too_long(driver, 63);
    errors.cover_from(start, "maxLength");
    let start = errors.len();
    errors.invalid_each(driver, &dns1123_subdomain(&driver.as_text().to_lowercase()));
    errors.cover_from(start, "format=k8s-long-name-caseless");
}

/// The name of a request, a device or a set of counters.
// Upstream: pkg/apis/core/validation/validation.go, ValidateDNS1123Label
pub(super) fn validate_label(name: &Node<'_, '_>, errors: &mut Errors) {
    validate_label_text(name, name.as_text(), errors);
}

pub(super) fn validate_label_text(field: &Node<'_, '_>, text: &str, errors: &mut Errors) {
    for message in dns1123_label(text) {
        errors.invalid(field, text, &message);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateDNS1123Subdomain
pub(super) fn validate_subdomain(name: &Node<'_, '_>, errors: &mut Errors) {
    for message in dns1123_subdomain(name.as_text()) {
        errors.invalid(name, name.as_text(), &message);
    }
}

// Upstream: pkg/apis/resource/validation/validation.go, validatePoolName
pub(super) fn validate_pool_name(name: &Node<'_, '_>, errors: &mut Errors) {
    let text = name.as_text();
    if text.is_empty() {
        errors.required(name, "");
        return;
    }
    if text.len() > 253 {
        errors.too_long(name, 253);
    }
    for part in text.split('/') {
        for message in dns1123_subdomain(part) {
            errors.invalid(name, part, &message);
        }
    }
}

// Upstream: pkg/apis/resource/validation/validation.go, validateUID
pub(super) fn validate_covered_uid(uid: &Node<'_, '_>, errors: &mut Errors) {
    let start = errors.len();
    if let Some(detail) = uuid_error(uid.as_text()) {
        errors.invalid(uid, uid.as_text(), &format!("error validating uid: {detail}"));
    } else if uid.as_text().len() != 36 || uid.as_text().bytes().any(|byte| byte.is_ascii_uppercase()) {
        errors.invalid(
            uid,
            uid.as_text(),
            "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters",
        );
    }
    errors.cover_from(start, "format=k8s-uuid");
}

// Upstream: github.com/google/uuid, Validate
fn uuid_error(text: &str) -> Option<String> {
    const FORMAT: &str = "invalid UUID format";
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let text = match text.len() {
        36 => text,
        45 => match text.split_at_checked(9) {
            Some((prefix, rest)) if prefix.eq_ignore_ascii_case("urn:uuid:") => rest,
            _ => {
                let prefix = text.get(..9).unwrap_or_default();
                return Some(format!(
                    "invalid urn prefix: {}",
                    pratique_gotext::strconv::quote(prefix)
                ));
            }
        },
        38 => match text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
            Some(inner) => inner,
            None => return Some("invalid bracketed UUID format".to_owned()),
        },
        32 => return (!is_hex(text)).then(|| FORMAT.to_owned()),
        length => return Some(format!("invalid UUID length: {length}")),
    };
    let parts: Vec<&str> = text.split('-').collect();
    let has_lengths = parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12]);
    (!has_lengths || !parts.iter().all(|part| is_hex(part))).then(|| FORMAT.to_owned())
}

/// A name with or without a domain; the field need not have it as its value.
// Upstream: pkg/apis/resource/validation/validation.go, validateQualifiedName
pub(super) fn validate_qualified_name(field: &Node<'_, '_>, name: &str, errors: &mut Errors) {
    let parts: Vec<&str> = name.split('/').collect();
    // Upstream: before 1.35, what is empty is missing.
    let is_latest = errors.release().at_least(1, 35);
    if name.is_empty() && !is_latest {
        errors.required(field, "name required");
        return;
    }
    let refuse_empty = |detail: &str, errors: &mut Errors| {
        if is_latest {
            errors.invalid(field, "", detail);
        } else {
            errors.required(field, detail);
        }
    };
    match parts.as_slice() {
        [name] => validate_identifier(field, name, errors),
        [domain, name] => {
            if domain.is_empty() {
                refuse_empty("the domain must not be empty", errors);
            } else {
                let value = (*domain).into();
                validate_driver_name(&Node::with_path(&value, *field.path()), errors);
            }
            if name.is_empty() {
                refuse_empty("the name must not be empty", errors);
            } else {
                validate_identifier(field, name, errors);
            }
        }
        // Upstream says of more slashes since 1.38.
        _ if errors.release().at_least(1, 38) => refuse_slashes(field, name, errors),
        _ => {}
    }
}

fn refuse_slashes(field: &Node<'_, '_>, name: &str, errors: &mut Errors) {
    errors.invalid(field, name, "must not contain more than one slash");
}

/// A name with its domain.
// Upstream: pkg/apis/resource/validation/validation.go, validateFullyQualifiedName
pub(super) fn validate_full_name(name: &Node<'_, '_>, errors: &mut Errors) {
    validate_qualified_name(name, name.as_text(), errors);
    let is_latest = errors.release().at_least(1, 35);
    if !name.as_text().contains('/') && (is_latest || !name.as_text().is_empty()) {
        let detail = if is_latest {
            "a fully qualified name must be a domain and a name separated by a slash"
        } else {
            "must include a domain"
        };
        errors.invalid(name, named(name.as_text()), detail);
    }
}

// Upstream: pkg/apis/resource/validation/validation.go, validateCIdentifier
fn validate_identifier(field: &Node<'_, '_>, text: &str, errors: &mut Errors) {
    if text.len() > 32 {
        errors.too_long(field, 32);
    }
    if let Some(message) = c_identifier(text) {
        errors.invalid(field, text, message);
    }
}

// Upstream: pkg/apis/resource/validation/validation.go, validateLabelValue
pub(super) fn validate_label_value(value: &Node<'_, '_>, errors: &mut Errors) {
    for message in label_value(value.as_text()) {
        errors.invalid(value, value.as_text(), &message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uids() {
        for (text, expected) in [
            ("5a7f0c1e-2b3d-4e6f-8a9b-0c1d2e3f4a5b", None),
            ("{5a7f0c1e-2b3d-4e6f-8a9b-0c1d2e3f4a5b}", None),
            ("URN:uuid:5a7f0c1e-2b3d-4e6f-8a9b-0c1d2e3f4a5b", None),
            ("5a7f0c1e2b3d4e6f8a9b0c1d2e3f4a5b", None),
            ("a", Some("invalid UUID length: 1")),
            (
                "5a7f0c1e-2b3d-4e6f-8a9b-0c1d2e3f4a5x",
                Some("invalid UUID format"),
            ),
            (
                "xrn:uuid:5a7f0c1e-2b3d-4e6f-8a9b-0c1d2e3f4a5b",
                Some("invalid urn prefix: \"xrn:uuid:\""),
            ),
        ] {
            assert_eq!(uuid_error(text).as_deref(), expected, "{text}");
        }
    }
}
