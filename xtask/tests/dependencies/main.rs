//! Checks the dependencies against `deny.toml`, without `cargo-deny`: their sources, licences and number of versions.
#![allow(clippy::unwrap_used, reason = "a test that fails may stop")]

mod bindings_workspace;
mod licence;
mod program_features;
mod rules;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use pratique_harness::{ToolError, cargo, workspace};
use serde::Deserialize;

use rules::Rules;

/// The source of packages from crates.io.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// A package of `Cargo.lock`.
#[derive(Debug, Default, PartialEq)]
struct Locked {
    name: String,
    version: String,
    source: Option<String>,
    has_checksum: bool,
    /// The names of its dependencies.
    dependencies: BTreeSet<String>,
}

/// The output of `cargo metadata`.
#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Debug, Default, Deserialize)]
struct Package {
    name: String,
    version: String,
    source: Option<String>,
    license: Option<String>,
    dependencies: Vec<Dependency>,
}

/// A dependency of a package.
#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    /// `dev` or `build`.
    kind: Option<String>,
    optional: bool,
    target: Option<String>,
}

#[test]
fn dependencies_are_allowed() {
    let faults = check(&workspace::root()).unwrap();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The faults of the dependencies of a workspace. Its packages have to be downloaded already.
///
/// # Errors
/// When `deny.toml` or `Cargo.lock` cannot be read, or `cargo metadata` fails.
fn check(root: &Path) -> Result<Vec<String>, ToolError> {
    let read = |name: &str| {
        std::fs::read_to_string(root.join(name)).map_err(|error| ToolError::from(format!("{name}: {error}")))
    };
    let rules = Rules::read(&read("deny.toml")?)?;
    let locked = locked(&read("Cargo.lock")?);
    let mut faults = sources(&locked);
    faults.extend(versions(&locked, &rules.skipped));
    let packages = metadata(root)?.packages;
    faults.extend(bindings_workspace::faults(
        &locked,
        &packages,
        &read("bindings/python/Cargo.lock")?,
    ));
    faults.extend(licences(&packages, &rules.licences));
    Ok(faults)
}

fn locked(text: &str) -> Vec<Locked> {
    let packages = text.split("[[package]]").skip(1);
    let read = |text: &str| {
        let field = |name: &str| {
            let mut lines = text.lines();
            let value =
                lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(" = \"")?.strip_suffix('"'));
            value.map(str::to_owned)
        };
        Locked {
            name: field("name").unwrap_or_default(),
            version: field("version").unwrap_or_default(),
            source: field("source"),
            has_checksum: field("checksum").is_some(),
            dependencies: dependencies(text),
        }
    };
    packages.map(read).collect()
}

/// The names of the dependencies of a locked package; ambiguous ones are followed by a version.
fn dependencies(text: &str) -> BTreeSet<String> {
    let (_, listed) = text.split_once("\ndependencies = [").unwrap_or_default();
    let listed = listed.split(']').next().unwrap_or_default().split('"').skip(1);
    let names = listed.step_by(2).filter_map(|entry| entry.split(' ').next());
    names.map(str::to_owned).collect()
}

/// All packages must come from crates.io with a checksum, or from this workspace.
fn sources(locked: &[Locked]) -> Vec<String> {
    let fault = |package: &Locked| {
        let Locked { name, version, .. } = package;
        match package.source.as_deref() {
            None => None,
            Some(CRATES_IO) if package.has_checksum => None,
            Some(CRATES_IO) => Some(format!("{name} {version} has no checksum")),
            Some(other) => Some(format!("{name} {version} comes from {other}")),
        }
    };
    locked.iter().filter_map(fault).collect()
}

/// All but one of several versions of a package must be listed, and no others.
fn versions(locked: &[Locked], skipped: &BTreeSet<String>) -> Vec<String> {
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in locked {
        found.entry(&package.name).or_default().insert(&package.version);
    }
    let is_skipped = |name: &str, version: &str| skipped.contains(&format!("{name}@{version}"));
    let several = found.iter().filter_map(|(name, versions)| {
        let left: Vec<&str> = versions
            .iter()
            .copied()
            .filter(|version| !is_skipped(name, version))
            .collect();
        (left.len() > 1).then(|| format!("{name} is there several times: {}", left.join(", ")))
    });
    let stale = skipped.iter().filter(|skipped| {
        let (name, version) = skipped.split_once('@').unwrap_or_default();
        !found
            .get(name)
            .is_some_and(|versions| versions.len() > 1 && versions.contains(version))
    });
    let stale = stale.map(|skipped| format!("deny.toml skips {skipped}, which is not there twice"));
    several.chain(stale).collect()
}

/// External packages must have allowed licences.
fn licences(packages: &[Package], allowed: &BTreeSet<String>) -> Vec<String> {
    let fault = |package: &Package| {
        let Package { name, version, .. } = package;
        match package.license.as_deref() {
            _ if package.source.is_none() => None,
            None => Some(format!("{name} {version} names no licence")),
            Some(text) => match licence::is_allowed(text, &|name| allowed.contains(name)) {
                Some(true) => None,
                Some(false) => Some(format!("the licence of {name} {version} is not allowed: {text}")),
                None => Some(format!("the licence of {name} {version} is not read: {text}")),
            },
        }
    };
    packages.iter().filter_map(fault).collect()
}

/// Runs `cargo metadata` offline, for the packages that this platform needs.
fn metadata(root: &Path) -> Result<Metadata, ToolError> {
    let host = cargo::host()?;
    let output = cargo::command()
        .current_dir(root)
        .args(["metadata", "--format-version", "1", "--offline", "--locked"])
        .args(["--filter-platform", &host])
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|error| ToolError::from(format!("cargo metadata: {error}")))
}

const LOCK: &str = r#"
version = 4

[[package]]
name = "a"
version = "1.0.0"
source = "registry+https://github.com/rust-lang/crates.io-index"
checksum = "00"

[[package]]
name = "a"
version = "2.0.0"
source = "registry+https://github.com/rust-lang/crates.io-index"

[[package]]
name = "b"
version = "0.1.0"
source = "git+https://example.com/b#00"

[[package]]
name = "ours"
version = "0.1.0"
dependencies = [
 "a 1.0.0",
]
"#;

#[test]
fn sources_are_known() {
    let faults = sources(&locked(LOCK));
    assert_eq!(
        faults,
        [
            "a 2.0.0 has no checksum",
            "b 0.1.0 comes from git+https://example.com/b#00"
        ]
    );
}

#[test]
fn several_versions_are_listed() {
    let check = |skipped: &[&str]| {
        versions(
            &locked(LOCK),
            &skipped.iter().map(|&text| text.to_owned()).collect(),
        )
    };
    assert_eq!(check(&["a@1.0.0"]), [""; 0]);
    assert_eq!(check(&[]), ["a is there several times: 1.0.0, 2.0.0"]);
    assert_eq!(
        check(&["a@1.0.0", "b@0.1.0"]),
        ["deny.toml skips b@0.1.0, which is not there twice"]
    );
}

#[test]
fn licences_are_allowed() {
    let package = |license: Option<&str>, source: Option<&str>| Package {
        name: "a".into(),
        version: "1".into(),
        source: source.map(str::to_owned),
        license: license.map(str::to_owned),
        dependencies: Vec::new(),
    };
    let allowed = BTreeSet::from(["MIT".to_owned()]);
    let check = |license| licences(&[package(license, Some(CRATES_IO))], &allowed).join("");
    assert_eq!(check(Some("MIT")), "");
    assert_eq!(
        check(Some("GPL-3.0")),
        "the licence of a 1 is not allowed: GPL-3.0"
    );
    assert_eq!(
        check(Some("MIT OR (")),
        "the licence of a 1 is not read: MIT OR ("
    );
    assert_eq!(check(None), "a 1 names no licence");
    assert!(licences(&[package(None, None)], &allowed).is_empty());
}
