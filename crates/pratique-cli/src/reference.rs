//! The pages of the reference in `docs/reference`, made of what the program itself uses: flags of the command line, rules and
//! warnings, metrics, fields of configuration files. `cargo xtask reference` writes them, and a test compares them.

mod catalogue;
mod commands;
mod fields;
mod markdown;
mod metrics;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What a page ends with.
const ORIGIN: &str = "\n<!-- Written by `cargo xtask reference`. -->\n";

/// All pages by their names below `docs/reference`.
fn pages() -> BTreeMap<String, String> {
    let mut pages = commands::pages();
    pages.insert("checks.md".to_owned(), catalogue::page());
    pages.insert("metrics.md".to_owned(), metrics::page());
    pages.insert("project-file.md".to_owned(), fields::project_file());
    pages.insert("suites.md".to_owned(), fields::suites());
    pages.insert("configuration.md".to_owned(), fields::configuration());
    for text in pages.values_mut() {
        *text += ORIGIN;
    }
    pages
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference")
}

/// The names of the pages that are there.
fn found() -> Vec<String> {
    let entries = fs::read_dir(directory()).into_iter().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn the_reference_is_that_of_the_program() {
    let pages = pages();
    let directory = directory();
    if std::env::var_os("BLESS").is_some() {
        fs::create_dir_all(&directory).unwrap();
        for name in found().iter().filter(|name| !pages.contains_key(*name)) {
            fs::remove_file(directory.join(name)).unwrap();
        }
        for (name, text) in &pages {
            fs::write(directory.join(name), text).unwrap();
        }
    }
    assert_eq!(found(), pages.keys().cloned().collect::<Vec<_>>());
    for (name, text) in &pages {
        let found = fs::read_to_string(directory.join(name)).unwrap();
        assert!(
            &found == text,
            "docs/reference/{name} is stale: `cargo xtask reference` writes it"
        );
    }
}
