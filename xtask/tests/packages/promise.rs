//! What the crates promise: `docs/library-users.md` says of each whether its interface is stable, the READMEs of the others say that
//! it is not, and `.ci/semver` reads it there. Features are documented where they are chosen. Errors may get further variants.

use std::collections::BTreeSet;
use std::fs;

use super::engine::sources;
use super::{Package, metadata, workspace};

/// The beginning of the README of a crate without a promise, below its heading. `.ci/semver` looks for the first words.
const DETAIL: &str = "\n**An implementation detail of Pratique**: it makes no promise. Any release may change or drop what is public here.\n";

/// The crates in the first column of the table below a heading.
fn listed(page: &str, heading: &str) -> BTreeSet<String> {
    let (_, rest) = page.split_once(&format!("\n### {heading}\n")).unwrap();
    let table = rest.split("\n### ").next().unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| "));
    let cells = rows.filter_map(|row| row.split(" | ").next());
    let names = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    names
        .filter(|name| name.starts_with("pratique-"))
        .map(str::to_owned)
        .collect()
}

fn readme(package: &Package) -> String {
    fs::read_to_string(package.manifest_path.with_file_name("README.md")).unwrap()
}

fn published() -> Vec<Package> {
    let packages = metadata().into_iter();
    packages
        .filter(|package| package.is_published() && package.is_library())
        .collect()
}

#[test]
fn every_crate_says_what_it_promises() {
    let page = fs::read_to_string(workspace().join("docs/library-users.md")).unwrap();
    let [promises, details] =
        ["With a promise", "Implementation details"].map(|heading| listed(&page, heading));
    assert!(promises.is_disjoint(&details));
    let packages = published();
    let all: BTreeSet<String> = packages.iter().map(|package| package.name.clone()).collect();
    assert_eq!(promises.union(&details).cloned().collect::<BTreeSet<_>>(), all);
    for package in &packages {
        let name = &package.name;
        let is_detail = readme(package).starts_with(&format!("# {name}\n{DETAIL}"));
        assert_eq!(is_detail, details.contains(name), "the README.md of {name}");
    }
}

/// Runs `.ci/semver`.
fn semver(arguments: &[&str]) -> std::process::Output {
    let mut command = std::process::Command::new(workspace().join(".ci/semver"));
    command.args(arguments).output().unwrap()
}

#[test]
fn promises_are_compared_with_those_of_a_revision() {
    let run = semver(&["--dry-run", "HEAD"]);
    assert!(run.status.success(), "{run:?}");
    let line = String::from_utf8(run.stdout).unwrap();
    let rest = line
        .strip_prefix("cargo semver-checks --baseline-rev HEAD ")
        .unwrap();
    let named: BTreeSet<&str> = rest
        .split_whitespace()
        .filter(|word| *word != "--package")
        .collect();
    let page = fs::read_to_string(workspace().join("docs/library-users.md")).unwrap();
    let promises = listed(&page, "With a promise");
    assert_eq!(named, promises.iter().map(String::as_str).collect());
    let unknown = semver(&["--dry-run", "nosuch"]);
    assert_eq!(unknown.status.code(), Some(2), "{unknown:?}");
}

#[test]
fn features_are_documented() {
    for package in published() {
        let source = fs::read_to_string(package.manifest_path.with_file_name("src/lib.rs")).unwrap();
        let lines = source.lines().filter(|line| line.starts_with("//!"));
        let documentation = lines.collect::<Vec<_>>().join("\n") + &readme(&package);
        let features = package.features.keys().filter(|name| *name != "default");
        for feature in features {
            assert!(
                documentation.contains(&format!("`{feature}`")),
                "neither the README.md nor the documentation of {} names its feature {feature}",
                package.name
            );
        }
    }
}

/// Errors of which programs have to treat every variant, so that a further one is to break them.
const COMPLETE: [&str; 10] = [
    "pratique-audit::Error",
    "pratique-cel::OutOfMemory",
    "pratique-objects::PatchError",
    "pratique-plugin::StartError",
    "pratique-request::BuildError",
    "pratique-review::StartFailure",
    "pratique-stream::StreamError",
    "pratique-validation::OpenQuestion",
    "pratique-validation::Rejection",
    "pratique-watch::StartError",
];

/// The public enums of a source that are errors, and whether programs have to expect further variants of each.
fn error_enums(source: &str) -> Vec<(&str, bool)> {
    let mut enums = Vec::new();
    let (mut is_error, mut may_grow) = (false, false);
    for line in source.lines() {
        let is_continued = line.starts_with("    ") || line.starts_with(')');
        match line.strip_prefix("pub enum ") {
            Some(rest) if is_error => {
                let name = rest.split(|c: char| !c.is_alphanumeric()).next();
                enums.extend(name.map(|name| (name, may_grow)));
            }
            _ if line.starts_with("#[") || is_continued || line.starts_with("///") => {
                is_error |= line.starts_with("#[derive(") && line.contains("Error");
                may_grow |= line == "#[non_exhaustive]";
                continue;
            }
            _ => {}
        }
        (is_error, may_grow) = (false, false);
    }
    enums
}

#[test]
fn errors_may_get_further_variants() {
    let mut complete = BTreeSet::new();
    for package in published() {
        if readme(&package).contains(DETAIL) {
            continue;
        }
        for path in sources(&package.manifest_path.with_file_name("src")) {
            let source = fs::read_to_string(&path).unwrap();
            let closed = error_enums(&source).into_iter().filter(|(_, may_grow)| !may_grow);
            complete.extend(closed.map(|(name, _)| format!("{}::{name}", package.name)));
        }
    }
    assert_eq!(complete, COMPLETE.map(str::to_owned).into());
}

#[test]
fn error_enums_are_found() {
    let source = "/// A.\n#[derive(Debug, thiserror::Error)]\n#[non_exhaustive]\npub enum A {\n    #[error(\"a\")]\n    One,\n}\n\n\
        #[derive(Debug)]\npub enum B {}\n\n#[derive(Error)]\npub enum C<'a> {}\n#[derive(Error)]\nenum D {}\n";
    assert_eq!(error_enums(source), [("A", true), ("C", false)]);
}

#[test]
fn crates_are_listed_in_a_table() {
    let page = "\n### A\n\n| crate | for |\n|---|---|\n| `pratique-a`, as `b` | `pratique-x` |\n| `pratique-c` | d |\n\n### B\n";
    let expected = ["pratique-a", "pratique-c"].map(str::to_owned);
    assert_eq!(listed(page, "A"), BTreeSet::from(expected));
}
