//! Lists and maps with a limit: what is too long is not looked at further.

use std::borrow::Cow;

use crate::errors::{Errors, named};
use crate::node::Node;
use crate::seen_texts::SeenTexts;

/// The limit of a list.
#[derive(Clone, Copy)]
pub(super) enum ListLimit {
    None,
    Max(i64),
    /// A limit that a declarative rule has, too.
    Covered(i64),
}

/// The text of an element by which it is told from others.
pub(super) struct SetKey {
    pub(super) text: for<'k> fn(&Node<'_, 'k>) -> &'k str,
    /// The member that has the text; nothing where the element is the text.
    pub(super) member: &'static str,
    /// Whether a declarative rule tells of duplicates.
    pub(super) is_covered: bool,
    /// Whether the text is of a type of its own.
    pub(super) is_named: bool,
}

/// Elements that are texts, of which a declarative rule tells the duplicates.
pub(super) const TEXTS: SetKey = SetKey {
    text: |element| element.as_text(),
    member: "",
    is_covered: true,
    is_named: false,
};

/// Elements with names, of which a declarative rule tells the duplicates.
pub(super) const NAMES: SetKey = SetKey {
    text: |element| element.child("name").as_text(),
    member: "name",
    is_covered: true,
    is_named: false,
};

/// Whether the elements were validated.
// Upstream: pkg/apis/resource/validation/validation.go, validateSlice
pub(super) fn validate_list(
    list: &Node<'_, '_>,
    limit: ListLimit,
    errors: &mut Errors,
    mut validate: impl FnMut(&Node<'_, '_>, &mut Errors),
) -> bool {
    let max = match limit {
        ListLimit::None => i64::MAX,
        ListLimit::Max(max) | ListLimit::Covered(max) => max,
    };
    let has_too_many = i64::try_from(list.len()).unwrap_or(i64::MAX) > max;
    // Upstream: before 1.35, what is too long is looked at all the same.
    let is_validated = !has_too_many || !errors.release().at_least(1, 35);
    if is_validated {
        for element in list.items() {
            validate(&element, errors);
        }
    }
    if has_too_many {
        let start = errors.len();
        errors.too_many(list, max);
        if matches!(limit, ListLimit::Covered(_)) {
            errors.cover_from(start, "maxItems");
        }
    }
    is_validated
}

/// A list without duplicates.
// Upstream: pkg/apis/resource/validation/validation.go, validateSet
pub(super) fn validate_set(
    list: &Node<'_, '_>,
    limit: ListLimit,
    key: &SetKey,
    errors: &mut Errors,
    validate: impl FnMut(&Node<'_, '_>, &mut Errors),
) {
    if !validate_list(list, limit, errors, validate) {
        return;
    }
    let mut seen = SeenTexts::default();
    for element in list.items() {
        let text = (key.text)(&element);
        if seen.insert(text) {
            continue;
        }
        let start = errors.len();
        // Before 1.35, the path is that of the member.
        let field = if key.member.is_empty() || errors.release().at_least(1, 35) {
            element.path().to_string()
        } else {
            element.path().child(key.member).to_string()
        };
        if key.is_named {
            errors.duplicate(field, named(text));
        } else {
            errors.duplicate(field, text);
        }
        if key.is_covered {
            errors.cover_from(start, "");
        }
    }
}

/// A map whose keys are validated at its own path, and shortened where they name a value.
// Upstream: pkg/apis/resource/validation/validation.go, validateMap
pub(super) fn validate_map(
    map: &Node<'_, '_>,
    max_key: usize,
    errors: &mut Errors,
    validate_key: impl Fn(&Node<'_, '_>, &str, &mut Errors),
    mut validate: impl FnMut(&Node<'_, '_>, &mut Errors),
) {
    // Before 1.36, the path of a key was that of its value.
    let is_at_map = errors.release().at_least(1, 36);
    for (key, value) in map.entries() {
        let short_key = shorten(key, max_key);
        let path = map.path().key(&short_key);
        if is_at_map {
            validate_key(map, key, errors);
        } else {
            validate_key(&Node::with_path(value.value(), path), key, errors);
        }
        validate(&Node::with_path(value.value(), path), errors);
    }
}

/// A text without its middle, where it is longer than `max` bytes.
// Upstream: pkg/apis/resource/validation/validation.go, truncateIfTooLong
fn shorten(text: &str, max: usize) -> Cow<'_, str> {
    let max = max.max(16);
    if text.len() <= max {
        return text.into();
    }
    let rest = max - "...".len();
    let (start, end) = (rest.div_ceil(2), text.len() - rest / 2);
    let bytes = text.as_bytes();
    // Go cuts characters in two, which become replacement characters in JSON.
    let head = String::from_utf8_lossy(bytes.get(..start).unwrap_or_default());
    let tail = String::from_utf8_lossy(bytes.get(end..).unwrap_or_default());
    format!("{head}...{tail}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_keys_lose_their_middle() {
        assert_eq!(shorten("0123456789abcdef", 5), "0123456789abcdef");
        assert_eq!(shorten("0123456789abcdefg", 5), "0123456...bcdefg");
    }
}
