//! Tables of an older release, written as changes of those of a newer one.

use std::fmt::Write as _;
use std::path::Path;

use pratique_harness::Error;
use similar::{DiffOp, TextDiff};

const HEAD: &str =
    "# Changes of the table of the next release. Made by `cargo xtask codegen`; do not edit.\n";

/// The tables of a release.
const TABLES: [&str; 11] = [
    "types",
    "layout",
    "merge",
    "constraints",
    "given",
    "kinds",
    "defaults",
    "conversions",
    "deprecations",
    "patch_strategies",
    "gates",
];

/// Replaces the tables in the directory `data` by their changes from those in the directory `newer`. A table that is not there is
/// that of the newer release.
pub(super) fn run(newer: &Path, data: &Path) -> Result<(), Error> {
    for name in TABLES {
        let whole = newer.join(name).with_extension("txt");
        let newer = std::fs::read_to_string(&whole).map_err(Error::file(&whole))?;
        let table = data.join(name).with_extension("txt");
        let older = if table.exists() {
            std::fs::read_to_string(&table).map_err(Error::file(&table))?
        } else {
            newer.clone()
        };
        let changes = data.join(name).with_extension("diff");
        std::fs::write(&changes, between(&newer, &older)).map_err(Error::file(&changes))?;
        if table.exists() {
            std::fs::remove_file(&table).map_err(Error::file(&table))?;
        }
    }
    Ok(())
}

/// The changes that make one text of another.
fn between(newer: &str, older: &str) -> String {
    let mut changes = String::from(HEAD);
    let diff = TextDiff::from_lines(newer, older);
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
