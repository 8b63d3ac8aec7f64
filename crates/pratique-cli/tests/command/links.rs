//! The documentation as a site: each page is in its table of contents, and links lead to files, pages and headings that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The repository, to which pages refer for what is not on the site.
const REPOSITORY: &str = "https://github.com/pratique/pratique/blob/main/";

/// The pages that are made with the site; a test of `xtask` looks whether all of them are in its table of contents.
const MADE: &str = "library/";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// The files below a directory that end with `.md`.
fn documents(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            documents(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// The pages below `docs`, without those that are made with the site.
fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    let docs = root().join("docs");
    documents(&docs, &mut pages);
    pages.retain(|page| !page.starts_with(docs.join(MADE)));
    pages
}

/// A text without its blocks and words of code, in which nothing is a link.
fn prose(text: &str) -> String {
    let blocks = text.split("```").step_by(2);
    let words = |block: &str| block.split('`').step_by(2).collect::<Vec<_>>().join("code");
    blocks.map(words).collect()
}

/// The targets of the links of a document.
fn links(text: &str) -> Vec<String> {
    let text = prose(text);
    let targets = text.split("](").skip(1);
    targets
        .filter_map(|rest| Some(rest.split(')').next()?.to_owned()))
        .collect()
}

/// The headings of a document as links name them; of several that are alike, all but the first are numbered.
fn headings(text: &str) -> BTreeSet<String> {
    let blocks: String = text.split("```").step_by(2).collect();
    let mut counts = BTreeMap::new();
    let headings = blocks.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let line = line.trim_start_matches('#').trim().to_lowercase();
            let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
            let name = line.chars().filter(kept).collect::<String>().replace(' ', "-");
            let count = counts.entry(name.clone()).or_insert(0);
            *count += 1;
            match *count {
                1 => name,
                count => format!("{name}-{}", count - 1),
            }
        })
        .collect()
}

/// What is wrong with a link of a document.
fn fault(document: &Path, link: &str) -> Option<String> {
    let (file, heading) = link.split_once('#').unwrap_or((link, ""));
    let target = match file.strip_prefix(REPOSITORY) {
        Some(path) => root().join(path),
        // Other sites are not asked.
        None if file.contains("://") || file.starts_with("mailto:") => return None,
        None if file.is_empty() => document.to_owned(),
        None => document.parent().unwrap().join(file),
    };
    if !target.exists() {
        return Some(format!("{link}: there is no such file"));
    }
    let docs = root().join("docs");
    if document.starts_with(&docs)
        && !target.canonicalize().unwrap().starts_with(&docs)
        && !file.starts_with(REPOSITORY)
    {
        return Some(format!("{link}: it is not on the site; name it by {REPOSITORY}"));
    }
    if heading.is_empty() || target.extension().is_none_or(|extension| extension != "md") {
        return None;
    }
    let known = headings(&fs::read_to_string(target).unwrap()).contains(heading);
    (!known).then(|| format!("{link}: there is no such heading"))
}

#[test]
fn links_lead_somewhere() {
    let mut documents = pages();
    for name in [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "RELEASING.md",
        "SECURITY.md",
    ] {
        documents.push(root().join(name));
    }
    for directory in [
        "crates", "bindings", "editors", "tools", "testdata", "examples", "benches",
    ] {
        let readmes = fs::read_dir(root().join(directory)).unwrap();
        let readmes = readmes.map(|entry| entry.unwrap().path().join("README.md"));
        documents.extend(readmes.filter(|path| path.is_file()));
    }
    let mut count = 0;
    let mut faults = Vec::new();
    for document in &documents {
        let text = fs::read_to_string(document).unwrap();
        for link in links(&text).iter().filter(|link| !link.starts_with(MADE)) {
            count += 1;
            faults.extend(fault(document, link).map(|fault| format!("{}: {fault}", document.display())));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count > 200, "{count} links");
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let mut listed = links(&summary);
    listed.retain(|link| !link.starts_with(MADE));
    listed.sort();
    let pages = pages();
    let names = pages
        .iter()
        .map(|path| path.strip_prefix(&docs).unwrap().display().to_string());
    let mut names: Vec<String> = names.filter(|name| name != "SUMMARY.md").collect();
    names.sort();
    assert_eq!(listed, names);
}

#[test]
fn faults_of_links_are_found() {
    let page = root().join("docs/review.md");
    let fault = |link: &str| fault(&page, link).unwrap_or_default();
    for good in [
        "",
        "test.md",
        "test.md#testing-policies",
        "https://example.com/x#y",
        "reference/",
    ] {
        assert_eq!(fault(good), "", "{good}");
    }
    let crates = format!("{REPOSITORY}crates");
    assert_eq!(fault(&crates), "");
    assert!(fault(&format!("{REPOSITORY}nowhere")).contains("no such file"));
    assert!(fault("nowhere.md").contains("no such file"));
    assert!(fault("test.md#nowhere").contains("no such heading"));
    assert!(fault("#nowhere").contains("no such heading"));
    assert!(fault("../README.md").contains("not on the site"));
    assert_eq!(
        links("a [b](c) `[d](e)`\n```\n[f](g)\n```\n[h](i#j)"),
        ["c", "i#j"]
    );
    let found = headings("# A `b`, c\n## A\n```sh\n# no\n```\n## A\n");
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["a", "a-1", "a-b-c"]);
}
