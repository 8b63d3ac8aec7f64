//! Names that may be meant by one that is not declared, as errors of the reference have them since Kubernetes 1.38.
//!
//! Upstream: cel.dev/cel-go v0.33, common/env/catalog.go, Catalog.Find, and checker/errors.go, formatSuggestionSuffix

use crate::environment::Environment;

/// The types that the language has.
///
/// Upstream: common/stdlib/standard.go, Types
const TYPES: [&str; 12] = [
    "bool",
    "bytes",
    "double",
    "google.protobuf.Duration",
    "google.protobuf.Timestamp",
    "int",
    "list",
    "map",
    "null_type",
    "string",
    "type",
    "uint",
];

/// Functions that the language has under an older name, too, by which no expression calls them.
///
/// Upstream: common/stdlib/standard.go, OldNotStrictlyFalse, OldIn and DeprecatedIn
const OLD_FUNCTIONS: [&str; 3] = ["__not_strictly_false__", "_in_", "in"];

/// More than this many comparisons of characters are not made.
const MAX_COMPARISONS: usize = 64 * 64;

/// The end of the error about a name: ` (did you mean 'a' or 'b'?)`, or nothing.
pub(super) fn suffix(name: &str, environment: &Environment) -> String {
    let declared: Vec<&str> = environment
        .all_names()
        .chain(TYPES)
        .chain(OLD_FUNCTIONS)
        .collect();
    match find(name, &declared).as_slice() {
        [] => String::new(),
        // It is declared as something else.
        [only] if *only == name => String::new(),
        [only] => format!(" (did you mean '{only}'?)"),
        [first, second, ..] => format!(" (did you mean '{first}' or '{second}'?)"),
    }
}

/// The nearest names, the shortest first; else those that begin with the name.
fn find<'n>(name: &str, declared: &[&'n str]) -> Vec<&'n str> {
    if let Some(same) = declared.iter().find(|other| **other == name) {
        return vec![same];
    }
    let most = match name.len() {
        0..=3 => 1,
        4..=8 => 2,
        long => long / 3,
    };
    let comparable = declared
        .iter()
        .filter(|other| !other.is_empty() && other.contains('.') == name.contains('.'));
    let distances = comparable.clone().filter_map(|other| {
        let distance = distance(name, other)?;
        (distance <= most).then_some((distance, *other))
    });
    let distances: Vec<(usize, &str)> = distances.collect();
    let nearest = distances.iter().map(|(distance, _)| *distance).min();
    let mut names: Vec<&str> = distances
        .iter()
        .filter(|(distance, _)| Some(*distance) == nearest)
        .map(|(_, other)| *other)
        .collect();
    if names.is_empty() && name.len() >= 2 {
        names = comparable
            .filter(|other| other.starts_with(name))
            .copied()
            .collect();
    }
    names.sort_by_key(|other| (other.len(), *other));
    names.dedup();
    names
}

/// How many characters are inserted, removed, replaced, or swapped with the next; none where they are too many.
///
/// Upstream: common/env/catalog.go, EditDistance
// Not `strsim::osa_distance`: upstream gives up at a row of the table, so that some names are not found that are near in the end.
fn distance(name: &str, other: &str) -> Option<usize> {
    let (left, right): (Vec<char>, Vec<char>) = (name.chars().collect(), other.chars().collect());
    let (short, long) = (left.len().min(right.len()), left.len().max(right.len()));
    if short == 0 || long >= 16 && long * 2 >= short * 3 {
        return Some(long - short);
    }
    if short * long > MAX_COMPARISONS {
        return None;
    }
    // The rows of the table: the one before the last one, and the last one.
    let mut rows: [Vec<usize>; 2] = [Vec::new(), (0..=right.len()).collect()];
    for (at, character) in left.iter().enumerate() {
        let [earlier, last] = &rows;
        let mut row = vec![at + 1];
        for (place, against) in right.iter().enumerate() {
            let cell = |row: &[usize], place: usize| row.get(place).copied().unwrap_or(usize::MAX - 1);
            let replaced = cell(last, place) + usize::from(character != against);
            let mut least = replaced.min(cell(last, place + 1) + 1).min(cell(&row, place) + 1);
            let is_swapped = at > 0
                && place > 0
                && left.get(at - 1) == Some(against)
                && right.get(place - 1) == Some(character);
            if is_swapped {
                least = least.min(cell(earlier, place - 1) + 1);
            }
            row.push(least);
        }
        if row.iter().min().is_some_and(|least| *least > long / 3) {
            return None;
        }
        let [_, last] = rows;
        rows = [last, row];
    }
    let [_, last] = rows;
    last.last().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_are_meant() {
        let declared = [
            "object",
            "oldObject",
            "reverse",
            "request",
            "params",
            "size",
            "_+_",
            "lists.range",
        ];
        for (name, expected) in [
            ("objct", vec!["object"]),
            ("obejct", vec!["object"]),
            ("reversed", vec!["reverse"]),
            ("oldobject", vec!["oldObject"]),
            ("pod", vec![]),
            ("req", vec!["request"]),
            ("size", vec!["size"]),
            ("lists.rang", vec!["lists.range"]),
            ("listsrange", vec![]),
            ("par", vec!["params"]),
        ] {
            assert_eq!(find(name, &declared), expected, "{name}");
        }
    }

    #[test]
    fn errors_have_them_since_1_38() {
        for (release, expected) in [
            (37, "undeclared reference to 'lists.rang' (in container '')"),
            (
                38,
                "undeclared reference to 'lists.rang' (did you mean 'lists.range'?)",
            ),
        ] {
            let environment = Environment::kubernetes_of(release, 37);
            let error = environment.compile("lists.rang{}").unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        let error = Environment::kubernetes_of(38, 37).compile("tin").unwrap_err();
        assert!(
            error.to_string().contains("(did you mean 'in' or '@in'?)"),
            "{error}"
        );
        let error = Environment::kubernetes_of(38, 37).compile("pod.x").unwrap_err();
        assert!(
            error.to_string().contains("undeclared reference to 'pod'\n"),
            "{error}"
        );
    }
}
