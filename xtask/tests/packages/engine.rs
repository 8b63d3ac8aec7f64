//! Objects become decisions in one place: what may evaluate them, and what may know suites of tests.

use std::fs;
use std::path::{Path, PathBuf};

use super::{metadata, workspace};

/// What evaluates requests: the engine of the tools, and the facade for servers.
const EVALUATES: [&str; 2] = ["crates/pratique-review/", "crates/pratique/"];

/// Parts of the program that know suites of tests: their command, what a project file says of them, and the page of their fields.
const WITH_SUITES: [&str; 4] = [
    "test.rs",
    "test/",
    "project/directory_contents.rs",
    "reference/fields.rs",
];

/// The sources of the crates, by their paths below the workspace.
pub(super) fn sources(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let is_source = path.extension().is_some_and(|extension| extension == "rs");
        if path.is_dir() && !path.ends_with("tests") && !path.ends_with("target") {
            files.extend(sources(&path));
        } else if is_source {
            files.push(path);
        }
    }
    files
}

/// The sources that have a text besides comments, as paths below the workspace.
fn having(directory: &str, text: &str) -> Vec<String> {
    let workspace = workspace().canonicalize().unwrap();
    let is_code = |line: &str| !line.trim_start().starts_with("//");
    let mut files: Vec<String> = sources(&workspace.join(directory))
        .into_iter()
        .filter(|path| {
            let source = fs::read_to_string(path).unwrap();
            source.lines().any(|line| is_code(line) && line.contains(text))
        })
        .map(|path| {
            path.strip_prefix(&workspace)
                .unwrap()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    files.sort_unstable();
    files
}

#[test]
fn objects_are_evaluated_in_one_place() {
    let mut others = having("crates", "admit_policies(");
    assert!(others.len() > 2, "{others:?}");
    others.retain(|file| !EVALUATES.iter().any(|place| file.starts_with(place)));
    // Tests of crates below the engine.
    others.retain(|file| !file.contains("/tests"));
    assert!(
        others.is_empty(),
        "only a `Reviewer` or, for servers, an `Admission` evaluates objects: {others:?}"
    );
}

#[test]
fn only_tests_know_suites() {
    let program = "crates/pratique-cli/src/";
    let mut others = having(program, "pratique_suite");
    assert!(others.len() > 3, "{others:?}");
    others.retain(|file| {
        let part = file.strip_prefix(program).unwrap();
        !WITH_SUITES.iter().any(|place| part.starts_with(place))
    });
    assert_eq!(others, Vec::<String>::new());
}

#[test]
fn only_the_program_knows_a_terminal() {
    for word in ["IsTerminal", "is_terminal", "anstyle"] {
        let files = having("crates", word);
        let mut others = files
            .iter()
            .filter(|file| !file.starts_with("crates/pratique-cli/"));
        assert_eq!(others.next(), None, "{word}");
    }
    assert!(!having("crates", "IsTerminal").is_empty());
}

#[test]
fn adapters_know_no_suites() {
    let packages = metadata();
    for adapter in ["pratique-wasm", "pratique-arrow"] {
        let package = packages.iter().find(|package| package.name == adapter).unwrap();
        let mut needed = package.dependencies.iter();
        assert!(
            needed.all(|dependency| dependency.name != "pratique-suite"),
            "{adapter}"
        );
    }
}

#[test]
fn suites_know_no_formats_of_other_programs() {
    let packages = metadata();
    let suites = packages
        .iter()
        .find(|package| package.name == "pratique-suite")
        .unwrap();
    let mut needed = suites.dependencies.iter();
    assert!(needed.all(|dependency| dependency.name != "pratique-foreign"));
    for word in ["kyverno", "gatekeeper"] {
        assert_eq!(having("crates/pratique-suite/src", word), Vec::<String>::new());
    }
}
