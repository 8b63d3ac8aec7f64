//! Tables of a release, written as changes of those of another.

use std::fmt::Write as _;

use similar::{DiffOp, TextDiff};

const HEAD: &str = "# Changes of the table of another release. Made by `cargo xtask codegen`; do not edit.\n";

/// The changes that make one text of another.
pub(super) fn between(base: &str, table: &str) -> String {
    let mut changes = String::from(HEAD);
    let diff = TextDiff::from_lines(base, table);
    for change in diff.ops() {
        let (removed, added) = (change.old_range(), change.new_range());
        if matches!(change, DiffOp::Equal { .. }) {
            continue;
        }
        let _ = writeln!(changes, "@{} {}", removed.start, removed.len());
        for line in diff.new_slices().get(added).unwrap_or_default() {
            let _ = write!(changes, "+{line}");
        }
    }
    changes
}

/// What is new and gone in tables: their names, and their texts before and after. Long changes are counted only.
pub(super) fn describe(tables: &[(&str, &str, &str)]) -> String {
    let mut text = String::new();
    for (name, older, newer) in tables {
        let (mut gone, mut new): (Vec<&str>, Vec<&str>) = Default::default();
        let diff = TextDiff::from_lines(*older, *newer);
        for change in diff
            .ops()
            .iter()
            .filter(|change| !matches!(change, DiffOp::Equal { .. }))
        {
            gone.extend(diff.old_slices().get(change.old_range()).unwrap_or_default());
            new.extend(diff.new_slices().get(change.new_range()).unwrap_or_default());
        }
        let _ = writeln!(text, "{name}: {} lines new, {} gone", new.len(), gone.len());
        if new.len() + gone.len() <= SHOWN {
            for (sign, lines) in [('-', &gone), ('+', &new)] {
                for line in lines {
                    let _ = write!(text, "  {sign} {line}");
                }
            }
        }
    }
    text
}

/// How many lines of a table are shown.
const SHOWN: usize = 80;
