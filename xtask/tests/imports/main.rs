//! Imports within a crate: no more than three files import each other in a circle.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use tree::paths;

/// A module by its path within the crate; the root is empty.
type Module = Vec<String>;

/// The largest circle that is accepted: a few files may share one idea.
const LARGEST: usize = 3;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files of a crate by their modules, without those of unit tests.
fn modules(directory: &Path, above: &[String], found: &mut BTreeMap<Module, String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut module = above.to_vec();
        if path.is_dir() {
            module.push(stem);
            modules(&path, &module, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") && stem != "tests" {
            if !["lib", "main", "mod"].contains(&stem.as_str()) {
                module.push(stem);
            }
            found.insert(module, fs::read_to_string(&path).unwrap());
        }
    }
}

/// The other modules that a file imports from.
fn imported(module: &Module, text: &str, modules: &BTreeMap<Module, String>) -> BTreeSet<Module> {
    let mut found = BTreeSet::new();
    for path in paths(text) {
        let mut names = path.as_slice();
        let mut full = match path.first().map(String::as_str) {
            Some("crate") => Module::new(),
            Some("self" | "super") => module.clone(),
            _ => continue,
        };
        while let Some((first @ ("crate" | "self" | "super"), rest)) =
            names.split_first().map(|(first, rest)| (first.as_str(), rest))
        {
            if first == "super" {
                full.pop();
            }
            names = rest;
        }
        full.extend(names.iter().cloned());
        // What is imported is the module that the path leads to, or an item in it.
        while !modules.contains_key(&full) {
            full.pop();
        }
        if full != *module {
            found.insert(full);
        }
    }
    found
}

/// All modules that imports lead to.
fn reached<'m>(from: &'m Module, edges: &'m BTreeMap<Module, BTreeSet<Module>>) -> BTreeSet<&'m Module> {
    let mut found = BTreeSet::new();
    let mut left = vec![from];
    while let Some(module) = left.pop() {
        left.extend(edges[module].iter().filter(|next| found.insert(*next)));
    }
    found
}

/// The circles of imports below a directory of sources.
fn circles(sources: &Path) -> BTreeSet<Vec<Module>> {
    let mut files = BTreeMap::new();
    modules(sources, &[], &mut files);
    files.entry(Module::new()).or_default();
    let edges: BTreeMap<Module, BTreeSet<Module>> = files
        .iter()
        .map(|(module, text)| (module.clone(), imported(module, text, &files)))
        .collect();
    let reached: BTreeMap<&Module, _> = edges.keys().map(|from| (from, reached(from, &edges))).collect();
    let circle = |from: &&Module| {
        let back = reached[*from].iter().filter(|to| reached[**to].contains(*from));
        back.map(|module| (*module).clone()).collect::<Vec<_>>()
    };
    edges
        .keys()
        .map(|from| circle(&from))
        .filter(|circle| circle.len() > 1)
        .collect()
}

#[test]
fn no_large_circles() {
    let mut crates = 0;
    let mut faults = Vec::new();
    for directory in ["crates", "tools"] {
        for entry in fs::read_dir(root().join(directory)).unwrap() {
            let sources = entry.unwrap().path().join("src");
            if !sources.is_dir() {
                continue;
            }
            crates += 1;
            for circle in circles(&sources)
                .into_iter()
                .filter(|circle| circle.len() > LARGEST)
            {
                let names: Vec<String> = circle.iter().map(|module| module.join("::")).collect();
                faults.push(format!("{}: {}", sources.display(), names.join(", ")));
            }
        }
    }
    assert!(crates > 30, "{crates} crates");
    assert!(
        faults.is_empty(),
        "files that import each other in a circle:\n{}",
        faults.join("\n")
    );
}

#[test]
fn circles_are_found() {
    let (a, b) = (vec!["a".to_owned()], vec!["b".to_owned()]);
    let text = |text: &str| text.to_owned();
    let files = BTreeMap::from([
        (Module::new(), text("mod a;\nmod b;\npub use a::A;")),
        (
            a.clone(),
            text("use crate::b::{B, self as other};\nuse std::fmt;"),
        ),
        (b.clone(), text("// use crate::c::C;\nuse super::a::A;")),
    ]);
    let imports = |module: &Module| imported(module, &files[module], &files);
    assert_eq!(imports(&a), BTreeSet::from([b.clone()]));
    assert_eq!(imports(&b), BTreeSet::from([a]));
    assert!(imports(&Module::new()).is_empty());
}
