//! Warnings as an API server passes them on: once each, and not more than headers hold.

use std::collections::HashSet;

/// How many characters all warnings of a response may have together before each is cut.
const MOST_TOGETHER: usize = 4096;

/// How many warnings, and bytes of all of them, a source may give without being looked at.
const USUAL: usize = 1024;
const USUAL_BYTES: usize = 64 << 10;

/// How many characters of a warning are left when it is cut.
const MOST_EACH: usize = 256;

/// The warnings of admission that reach the user, in their order.
///
/// Repetitions, empty ones and those with control characters are left out. If all are too long together, each is cut,
/// and those that are beyond the limit even then are left out.
pub fn passed_on<'w>(warnings: impl IntoIterator<Item = &'w str>) -> Vec<&'w str> {
    let mut added = HashSet::new();
    let distinct: Vec<&str> = warnings
        .into_iter()
        .filter(|warning| !warning.is_empty() && added.insert(*warning))
        .collect();
    let sendable: Vec<&str> = distinct
        .iter()
        .copied()
        .filter(|warning| !warning.contains(char::is_control))
        .collect();
    let together: usize = sendable.iter().map(|warning| warning.chars().count()).sum();
    if together <= MOST_TOGETHER {
        return sendable;
    }
    let last_whole = overflow(&distinct);
    let mut written = 0;
    let mut kept = Vec::new();
    for (at, warning) in distinct.into_iter().enumerate() {
        // Warnings before the limit was passed are always kept.
        if at > last_whole && written >= MOST_TOGETHER {
            break;
        }
        let cut = cut(warning);
        if !cut.contains(char::is_control) {
            written += cut.chars().count();
            kept.push(cut);
        }
    }
    kept
}

/// The warnings of one source, without those that [`passed_on`] would never show, and without the parts of
/// long ones that it would never show: this bounds their memory, and users see the same. A usual number of
/// warnings of usual length is left as it is.
pub fn bounded(warnings: Vec<String>) -> Vec<String> {
    let bytes: usize = warnings.iter().map(String::len).sum();
    if warnings.len() <= USUAL && bytes <= USUAL_BYTES {
        return warnings;
    }
    let mut added = HashSet::new();
    let (mut whole, mut written) = (0, 0);
    let mut kept = Vec::new();
    for warning in &warnings {
        let cut = cut(warning);
        if cut.is_empty() || cut.contains(char::is_control) || !added.insert(&**warning) {
            continue;
        }
        if !warning.contains(char::is_control) {
            whole += warning.chars().take(MOST_TOGETHER + 1).count();
        }
        written += cut.chars().count();
        kept.push(shortened(warning));
        // Each is cut then, and there is no room for another.
        if whole > MOST_TOGETHER && written >= MOST_TOGETHER || kept.len() >= 2 * MOST_TOGETHER {
            break;
        }
    }
    kept
}

/// As much of a warning as makes it too long, and whether there are control characters in the rest.
fn shortened(warning: &str) -> String {
    let end = warning.char_indices().nth(MOST_TOGETHER + 1).map(|(at, _)| at);
    let Some((start, rest)) = end.and_then(|end| warning.split_at_checked(end)) else {
        return warning.to_owned();
    };
    let control = rest.chars().find(|character| character.is_control());
    start.chars().chain(control).collect()
}

/// The `Warning` header of a warning.
pub fn header(warning: &str) -> String {
    let quoted = warning.replace('\\', "\\\\").replace('"', "\\\"");
    format!("299 - \"{quoted}\"")
}

/// The position of the warning that does not fit any more.
fn overflow(given: &[&str]) -> usize {
    let mut written = 0;
    let passes = |warning: &&str| {
        if !warning.contains(char::is_control) {
            written += warning.chars().count();
        }
        written > MOST_TOGETHER
    };
    given.iter().position(passes).unwrap_or(given.len())
}

fn cut(warning: &str) -> &str {
    let end = warning.char_indices().nth(MOST_EACH).map(|(at, _)| at);
    end.and_then(|end| warning.get(..end)).unwrap_or(warning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(warnings: &[&str], expected: &[&str]) {
        assert_eq!(passed_on(warnings.iter().copied()), expected);
    }

    #[test]
    fn warnings_are_said_once() {
        check(&["a", "b", "a", ""], &["a", "b"]);
        check(&["a\u{7}", "b\nc", "d"], &["d"]);
    }

    #[test]
    fn too_many_are_cut() {
        let long = |letter: &str| letter.repeat(3000);
        let (a, b) = (long("a"), long("é"));
        check(&[&a], &[&a]);
        check(&[&a, &b], &["a".repeat(256).as_str(), "é".repeat(256).as_str()]);
        let many: Vec<String> = (0..40).map(|at| format!("{at:0300}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(passed_on(many.iter().copied()).len(), 16);
    }

    #[test]
    fn what_is_bounded_is_shown_alike() {
        let check = |warnings: Vec<String>, most: usize| {
            let bounded = bounded(warnings.clone());
            let bytes: usize = bounded.iter().map(String::len).sum();
            assert!(bytes <= most, "{bytes}");
            let shown = |all: &[String]| passed_on(all.iter().map(String::as_str)).join("\n");
            assert_eq!(shown(&bounded), shown(&warnings));
            // Also after others, and before.
            for other in ["short".to_owned(), "é".repeat(5000)] {
                let between = |all: Vec<String>| [vec![other.clone()], all, vec![other.clone()]].concat();
                assert_eq!(
                    shown(&between(bounded.clone())),
                    shown(&between(warnings.clone()))
                );
            }
        };
        let some: Vec<String> = (0..900).map(|at| format!("warning {at}")).collect();
        assert_eq!(bounded(some.clone()), some);
        check(some, 20_000);
        check((0..10_000).map(|at| format!("{at}")).collect(), 20_000);
        check(vec!["a".to_owned(); 10_000], 1);
        check((0..2_000).map(|at| format!("{at:01000}")).collect(), 20_000);
        check(vec!["x".repeat(1 << 17)], 5_000);
        check(vec!["x".repeat(1 << 17) + "\n", "y".repeat(1 << 17)], 10_000);
        check(vec!["x".repeat(1 << 17) + "\n", "y".to_owned()], 5_000);
        check((0..10_000).map(|at| format!("{at}\n")).collect(), 0);
    }

    #[test]
    fn headers_are_quoted() {
        assert_eq!(header(r#"say "no" \"#), r#"299 - "say \"no\" \\""#);
    }
}
