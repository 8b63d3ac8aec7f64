//! Taints that a Pod tolerates.

use pratique_gotext::strconv::parse_int;
use pratique_gotext::validation::label_value;

use super::options::PodOptions;
use crate::errors::Errors;
use crate::node::Node;
use crate::selector::validate_label_name;

// Upstream: pkg/apis/core/validation/validation.go, ValidateTolerations
pub(crate) fn validate_tolerations(tolerations: &Node<'_, '_>, options: PodOptions, errors: &mut Errors) {
    for toleration in tolerations.items() {
        validate_toleration(&toleration, options, errors);
    }
}

fn validate_toleration(toleration: &Node<'_, '_>, options: PodOptions, errors: &mut Errors) {
    let (key, operator) = (toleration.child("key"), toleration.child("operator"));
    let (value, effect) = (toleration.child("value"), toleration.child("effect"));
    if !key.as_text().is_empty() {
        let start = errors.len();
        validate_label_name(&key, errors);
        errors.cover_from(start, "format=k8s-label-key");
    } else if operator.as_text() != "Exists" {
        errors.invalid_name(
            &operator,
            "operator must be Exists when `key` is empty, which means \"match all values and all keys\"",
        );
    }
    if toleration.child("tolerationSeconds").is_set() && effect.as_text() != "NoExecute" {
        errors.invalid_name(
            &effect,
            "effect must be 'NoExecute' when `tolerationSeconds` is set",
        );
    }
    match operator.as_text() {
        "Equal" | "" => {
            let messages = label_value(value.as_text());
            if !messages.is_empty() {
                errors.invalid(operator, value.as_text(), &messages.join(";"));
            }
        }
        "Exists" => {
            if !value.as_text().is_empty() {
                errors.invalid(
                    operator,
                    value.as_text(),
                    "value must be empty when `operator` is 'Exists'",
                );
            }
        }
        "Lt" | "Gt" if options.comparing_tolerations => {
            if let Some(message) = decimal_fault(value.as_text()) {
                errors.invalid_or_empty(&value, message);
            }
            if let Err(error) = parse_int(value.as_text()) {
                errors.invalid_or_empty(&value, &error.to_string());
            }
        }
        // Unknown before 1.35.
        "Lt" | "Gt" if errors.release().at_least(1, 35) => {
            errors.not_supported(&operator, &["Equal", "Exists", "Lt", "Gt"])
        }
        _ => errors.not_supported(&operator, &["Equal", "Exists"]),
    }
    if !effect.as_text().is_empty() {
        validate_effect(&effect, errors);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateTaintEffect
pub(crate) fn validate_effect(effect: &Node<'_, '_>, errors: &mut Errors) {
    const EFFECTS: &[&str] = &["NoSchedule", "PreferNoSchedule", "NoExecute"];
    if !EFFECTS.contains(&effect.as_text()) {
        errors.not_supported(effect, EFFECTS);
    }
}

/// What is wrong with how a whole number is written, of whatever size.
// Upstream: apimachinery/pkg/api/validate/content/decimal_int.go, IsDecimalInteger
fn decimal_fault(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        return Some("must be non-empty");
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_canonical = match digits.as_bytes() {
        [b'0'] => text == "0",
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    (!is_canonical).then_some("must be a valid decimal integer in canonical form")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_written_in_one_way() {
        for (text, is_valid) in [
            ("0", true),
            ("-7", true),
            ("99999999999999999999", true),
            ("", false),
            ("-", false),
            ("-0", false),
            ("07", false),
            ("+7", false),
            ("7.0", false),
        ] {
            assert_eq!(decimal_fault(text).is_none(), is_valid, "{text}");
        }
    }
}
