//! Quantities of resources as defaulting changes and adds them.

use pratique_gotext::quantity::Quantity;
use pratique_json::{Object, Value};

use super::DefaultContext;

/// Rounds quantities that are finer than a thousandth up to one.
pub(super) fn round_up(object: &mut Object<'_>, _: &DefaultContext<'_>) {
    for value in object.values_mut() {
        if let Some(rounded) = value.as_str().and_then(rounded) {
            *value = rounded.into();
        }
    }
}

/// A canonical quantity rounded away from zero to a whole thousandth, where it is finer.
// Upstream: apimachinery/pkg/api/resource/quantity.go, Quantity.RoundUp
fn rounded(text: &str) -> Option<String> {
    let (digits, factor, suffix) = [
        ("n", 1_000_000, "m"),
        ("u", 1_000, "m"),
        ("e-9", 1_000_000, "e-3"),
        ("e-6", 1_000, "e-3"),
    ]
    .into_iter()
    .find_map(|(fine, factor, suffix)| Some((text.strip_suffix(fine)?, factor, suffix)))?;
    let number: i128 = digits.parse().ok()?;
    let thousandths = number.unsigned_abs().div_ceil(factor);
    let sign = if number < 0 { "-" } else { "" };
    let text = format!("{sign}{thousandths}{suffix}");
    Some(Quantity::parse(&text).ok()?.to_string())
}

/// A quantity of a list of resources.
pub(crate) fn quantity(value: &Value<'_>) -> Option<Quantity> {
    Quantity::parse(value.as_str()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fine_quantities_are_rounded_away_from_zero() {
        for (text, expected) in [
            ("1n", Some("1m")),
            ("1500001n", Some("2m")),
            ("-1u", Some("-1m")),
            ("2000u", Some("2m")),
            ("999999u", Some("1")),
            ("1e-9", Some("1e-3")),
            ("1m", None),
            ("1", None),
            ("1e3", None),
        ] {
            assert_eq!(rounded(text).as_deref(), expected, "{text}");
        }
    }
}
