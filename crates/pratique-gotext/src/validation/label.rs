//! Keys and values of labels and annotations.

use super::classes::{JOINING, LOWER, UPPER, is_of};
use super::dns::{SUBDOMAIN_MAX, is_key_prefix, key_prefix};
use super::errors::{shape, too_many_bytes};

const MAX: usize = 63;

const KEY_PATTERN: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const KEY_RULE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const VALUE_PATTERN: &str = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";
const VALUE_RULE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', \
    and must start and end with an alphanumeric character";

/// A name with an optional subdomain and slash in front: keys of labels and annotations.
// Upstream: apimachinery/pkg/api/validate/content/kube.go, IsLabelKey
pub fn qualified_name(value: &str) -> Vec<String> {
    let mut errors = Vec::new();
    let parts = split_at_slash(value);
    // Most are valid. A name has no slashes, so that it need not be searched for more.
    let (is_prefix_valid, name) = parts.map_or((true, value), |(prefix, name)| (is_key_prefix(prefix), name));
    if is_prefix_valid && name.len() <= MAX && is_name(name) {
        return errors;
    }
    let name = match parts {
        None => value,
        Some((_, rest)) if split_at_slash(rest).is_some() => return vec![too_many_slashes()],
        Some(("", name)) => {
            errors.push("prefix part must be non-empty".to_owned());
            name
        }
        Some((prefix, name)) => {
            errors.extend(
                key_prefix(prefix)
                    .into_iter()
                    .map(|error| format!("prefix part {error}")),
            );
            name
        }
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".to_owned());
    } else if name.len() > MAX {
        errors.push(format!("name part {}", too_many_bytes(MAX)));
    }
    if !is_name(name) {
        errors.push(format!("name part {}", key_shape()));
    }
    errors
}

/// What is before and behind the first slash. Keys are short, so that each byte is looked at.
// Rows `validate-*` of `benches/`: a search for longer texts takes three times as long.
fn split_at_slash(value: &str) -> Option<(&str, &str)> {
    let at = value.bytes().position(|byte| byte == b'/')?;
    Some((value.get(..at)?, value.get(at + 1..)?))
}

/// The value of a label, which may be empty.
// Upstream: apimachinery/pkg/api/validate/content/kube.go, IsLabelValue
pub fn label_value(value: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if value.len() > MAX {
        errors.push(too_many_bytes(MAX));
    }
    if !value.is_empty() && !is_name(value) {
        errors.push(shape(
            VALUE_RULE,
            VALUE_PATTERN,
            &["MyValue", "my_value", "12345"],
        ));
    }
    errors
}

/// A message that ends with one of these, in the words of Kubernetes before 1.35; `None` for those that did not change.
// Upstream: apimachinery/pkg/util/validation/validation.go, IsQualifiedName and IsValidLabelValue, before content.IsLabelKey
pub fn words_before_1_35(message: &str) -> Option<String> {
    let starts = [": ", ": name part ", ": prefix part "];
    let ends_with = |start: &str, max| message.ends_with(&format!("{start}{}", too_many_bytes(max)));
    if starts
        .iter()
        .any(|start| ends_with(start, MAX) || ends_with(start, SUBDOMAIN_MAX))
    {
        let length = message.strip_suffix("bytes")?;
        return Some(format!("{length}characters"));
    }
    let start = message.strip_suffix(&too_many_slashes())?;
    let words = too_many_slashes().replacen("a valid label key", "a qualified name", 1);
    Some(format!("{start}{words}"))
}

fn too_many_slashes() -> String {
    format!(
        "a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
        key_shape()
    )
}

fn key_shape() -> String {
    shape(KEY_RULE, KEY_PATTERN, &["MyName", "my.name", "123-abc"])
}

fn is_name(value: &str) -> bool {
    let value = value.as_bytes();
    let is_alphanumeric = |byte: &u8| is_of(*byte, LOWER | UPPER);
    value.first().is_some_and(is_alphanumeric)
        && value.last().is_some_and(is_alphanumeric)
        && value.iter().all(|byte| is_of(*byte, LOWER | UPPER | JOINING))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

    fn check(validate: fn(&str) -> Vec<String>, value: &str, expected: &[&str]) {
        let got = validate(value);
        assert_eq!(got.len(), expected.len(), "{value}: {got:?}");
        for (got, expected) in got.iter().zip(expected) {
            assert!(got.starts_with(expected), "{value}: {got}");
        }
    }

    #[test]
    fn keys() {
        for valid in ["a", "A_b.c-9", "example.com/Name", &"a".repeat(63)] {
            check(qualified_name, valid, &[]);
        }
        check(qualified_name, "-a", &[NAME]);
        check(qualified_name, "", &["name part must be non-empty", NAME]);
        check(qualified_name, "/a", &["prefix part must be non-empty"]);
        check(qualified_name, "a/", &["name part must be non-empty", NAME]);
        check(
            qualified_name,
            "A/b",
            &["prefix part a lowercase RFC 1123 subdomain"],
        );
        check(qualified_name, "a/b/c", &["a valid label key must consist of"]);
        check(
            qualified_name,
            &"a".repeat(64),
            &["name part must be no more than 63 bytes"],
        );
        check(
            qualified_name,
            &format!("{}/a", "a".repeat(254)),
            &["prefix part must be no more than 253 bytes"],
        );
    }

    #[test]
    fn values() {
        for valid in ["", "a", "A.b_c-d"] {
            check(label_value, valid, &[]);
        }
        check(label_value, "a-", &[VALUE]);
        check(label_value, "a b", &[VALUE]);
        check(
            label_value,
            &"-".repeat(64),
            &["must be no more than 63 bytes", VALUE],
        );
    }

    #[test]
    fn words_changed_in_1_35() {
        let message =
            |value: &str, texts: Vec<String>| format!("Invalid value: \"{value}\": {}", texts.concat());
        let long = "x".repeat(64);
        let slashes = words_before_1_35(&message("a/b/c", qualified_name("a/b/c"))).unwrap();
        assert!(
            slashes.starts_with("Invalid value: \"a/b/c\": a qualified name must consist of "),
            "{slashes}"
        );
        let name = words_before_1_35(&message(&long, qualified_name(&long))).unwrap();
        assert!(
            name.ends_with("\": name part must be no more than 63 characters"),
            "{name}"
        );
        let value = words_before_1_35(&message(&long, label_value(&long))).unwrap();
        assert!(
            value.ends_with("\": must be no more than 63 characters"),
            "{value}"
        );
        assert_eq!(words_before_1_35("Too long: may not be more than 63 bytes"), None);
    }
}
