//! Intended differences from the reference.

use std::sync::LazyLock;

use super::outcome::ExpressionOutcome;

/// Whether a difference is one of those that are meant to be.
pub(super) fn is_known(ours: &ExpressionOutcome, theirs: &ExpressionOutcome) -> bool {
    crashes(ours, theirs)
        || names_a_go_type(ours, theirs)
        || counts_on_after_an_error(ours, theirs)
        || shows_an_address(ours, theirs)
        || shows_a_go_struct(ours, theirs)
}

/// The reference crashes (a dynamic value for an optional entry of a map; bytes as a key), and our side gives an error.
fn crashes(ours: &ExpressionOutcome, theirs: &ExpressionOutcome) -> bool {
    !theirs.crash.is_empty() && ours.crash.is_empty()
}

/// The reference shows formats with the address of their code.
fn shows_an_address(ours: &ExpressionOutcome, theirs: &ExpressionOutcome) -> bool {
    theirs.error.contains(" 0x") && !ours.error.is_empty() && ours.cost == theirs.cost
}

/// What the reference sees through a type of its own cannot be read back out of a list or map in an object literal: it
/// becomes an error that shows a Go struct with all its fields. To us it stays the map that it is.
fn shows_a_go_struct(ours: &ExpressionOutcome, theirs: &ExpressionOutcome) -> bool {
    const SHOWN: &str = "unsupported conversion to ref.Val: (v1.";
    let value = theirs.value.as_ref().map(ToString::to_string);
    let shows_struct = theirs.error.contains(SHOWN) || value.is_some_and(|value| value.contains(SHOWN));
    shows_struct && ours.of == theirs.of
}

/// Names of the reference's own types for one type of CEL. Messages about a wrong kind of value show them, and which
/// one it is depends on how the value was made.
// The text is a constant of ours; a test reads it. Long names come first, as a name may begin with another.
static SYNONYMS: LazyLock<Vec<(String, Vec<String>)>> =
    LazyLock::new(|| serde_json::from_str(include_str!("synonyms.json")).unwrap_or_default());

fn names_a_go_type(ours: &ExpressionOutcome, theirs: &ExpressionOutcome) -> bool {
    ours.error != theirs.error && ours.cost == theirs.cost && plain(&ours.error) == plain(&theirs.error)
}

/// A message with one name for each type of CEL, and without the quotes that only some names have.
fn plain(error: &str) -> String {
    let mut plain = error
        .replace("struct type v1.", "v1.")
        .replace("map(dyn, dyn)", "map")
        .replace("list(dyn)", "list")
        .replace('\'', "");
    for (name, synonyms) in SYNONYMS.iter() {
        for synonym in synonyms {
            plain = plain.replace(synonym, name);
        }
    }
    plain
        .replace("from a map to", "from map to")
        .replace("from a list to", "from list to")
}

/// Two errors are values to the reference, which goes on with them, or loses count: what an evaluation costs that ends with
/// them is not followed.
fn counts_on_after_an_error(ours: &ExpressionOutcome, theirs: &ExpressionOutcome) -> bool {
    const ERRORS: &[&str] = &[
        "cannot initialize optional ",
        "unsupported conversion to ref.Val: ",
    ];
    let counted = |error: &str| ERRORS.iter().any(|known| error.contains(known));
    ours.error == theirs.error && ours.of == theirs.of && counted(&ours.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_go_are_those_of_cel() {
        let error = |of: &str| format!("no such overload: *types.{of} < int");
        assert_eq!(plain(&error("baseMap")), "no such overload: a map < int");
        assert_ne!(plain(&error("baseMap")), plain(&error("baseList")));
    }
}
