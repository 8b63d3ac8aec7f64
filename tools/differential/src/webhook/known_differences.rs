//! Intended differences from the reference in patches of webhooks.

use serde_json::Value;

use super::case::WebhookCase;

/// Whether a difference is intended.
pub(super) fn is_known(case: &WebhookCase, ours: &Value, theirs: &Value) -> bool {
    crashes(ours, theirs)
        || is_out_of_range(case, ours)
        || spells_a_number(ours, theirs)
        || shows_what_was_written(ours, theirs)
        || finds_another_fault_first(ours, theirs)
        || names_a_conversion(ours, theirs)
}

/// The reference crashes, and our side gives an error.
fn crashes(ours: &Value, theirs: &Value) -> bool {
    theirs.get("crash").is_some() && ours.get("crash").is_none()
}

/// Numbers past those that have 64 bits are no JSON to us; the reference finds that only where it reads them.
fn is_out_of_range(case: &WebhookCase, ours: &Value) -> bool {
    message(ours).contains("number out of range")
        || case.patches().iter().any(|patch| patch.contains("1e400"))
}

/// The reference says how a number of a patch was written, we say it as Go writes it.
fn spells_a_number(ours: &Value, theirs: &Value) -> bool {
    let plain = |outcome: &Value| {
        let (leading_words, rest) = message(outcome).split_once("cannot unmarshal number ")?;
        let (number, trailing_words) = rest.split_once(" into ")?;
        let number: f64 = number.parse().ok()?;
        Some((
            leading_words.to_owned(),
            number.to_bits(),
            trailing_words.to_owned(),
        ))
    };
    let (ours, theirs) = (plain(ours), plain(theirs));
    ours.is_some() && ours == theirs
}

/// Of several values of a wrong type in one place, the reference reports the first one in the text.
fn finds_another_fault_first(ours: &Value, theirs: &Value) -> bool {
    let place = |outcome: &Value| {
        let (_, rest) = message(outcome).split_once("cannot unmarshal ")?;
        rest.split_once(" into ").map(|(_, place)| place.to_owned())
    };
    let bytes = [ours, theirs].iter().all(|outcome| {
        let message = message(outcome);
        message.ends_with("of type []uint8") || message.contains("illegal base64 data at input byte ")
    });
    let (ours, theirs) = (place(ours), place(theirs));
    bytes || (ours.is_some() && ours == theirs)
}

/// An object without a kind is shown by the reference as it was written, with keys twice and numbers in any spelling.
fn shows_what_was_written(ours: &Value, theirs: &Value) -> bool {
    let shows = |outcome: &Value| message(outcome).contains("Object 'Kind' is missing in '");
    shows(ours) && shows(theirs)
}

/// A custom resource that a webhook gave another group is refused with another sentence: the recorded decisions are of a
/// converter that has this one only.
fn names_a_conversion(ours: &Value, theirs: &Value) -> bool {
    message(ours).contains("request to convert CR from an invalid group/version: ")
        && message(theirs).contains(" is unstructured and is not suitable for converting to ")
}

fn message(outcome: &Value) -> &str {
    let message = outcome.pointer("/status/message").and_then(Value::as_str);
    message.unwrap_or_default()
}
