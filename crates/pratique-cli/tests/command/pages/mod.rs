//! What the pages of the documentation and the help texts say is tried: `sections.txt` has, for each section, how many statements
//! it makes and the tests that try them. Who adds a statement or a section enters its test here.

mod configuration;
mod inputs;
mod mutations;
mod numbers;
#[cfg(feature = "kube")]
mod permissions;
mod tools;
mod webhooks;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::shells::commands;
use crate::support::Directory;

const SECTIONS: &str = include_str!("sections.txt");

/// Pages that are made of something that is tried: of help texts, of crates, of walks, or of other pages.
const GENERATED: [&str; 1] = ["docs/SUMMARY.md"];

/// How many statements no test tries, for the reasons that are given: no more are to come.
const UNTRIED: usize = 8;

/// What is known of a section.
struct Section<'a> {
    page: &'a str,
    name: &'a str,
    statements: usize,
    /// The tests; or why there are none.
    tests: Result<Vec<&'a str>, &'a str>,
}

fn sections() -> Vec<Section<'static>> {
    let mut page = "";
    let mut sections = Vec::new();
    for line in SECTIONS.lines().filter(|line| !line.is_empty()) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            page = name;
            continue;
        }
        let (name, rest) = line.split_once(" = ").unwrap_or_else(|| panic!("{line}"));
        let (statements, tests) = rest.split_once(": ").unwrap_or_else(|| panic!("{line}"));
        sections.push(Section {
            page,
            name,
            statements: statements.parse().unwrap(),
            tests: match tests.strip_prefix("untried, ") {
                Some(why) => Err(why),
                None => Ok(tests.split(", ").collect()),
            },
        });
    }
    sections
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The pages that people write, by their paths.
fn pages() -> Vec<String> {
    let files = fs::read_dir(root().join("docs")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let pages = names
        .filter(|name| name.ends_with(".md"))
        .map(|name| format!("docs/{name}"));
    let mut pages: Vec<String> = pages.filter(|page| !GENERATED.contains(&page.as_str())).collect();
    pages.push("README.md".to_owned());
    pages.sort();
    pages
}

/// The headings of a page, each with the number of statements below it.
fn statements_of(page: &str) -> Vec<(String, usize)> {
    let mut sections: Vec<(String, String)> = Vec::new();
    let mut is_code = false;
    for line in page.lines() {
        is_code ^= line.starts_with("```");
        match sections.last_mut() {
            _ if !is_code && line.starts_with('#') => {
                sections.push((line.trim_start_matches('#').trim().to_owned(), String::new()));
            }
            Some((_, text)) => {
                text.push_str(line);
                text.push('\n');
            }
            None => {}
        }
    }
    sections
        .into_iter()
        .map(|(name, text)| (name, statements(&text)))
        .collect()
}

/// How many statements a text makes: sentences, items of lists and rows of tables, and nothing within code.
fn statements(text: &str) -> usize {
    let mut count = 0;
    let mut block = String::new();
    let mut is_code = false;
    for line in text.lines().chain([""]).map(str::trim) {
        let is_fence = line.starts_with("```");
        let is_row = line.starts_with('|');
        let item = item(line);
        if is_fence || line.is_empty() || is_row || item.is_some() {
            count += sentences(&block);
            block.clear();
        }
        is_code ^= is_fence;
        match is_row {
            _ if is_code || is_fence => {}
            true => count += 1,
            false => {
                block.push_str(item.unwrap_or(line));
                block.push(' ');
            }
        }
    }
    count
}

/// The text of an item of a list.
fn item(line: &str) -> Option<&str> {
    let number = line.trim_start_matches(|character: char| character.is_ascii_digit());
    let is_numbered = number.len() < line.len();
    line.strip_prefix("- ")
        .or_else(|| number.strip_prefix(". ").filter(|_| is_numbered))
}

fn sentences(block: &str) -> usize {
    let block = block.trim();
    match block.is_empty() {
        true => 0,
        false => {
            [". ", "? ", "! "]
                .map(|end| block.matches(end).count())
                .iter()
                .sum::<usize>()
                + 1
        }
    }
}

/// The help texts, by the line that asks for them.
fn helps() -> Vec<(String, usize)> {
    let directory = Directory::new();
    let mut all = vec![String::new()];
    all.extend(commands(&directory));
    all.push("report merge".to_owned());
    all.into_iter()
        .map(|command| {
            let words: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
            let help = directory.run(&words);
            help.exits(0);
            let name = format!("pratique {command}").trim_end().to_owned();
            (name, statements(&help.stdout))
        })
        .collect()
}

/// The sections of all pages and help texts: the page, the name, and how many statements it makes.
fn found() -> Vec<(String, String, usize)> {
    let mut found = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(root().join(&page)).unwrap();
        let sections = statements_of(&text).into_iter();
        found.extend(sections.map(|(name, statements)| (page.clone(), name, statements)));
    }
    // The program knows more commands and flags with a cluster.
    if cfg!(feature = "kube") {
        let helps = helps().into_iter();
        found.extend(helps.map(|(name, statements)| ("help".to_owned(), name, statements)));
    }
    found
}

#[test]
fn every_statement_has_a_test() {
    let found = found();
    let sections = sections();
    let mut known = BTreeMap::new();
    for section in &sections {
        let before = known.insert((section.page, section.name), section.statements);
        assert_eq!(
            before, None,
            "{} of {} is there twice",
            section.name, section.page
        );
    }
    let mut wrong = String::new();
    for (page, name, statements) in &found {
        let listed = known.remove(&(page.as_str(), name.as_str()));
        if listed != Some(*statements) {
            writeln!(
                wrong,
                "[{page}] {name} = {statements}, where {} are known: which tests try them?",
                listed.unwrap_or_default()
            )
            .unwrap();
        }
    }
    known.retain(|(page, _), _| cfg!(feature = "kube") || *page != "help");
    let gone: Vec<_> = known.keys().collect();
    assert!(
        wrong.is_empty() && gone.is_empty(),
        "{wrong}these are gone: {gone:?}"
    );
}

/// Whether a test exists: `module::function` of these, or `path/of/file.rs::function`; all of a file without a function.
fn is_test(test: &str) -> bool {
    let (file, function) = match test.rsplit_once("::") {
        Some((file, function)) => (file, Some(function)),
        None => (test, None),
    };
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/command");
    let candidates = match file.contains('/') {
        true => vec![root().join(file)],
        false => vec![
            here.join(format!("{}.rs", file.replace("::", "/"))),
            here.join(file.replace("::", "/")).join("mod.rs"),
        ],
    };
    let Some(text) = candidates.iter().find_map(|path| fs::read_to_string(path).ok()) else {
        return false;
    };
    let is_function = |name: &str| {
        ["fn ", "def ", "test(\"", "test('"]
            .iter()
            .any(|begin| text.contains(&format!("{begin}{name}")))
    };
    match function {
        Some(name) => is_function(name),
        None => ["#[test]", "#[tokio::test", "test("]
            .iter()
            .any(|begin| text.contains(begin)),
    }
}

#[test]
fn tests_that_are_named_exist() {
    let sections = sections();
    let named = sections.iter().flat_map(|section| section.tests.iter().flatten());
    let missing: Vec<_> = named.filter(|test| !is_test(test)).collect();
    assert!(missing.is_empty(), "there are no tests {missing:?}");
    assert!(!is_test("pages::nothing_of_that_name") && !is_test("nowhere::at_all"));
}

#[test]
fn nothing_more_is_untried() {
    let sections = sections();
    let untried = sections.iter().filter(|section| section.tests.is_err());
    assert_eq!(untried.map(|section| section.statements).sum::<usize>(), UNTRIED);
}

#[test]
fn statements_are_counted() {
    let page = "# A\n\nOne. Two\nlines? Three:\n\n```sh\n# no. heading.\n```\n\n- four\n  goes on\n- five. Six\n\n\
                ## B\n\n| h |\n|---|\n| row. |\n\n1. one\n";
    let expected = [("A".to_owned(), 6), ("B".to_owned(), 4)];
    assert_eq!(statements_of(page), expected);
}
