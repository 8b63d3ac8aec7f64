//! The tables of crates in ARCHITECTURE.md: each crate is there, and depends on those above it only.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::{Package, metadata, workspace};

/// The crates in the tables, in their order.
fn listed(text: &str) -> Vec<&str> {
    let (_, rest) = text.split_once("\n## The crates\n").unwrap();
    let (tables, _) = rest.split_once("\n### Packages\n").unwrap();
    tables
        .lines()
        .filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0))
        .collect()
}

/// For each package below `crates`, its dependencies in the workspace, without those of tests.
fn edges(packages: &[Package]) -> BTreeMap<&str, BTreeSet<&str>> {
    let below_crates = |package: &&Package| {
        package
            .manifest_path
            .ancestors()
            .nth(2)
            .is_some_and(|path| path.ends_with("crates"))
    };
    let needed = |package: &'_ Package| {
        let built = package
            .dependencies
            .iter()
            .filter(|dependency| !dependency.is_dev());
        let other = |name: &str| packages.iter().find(|other| other.name == name);
        built
            .filter_map(|dependency| Some(other(&dependency.name)?.name.as_str()))
            .collect()
    };
    packages
        .iter()
        .filter(below_crates)
        .map(|package| (package.name.as_str(), needed(package)))
        .collect()
}

/// Crates that are not listed, or are listed above a dependency.
fn misplaced(listed: &[&str], edges: &BTreeMap<&str, BTreeSet<&str>>) -> Vec<String> {
    let place = |name: &str| listed.iter().position(|listed| *listed == name);
    let mut faults = Vec::new();
    for (name, needed) in edges {
        let Some(at) = place(name) else {
            faults.push(format!("{name} is not in the tables"));
            continue;
        };
        let below = needed
            .iter()
            .filter(|needed| place(needed).is_none_or(|place| place >= at));
        faults
            .extend(below.map(|needed| format!("{name} depends on {needed}, which does not stand above it")));
    }
    faults
}

#[test]
fn crates_depend_on_those_above_them() {
    let text = fs::read_to_string(workspace().join("ARCHITECTURE.md")).unwrap();
    let packages = metadata();
    let edges = edges(&packages);
    assert!(edges.len() > 20, "{} crates", edges.len());
    let faults = misplaced(&listed(&text), &edges);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn misplaced_crates_are_found() {
    let edges = [("a", vec!["b"]), ("b", vec![]), ("c", vec![])];
    let edges = edges.map(|(name, needed)| (name, needed.into_iter().collect()));
    assert_eq!(
        misplaced(&["a", "b"], &edges.into()),
        [
            "a depends on b, which does not stand above it",
            "c is not in the tables"
        ]
    );
}
