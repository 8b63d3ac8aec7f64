//! The separate workspace of the Python bindings: its lock file must match the dependencies of our packages.

use std::collections::BTreeSet;

use crate::{Dependency, Locked, Package, locked, sources};

/// The directory of the workspace.
const WORKSPACE: &str = "bindings/python";

/// Packages of its lock file with other sources or versions, and missing dependencies.
pub(crate) fn faults(ours: &[Locked], packages: &[Package], lock: &str) -> Vec<String> {
    let other = locked(lock);
    let mut faults = sources(&other);
    faults.extend(versions(ours, &other));
    faults.extend(lacking(packages, &other));
    faults
}

fn versions(ours: &[Locked], other: &[Locked]) -> Vec<String> {
    let differs = |package: &&Locked| {
        let mut of_name = ours.iter().filter(|known| known.name == package.name).peekable();
        of_name.peek().is_some() && !of_name.any(|known| known.version == package.version)
    };
    let differing = other.iter().filter(differs);
    let reports = differing.map(|package| {
        let (name, version) = (&package.name, &package.version);
        format!("{WORKSPACE} has {name}@{version}, and the workspace another one")
    });
    reports.collect()
}

/// Unconditional dependencies of our packages that its lock file lacks: it is built with `--locked`.
fn lacking(packages: &[Package], other: &[Locked]) -> Vec<String> {
    let mut faults = Vec::new();
    for package in packages.iter().filter(|package| package.source.is_none()) {
        let Some(known) = other.iter().find(|known| known.name == package.name) else {
            continue;
        };
        let needed = package.dependencies.iter().filter(|needed| needed.is_always());
        let names: BTreeSet<&str> = needed.map(|needed| needed.name.as_str()).collect();
        let lacking = names
            .into_iter()
            .filter(|name| !known.dependencies.contains(*name));
        faults.extend(lacking.map(|name| {
            format!(
                "{WORKSPACE}/Cargo.lock lacks {name}, which {} depends on: cargo metadata --manifest-path {WORKSPACE}/Cargo.toml",
                package.name
            )
        }));
    }
    faults
}

impl Dependency {
    /// Whether the dependency is unconditional: on every platform, with any features, and not only for tests or build scripts.
    fn is_always(&self) -> bool {
        self.kind.is_none() && !self.optional && self.target.is_none()
    }
}

#[test]
fn versions_are_the_same() {
    let ours = locked(&crate::LOCK.replace("2.0.0", "3.0.0"));
    let other = crate::LOCK.replace(crate::CRATES_IO, "registry+https://example.com");
    let found = faults(&ours, &[], &other);
    let reports = |text: &str| found.iter().any(|fault| fault.contains(text));
    assert!(reports("https://example.com"), "{found:?}");
    assert!(
        reports("bindings/python has a@2.0.0, and the workspace another one"),
        "{found:?}"
    );
    assert!(!reports("a@1.0.0"), "{found:?}");
}

#[test]
fn what_packages_depend_on_is_there() {
    let needed = |name: &str, kind: Option<&str>, optional| Dependency {
        name: name.to_owned(),
        kind: kind.map(str::to_owned),
        optional,
        target: None,
    };
    let ours = Package {
        name: "ours".to_owned(),
        dependencies: vec![
            needed("a", None, false),
            needed("b", None, false),
            needed("c", None, true),
            needed("d", Some("dev"), false),
        ],
        ..Package::default()
    };
    let found = lacking(&[ours], &locked(crate::LOCK));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found
            .iter()
            .all(|fault| fault.contains("lacks b, which ours depends on")),
        "{found:?}"
    );
}
