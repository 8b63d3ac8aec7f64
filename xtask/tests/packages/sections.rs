//! The sections "Inside" of ARCHITECTURE.md: each module that they name is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use super::engine::sources;
use super::workspace;

/// What sections name besides modules and items of their crate: commands, other crates, and words of the code.
const OTHERS: [&str; 6] = ["check", "cli", "group", "map", "review", "ring"];

/// The names of a section that are written as those of modules: `load`, `load/reload`.
fn names(section: &str) -> BTreeSet<&str> {
    let is_name = |text: &&str| {
        text.starts_with(|byte: char| byte.is_ascii_lowercase())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || b"_/".contains(&byte))
    };
    section.split('`').skip(1).step_by(2).filter(is_name).collect()
}

/// The sections with the directories of their crates.
fn sections(text: &str) -> Vec<(PathBuf, &str)> {
    let (_, inside) = text.split_once("\n## Inside the crates\n").unwrap();
    let (inside, _) = inside.split_once("\n## ").unwrap();
    let sections = inside.split("\n### Inside `").skip(1);
    sections
        .map(|section| {
            let (name, section) = section.split_once("`\n").unwrap();
            let directory = workspace().join("crates").join(name);
            assert!(directory.is_dir(), "{}", directory.display());
            (directory, section)
        })
        .collect()
}

/// Whether a source declares an item, or a field whose name says more than a word.
fn declares(source: &str, name: &str) -> bool {
    let kinds = ["fn", "mod", "struct", "enum", "trait", "const", "static"];
    let declared = kinds.map(|kind| format!("{kind} {name}"));
    let is_end = |rest: &str| {
        let next = rest.bytes().next();
        next.is_none_or(|byte| !byte.is_ascii_alphanumeric() && byte != b'_')
    };
    let is_declared = |text: &str| source.split(text).skip(1).any(is_end);
    declared.iter().any(|text| is_declared(text))
        || (name.contains('_') && source.contains(&format!("{name}:")))
}

#[test]
fn modules_that_are_named_are_there() {
    let text = fs::read_to_string(workspace().join("ARCHITECTURE.md")).unwrap();
    let sections = sections(&text);
    assert!(sections.len() > 15, "{}", sections.len());
    for (directory, section) in sections {
        // What is another crate's is named beside that.
        let others = section.split('`').filter(|name| name.starts_with("pratique-"));
        let others = others.map(|name| workspace().join("crates").join(name));
        let others: BTreeSet<PathBuf> = others.filter(|other| other.is_dir()).collect();
        let files: Vec<PathBuf> = others
            .iter()
            .chain([&directory])
            .flat_map(|directory| sources(directory))
            .collect();
        let paths: Vec<String> = files
            .iter()
            .map(|path| path.to_string_lossy().into_owned())
            .collect();
        let texts: Vec<String> = files
            .iter()
            .map(|path| fs::read_to_string(path).unwrap())
            .collect();
        let manifest = fs::read_to_string(directory.join("Cargo.toml")).unwrap();
        let is_there = |name: &&str| {
            let (file, folder) = (format!("/{name}.rs"), format!("/{name}/"));
            paths
                .iter()
                .any(|path| path.ends_with(&file) || path.contains(&folder))
                || texts.iter().any(|text| declares(text, name))
                || manifest.contains(&format!("\n{name} = "))
                || directory.join(name).is_dir()
                || directory.join(format!("{name}.rs")).is_file()
                || workspace().join(name).is_dir()
        };
        let gone: Vec<&str> = names(section)
            .into_iter()
            .filter(|name| !OTHERS.contains(name) && !is_there(name))
            .collect();
        assert!(gone.is_empty(), "{} has no {gone:?}", directory.display());
    }
}

#[test]
fn names_of_modules_are_told_from_others() {
    let section = "`load/reload` reads `--policies`; `Loader` has `content_hash`.";
    assert_eq!(names(section), BTreeSet::from(["load/reload", "content_hash"]));
    assert!(declares("pub(crate) fn read(", "read"));
    assert!(declares("lacks_old_object: true", "lacks_old_object"));
    assert!(!declares("fn reader() {}\ntold: bool", "read"));
    assert!(!declares("told: bool", "told"));
}
