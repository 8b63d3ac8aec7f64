//! The library's pages, which are made with the site in `docs/library`: each published crate with its own documentation, whose
//! examples the tests of the crate compile and run. A page for each table of ARCHITECTURE.md, in its order.

use std::collections::BTreeMap;
use std::fs;

use super::{Package, metadata, workspace};

/// The end of a page.
const ORIGIN: &str = "\n<!-- Written by `cargo xtask reference library`. -->\n";

/// The headings of the tables with what stands below each, of crates that are published.
fn tables(text: &str) -> Vec<(&str, &str)> {
    let (_, rest) = text.split_once("\n## The crates\n").unwrap();
    let (tables, _) = rest.split_once("\n### Not published\n").unwrap();
    let tables = tables.split("\n### ").skip(1);
    tables.filter_map(|table| table.split_once('\n')).collect()
}

/// The pages by their names.
fn pages(architecture: &str, packages: &[Package]) -> BTreeMap<String, String> {
    let page = |(heading, table): (&str, &str)| {
        let mut page = format!("# {heading}\n");
        let names = table
            .lines()
            .filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0));
        for name in names {
            let package = packages.iter().find(|package| package.name == name).unwrap();
            if package.is_library() {
                page += &section(package);
            }
        }
        let name = heading.to_lowercase().replace(' ', "-");
        (format!("{name}.md"), page + ORIGIN)
    };
    tables(architecture).into_iter().map(page).collect()
}

/// The section of a crate: its documentation.
fn section(package: &Package) -> String {
    let source = package.manifest_path.parent().unwrap().join("src/lib.rs");
    let source = fs::read_to_string(source).unwrap();
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let documentation: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    let name = &package.name;
    format!(
        "\n## `{name}`\n\n{}\n[Its API](https://docs.rs/{name}).\n",
        shown(&documentation)
    )
}

/// Documentation of a crate as rustdoc shows it: without the hidden lines of examples, and links to items as their names.
fn shown(documentation: &[&str]) -> String {
    let mut text = String::new();
    // What is open, and whether it is Rust.
    let mut code: Option<bool> = None;
    for line in documentation {
        if let Some(kind) = line.strip_prefix("```") {
            let is_rust = code.is_none() && matches!(kind, "" | "no_run" | "rust");
            code = match code {
                None => Some(is_rust),
                Some(_) => None,
            };
            text += if is_rust { "```rust\n" } else { line };
            if !is_rust {
                text.push('\n');
            }
            continue;
        }
        match code {
            Some(true) if line.starts_with("# ") || *line == "#" => continue,
            Some(_) => text += line,
            None if line.starts_with('#') => text += &format!("##{line}"),
            None => text += line,
        }
        text.push('\n');
    }
    without_items(&text)
}

/// A text whose links to items are their names: those that have no target, or a target that is a path of Rust.
fn without_items(text: &str) -> String {
    let mut shown = String::new();
    for (index, block) in text.split("```").enumerate() {
        if index > 0 {
            shown += "```";
        }
        match index % 2 {
            0 => shown += &prose(block),
            _ => shown += block,
        }
    }
    shown
}

fn prose(mut text: &str) -> String {
    let mut shown = String::new();
    while let Some((before, rest)) = text.split_once('[') {
        shown += before;
        let Some((name, after)) = rest.split_once(']') else {
            shown.push('[');
            text = rest;
            continue;
        };
        let target = after.strip_prefix('(').and_then(|target| target.split_once(')'));
        match target {
            Some((target, after)) if !target.contains("://") => {
                shown += name;
                text = after;
            }
            Some((target, after)) => {
                shown += &format!("[{name}]({target})");
                text = after;
            }
            None => {
                shown += name;
                text = after;
            }
        }
    }
    shown + text
}

#[test]
fn the_library_is_documented_as_its_crates_are() {
    let architecture = fs::read_to_string(workspace().join("ARCHITECTURE.md")).unwrap();
    let packages = metadata();
    let pages = pages(&architecture, &packages);
    let docs = workspace().join("docs");
    if std::env::var_os("BLESS").is_some() {
        let directory = docs.join("library");
        fs::create_dir_all(&directory).unwrap();
        for (name, text) in &pages {
            fs::write(directory.join(name), text).unwrap();
        }
    }
    let contents = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let listed = contents.split("](library/").skip(1);
    let listed: Vec<&str> = listed.filter_map(|rest| rest.split(')').next()).collect();
    let mut names: Vec<&str> = pages.keys().map(String::as_str).collect();
    assert_eq!(listed.len(), names.len(), "{listed:?}");
    names.retain(|name| !listed.contains(name));
    assert!(names.is_empty(), "docs/SUMMARY.md lacks {names:?}");
    let published = packages
        .iter()
        .filter(|package| package.is_published() && package.is_library());
    for package in published {
        let heading = format!("\n## `{}`\n", package.name);
        let page = pages.values().find(|page| page.contains(&heading));
        let (_, section) = page.unwrap().split_once(&heading).unwrap();
        let section = section.split("\n## ").next().unwrap();
        assert!(section.contains("```rust\n"), "{} has no example", package.name);
    }
}

#[test]
fn documentation_is_shown_as_rustdoc_does() {
    let documentation = [
        "Has [`Item`] and [others](crate::Others), see [this](https://example.com).",
        "# Examples",
        "```",
        "# hidden();",
        "let list = [1](2);",
        "```",
        "```text",
        "# shown",
        "```",
    ];
    assert_eq!(
        shown(&documentation),
        "Has `Item` and others, see [this](https://example.com).
### Examples
```rust
let list = [1](2);
```
```text
# shown
```
"
    );
}
