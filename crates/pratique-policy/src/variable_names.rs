//! The names of variables as expressions write them.

use std::borrow::Cow;

/// The name of the variable that a field refers to: an API server reads fields of variables as escaped names, though it
/// declares them unescaped. `None` for an invalid escape.
pub(crate) fn unescaped(field: &str) -> Option<Cow<'_, str>> {
    // Most have none, and are read often.
    if !field.contains('_') {
        return Some(Cow::Borrowed(field));
    }
    let mut name = Cow::Borrowed("");
    let mut rest = field;
    while let Some((literal, word, after)) = first_escape(rest) {
        let stands_for = match word {
            "underscores" => "__",
            "dot" => ".",
            "dash" => "-",
            "slash" => "/",
            _ => return None,
        };
        name = Cow::Owned(format!("{name}{literal}{stands_for}"));
        rest = after;
    }
    Some(name + rest)
}

/// Splits at the first `__word__`.
fn first_escape(field: &str) -> Option<(&str, &str, &str)> {
    let starts = field.match_indices("__").map(|(at, _)| at);
    // Of three underscores in a row the last two may be the start.
    let starts = starts.flat_map(|at| [at, at + 1]);
    starts.into_iter().find_map(|at| {
        let (literal, rest) = field.split_at_checked(at)?;
        let (word, after) = rest.strip_prefix("__")?.split_once("__")?;
        (!word.is_empty() && !word.contains('_')).then_some((literal, word, after))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_escaped() {
        for (field, name) in [
            ("plain", Some("plain")),
            ("a__b", Some("a__b")),
            ("a__dot__b", Some("a.b")),
            ("a___dash__b", Some("a_-b")),
            ("__underscores__", Some("__")),
            ("a__other__b", None),
        ] {
            assert_eq!(unescaped(field).as_deref(), name, "{field}");
        }
    }
}
