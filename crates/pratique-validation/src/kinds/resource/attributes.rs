//! Attributes of devices.

use pratique_json::Value;
use pratique_schema::Release;
use pratique_types::field::BadValue;

use crate::errors::Errors;
use crate::internal::internal_json;
use crate::node::Node;

/// The members of an attribute that are lists.
pub(super) const LIST_MEMBERS: &[&str] = &["bools", "ints", "strings", "versions"];

const MAX_VALUE: usize = 64;

/// How many values attributes have, each element of a list counted.
// Upstream: pkg/apis/resource/validation/validation.go, numEntriesDeviceAttribute
pub(super) fn count_values(attributes: &Node<'_, '_>) -> usize {
    let count = |(_, attribute): (&str, Node<'_, '_>)| {
        let lists = LIST_MEMBERS.iter().map(|name| attribute.child(name).len());
        lists.sum::<usize>().max(1)
    };
    attributes.entries().map(count).sum()
}

/// An attribute has one value, or one list of values.
// Upstream: pkg/apis/resource/validation/validation.go, validateDeviceAttribute
pub(super) fn validate_attribute(attribute: &Node<'_, '_>, errors: &mut Errors) {
    let (text, version) = (attribute.child("string"), attribute.child("version"));
    if text.is_set() {
        validate_length(&text, errors);
    }
    if version.is_set() {
        validate_version(&version, errors);
    }
    for (name, type_name) in [
        ("bools", "[]bool"),
        ("ints", "[]int64"),
        ("strings", "[]string"),
        ("versions", "[]string"),
    ] {
        let list = attribute.child(name);
        if is_given(&list) && list.is_empty() {
            errors.invalid(
                list,
                internal_json(errors.release(), type_name, list.value()),
                "must not be empty if specified",
            );
        }
        for element in list.items() {
            match name {
                "strings" => {
                    let start = errors.len();
                    validate_length(&element, errors);
                    errors.cover_from(start, "maxBytes");
                }
                "versions" => validate_version(&element, errors),
                _ => {}
            }
        }
    }
    let single = ["bool", "int", "string", "version"]
        .iter()
        .filter(|name| attribute.child(name).is_set());
    let lists = LIST_MEMBERS
        .iter()
        .filter(|name| is_given(&attribute.child(name)));
    const DETAIL: &str = "exactly one value must be specified";
    let start = errors.len();
    match single.count() + lists.count() {
        // Missing before 1.35.
        0 if !errors.release().at_least(1, 35) => errors.required(attribute, DETAIL),
        0 => errors.invalid(attribute, "", DETAIL),
        1 => {}
        _ => {
            let value = internal_attribute(errors.release(), attribute.value());
            errors.invalid(attribute, value, DETAIL);
        }
    }
    errors.cover_from(start, "union");
}

fn is_given(list: &Node<'_, '_>) -> bool {
    matches!(list.value(), Value::Array(_))
}

/// An attribute as the JSON of the internal type.
pub(super) fn internal_attribute<'a>(release: &Release, attribute: &Value<'_>) -> BadValue<'a> {
    internal_json(release, "resource.DeviceAttribute", attribute)
}

// Upstream: pkg/apis/resource/validation/validation.go, validateDeviceAttributeStringValue
fn validate_length(text: &Node<'_, '_>, errors: &mut Errors) {
    if text.as_text().len() > MAX_VALUE {
        errors.too_long(text, MAX_VALUE as i64);
    }
}

// Upstream: pkg/apis/resource/validation/validation.go, validateDeviceAttributeVersionValue
fn validate_version(version: &Node<'_, '_>, errors: &mut Errors) {
    // Upstream: pkg/apis/resource/validation/validation.go, numericIdentifier: since 1.38, numbers fit into 64 bits.
    let (max_digits, detail) = if errors.release().at_least(1, 38) {
        (
            18,
            "must be a string compatible with semver.org spec 2.0.0, with at most 18 digits in numbers",
        )
    } else {
        (
            usize::MAX,
            "must be a string compatible with semver.org spec 2.0.0",
        )
    };
    if !is_version(version.as_text(), max_digits) {
        errors.invalid(version, version.as_text(), detail);
    }
    validate_length(version, errors);
}

/// `1.2.3-alpha.1+build`, with numbers of so many digits at most.
fn is_version(text: &str, max_digits: usize) -> bool {
    let is_name = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte == b'-' || byte.is_ascii_alphanumeric())
    };
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = |part: &str| {
        !part.is_empty()
            && part.len() <= max_digits
            && is_digits(part)
            && (part == "0" || !part.starts_with('0'))
    };
    let is_release = |part: &str| is_name(part) && (!is_digits(part) || is_number(part));
    let (text, build) = match text.split_once('+') {
        Some((text, build)) => (text, Some(build)),
        None => (text, None),
    };
    let (numbers, release) = match text.split_once('-') {
        Some((numbers, release)) => (numbers, Some(release)),
        None => (text, None),
    };
    numbers.split('.').count() == 3
        && numbers.split('.').all(is_number)
        && release.is_none_or(|release| release.split('.').all(is_release))
        && build.is_none_or(|build| build.split('.').all(is_name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        for valid in [
            "0.0.0",
            "1.2.3",
            "1.2.3-alpha.1",
            "1.2.3-0a",
            "1.2.3+01",
            "1.2.3-a-b+c.d",
        ] {
            assert!(is_version(valid, 18), "{valid}");
        }
        for invalid in [
            "",
            "1.2",
            "1.2.03",
            "1.2.3-",
            "1.2.3-01",
            "1.2.3+",
            "v1.2.3",
            "1.2.3+a+b",
            "1.2.3-ä",
        ] {
            assert!(!is_version(invalid, 18), "{invalid}");
        }
        let long = "1.2.1234567890123456789";
        assert!(!is_version(long, 18) && is_version(long, usize::MAX));
    }
}
