//! The findings of `check`: problems and warnings.

use super::markdown::{escaped, table};
use crate::output::catalog;

pub(super) fn page() -> String {
    let of = |is_error: bool, page: &str| {
        let rules = catalog::list_rules().into_iter();
        let rows = rules.filter(|rule| rule.is_error == is_error).map(|rule| {
            let name = rule.name;
            vec![format!("[`{name}`](../{page}#{name})"), escaped(rule.summary)]
        });
        table(&["name", "what it finds"], rows)
    };
    format!(
        "# Problems and warnings

What `pratique check` and editors find, by the names that stand in brackets behind it.

## Problems

An API server does not start with them, or does not take the object.

{}
## Warnings

What loads, but probably does not do what it is meant to. `--allow`, `--warn` and `--deny` set the level of each.

{}",
        of(true, "problems.md"),
        of(false, "warnings.md")
    )
}
