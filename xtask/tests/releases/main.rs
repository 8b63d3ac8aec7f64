//! What depends on the release of Kubernetes: ARCHITECTURE.md lists the places, each with the change upstream that is named beside
//! it. `BLESS=1 cargo test -p xtask --test releases` writes the table.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- releases: made by xtask/tests/releases -->\n";
const END: &str = "<!-- /releases -->\n";

/// How far above a condition its comment may stand.
const NEAR: usize = 12;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The source files below a directory, in order.
fn sources(directory: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.insert(path);
        }
    }
}

/// The release that a line asks for: `release.at_least(1, 37)`, or `release >= 37` where there is only its number.
fn asked_release(line: &str) -> Option<&str> {
    let code = line.trim_start();
    if code.starts_with("//") {
        return None;
    }
    let behind = code
        .split_once(".at_least(1, ")
        .or_else(|| code.split_once("release >= "))?
        .1;
    let end = behind
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(behind.len());
    behind.get(..end).filter(|minor| !minor.is_empty())
}

/// The comment that is nearest above a line, without its marks.
fn comment_above(lines: &[&str]) -> Option<String> {
    let is_comment = |line: &&str| line.trim_start().starts_with("//");
    let near = lines.len().saturating_sub(NEAR);
    let end = near + lines[near..].iter().rposition(is_comment)?;
    let start = lines[..end]
        .iter()
        .rposition(|line| !is_comment(line))
        .map_or(0, |at| at + 1);
    let texts = lines[start..=end].iter().map(|line| {
        let text = line.trim_start().trim_start_matches('/').trim();
        text.trim_start_matches("Upstream: ")
    });
    Some(texts.collect::<Vec<_>>().join(" "))
}

/// The rows of the table, and the places without a comment.
fn read_places() -> (Vec<String>, Vec<String>) {
    let (mut files, mut rows, mut unexplained) = (BTreeSet::new(), Vec::new(), Vec::new());
    sources(&root().join("crates"), &mut files);
    for path in files {
        let shown = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        let of_source = shown.contains("/src/") && !shown.ends_with("/tests.rs");
        if !of_source || shown == "crates/pratique-schema/src/release.rs" {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().take_while(|line| *line != "mod tests {").collect();
        let mut of_file = BTreeSet::new();
        for (at, line) in lines.iter().enumerate() {
            let Some(minor) = asked_release(line) else {
                continue;
            };
            match comment_above(&lines[..at]) {
                Some(comment) if of_file.insert((minor.to_owned(), comment.clone())) => {
                    let comment = comment.replace('|', "\\|");
                    let file = shown.trim_start_matches("crates/");
                    rows.push(format!("| `{file}` | 1.{minor} | {comment} |\n"));
                }
                Some(_) => {}
                None => unexplained.push(format!("{shown}:{}", at + 1)),
            }
        }
    }
    (rows, unexplained)
}

#[test]
fn places_that_depend_on_the_release_are_listed() {
    let (rows, unexplained) = read_places();
    assert!(
        unexplained.is_empty(),
        "no change is named beside {unexplained:#?}"
    );
    assert!(rows.len() > 10, "{rows:?}");
    let table = format!(
        "| in `crates/` | since | what changed |\n|---|---|---|\n{}",
        rows.concat()
    );
    let path = root().join("ARCHITECTURE.md");
    let text = fs::read_to_string(&path).unwrap();
    let (head, rest) = text.split_once(BEGIN).unwrap();
    let (listed, tail) = rest.split_once(END).unwrap();
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, [head, BEGIN, &table, END, tail].concat()).unwrap();
    } else {
        assert!(
            listed == table,
            "ARCHITECTURE.md lists other places: BLESS=1 writes them"
        );
    }
}

#[test]
fn conditions_are_found_with_what_is_named_beside_them() {
    assert_eq!(asked_release("    if release.at_least(1, 37) {"), Some("37"));
    assert_eq!(asked_release("    // release.at_least(1, 37)"), None);
    assert_eq!(asked_release("    if at_least(1, 37) {"), None);
    let lines = [
        "fn a() {",
        "    // Upstream: x.go, since",
        "    // 1.37.",
        "    let a = 1;",
    ];
    assert_eq!(comment_above(&lines).as_deref(), Some("x.go, since 1.37."));
}
