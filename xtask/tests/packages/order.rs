//! The order in RELEASING.md in which packages are published: each after those that its own description names with a version,
//! for tests as well, as a registry has to know them all.

use std::collections::BTreeSet;
use std::fs;

use super::{Package, metadata, workspace};

/// The text before the list, and after it.
const FENCES: (&str, &str) = ("\n```text\n", "```\n");

/// The packages in rows: those of one need only packages of the rows above.
///
/// # Panics
/// Packages need each other in a circle, so that there is no order.
fn rows(packages: &[Package]) -> Vec<Vec<&str>> {
    let mut left: Vec<&Package> = packages.iter().filter(|package| package.is_published()).collect();
    let mut rows = Vec::new();
    while !left.is_empty() {
        let waiting: BTreeSet<&str> = left.iter().map(|package| package.name.as_str()).collect();
        let is_ready = |package: &&Package| {
            let mut needed = package
                .dependencies
                .iter()
                .filter(|dependency| dependency.req != "*");
            needed.all(|dependency| !waiting.contains(dependency.name.as_str()))
        };
        let (ready, rest): (Vec<_>, Vec<_>) = left.into_iter().partition(is_ready);
        assert!(!ready.is_empty(), "these need each other: {waiting:?}");
        let mut row: Vec<&str> = ready.iter().map(|package| package.name.as_str()).collect();
        row.sort_unstable();
        rows.push(row);
        left = rest;
    }
    rows
}

#[test]
fn packages_are_published_after_those_that_they_need() {
    let path = workspace().join("RELEASING.md");
    let text = fs::read_to_string(&path).unwrap();
    let packages = metadata();
    let rows = rows(&packages).into_iter().map(|row| row.join(" ") + "\n");
    let list: String = rows.collect();
    let (before, rest) = text.split_once(FENCES.0).unwrap();
    let (_, after) = rest.split_once(FENCES.1).unwrap();
    let expected = [before, FENCES.0, &list, FENCES.1, after].concat();
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap() == expected,
        "RELEASING.md: the order is\n{list}"
    );
}

mod tests {
    use serde_json::json;

    use super::super::tests::package;
    use super::*;

    #[test]
    fn rows_are_ordered() {
        let on = |names: &[&str]| {
            let one = |name: &&str| json!({"name": name, "req": "^0.1", "kind": "dev", "features": []});
            json!({"dependencies": names.iter().map(one).collect::<Vec<_>>()})
        };
        let unpublished = json!({"name": "b", "req": "*", "kind": "dev", "features": []});
        let packages = [
            package("c", on(&["a", "b"])),
            package("b", on(&["serde"])),
            package("a", json!({"dependencies": [unpublished]})),
            package("hidden", json!({"publish": []})),
        ];
        assert_eq!(rows(&packages), [vec!["a", "b"], vec!["c"]]);
    }

    #[test]
    #[should_panic = "these need each other: {\"a\"}"]
    fn circles_have_no_order() {
        let own = json!({"name": "a", "req": "^0.1", "kind": null, "features": []});
        rows(&[package("a", json!({"dependencies": [own]}))]);
    }
}
