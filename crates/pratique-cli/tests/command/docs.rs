//! The documentation is current: commands with their output, and files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// The current content of a block: the output of its commands, or the file that its first line names.
fn block(language: &str, content: &str) -> String {
    match language {
        "console" => content
            .lines()
            .filter(|line| line.starts_with("$ "))
            .map(|line| format!("{line}\n{}", output(line)))
            .collect(),
        "yaml" => match content
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("# docs/"))
        {
            Some(name) => {
                let text = fs::read_to_string(root().join("docs").join(name)).unwrap();
                format!("# docs/{name}\n{}", text.split_once('\n').unwrap().1)
            }
            None => content.to_owned(),
        },
        // A file of the repository.
        "rust" => match content
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("// crates/"))
        {
            Some(name) => {
                let text = fs::read_to_string(root().join("crates").join(name)).unwrap();
                format!("// crates/{name}\n{text}")
            }
            None => content.to_owned(),
        },
        _ => content.to_owned(),
    }
}

/// The output of a command. Of shell syntax only quotes are supported.
fn output(line: &str) -> String {
    let arguments = line.trim_start_matches("$ pratique ").split(' ');
    let run = Command::new(env!("CARGO_BIN_EXE_pratique"))
        .args(arguments.map(|argument| argument.trim_matches('\'')))
        .current_dir(root())
        .env_clear()
        .output()
        .unwrap();
    String::from_utf8(run.stdout).unwrap()
}

#[track_caller]
fn check(document: &str) {
    let path = root().join(document);
    let text = fs::read_to_string(&path).unwrap();
    let mut expected = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("```") {
        let (language, after) = after.split_once('\n').unwrap();
        let (content, after) = after.split_once("```").unwrap();
        expected += &format!("{before}```{language}\n{}```", block(language, content));
        rest = after;
    }
    expected += rest;
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &expected).unwrap();
        return;
    }
    assert!(text == expected, "{document}: expected\n{expected}");
}

#[test]
fn documents_show_what_is() {
    check("README.md");
    check("docs/check.md");
    check("docs/configuration.md");
    check("docs/library-users.md");
    check("docs/operators.md");
    check("docs/platform-engineers.md");
    check("docs/policies-and-state.md");
    check("docs/replay.md");
    check("docs/review.md");
    check("docs/scan.md");
    check("docs/test.md");
    check("docs/tutorial.md");
    check("docs/upgrade.md");
    check("docs/what-would-my-cluster-do.md");
}

/// The commands in a document, each with the flags that it is shown with.
fn commands(text: &str) -> Vec<(String, Vec<String>)> {
    let mut commands = Vec::new();
    // A pipe within a table is escaped.
    let parts = text.split(['`', '\n', '|', '&']);
    for part in parts.filter_map(|part| part.trim().trim_start_matches("$ ").strip_prefix("pratique ")) {
        let mut words = part.split([' ', '=']).take_while(|word| !word.starts_with('#'));
        let name = words.next().unwrap_or_default();
        let flags = words.filter(|word| word.starts_with("--"));
        let flags = flags.map(|flag| flag.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-'));
        commands.push((name.to_owned(), flags.map(str::to_owned).collect()));
    }
    commands.retain(|(name, _)| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase()));
    commands
}

/// The help text of a command.
fn help(name: &str) -> String {
    let run = Command::new(env!("CARGO_BIN_EXE_pratique"))
        .args([name, "--help"])
        .output()
        .unwrap();
    assert!(run.status.success(), "there is no command {name}");
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn commands_that_are_shown_exist() {
    let mut helps = std::collections::BTreeMap::new();
    let mut count = 0;
    for page in [
        "ci",
        "editors",
        "install",
        "library-users",
        "operators",
        "platform-engineers",
        "policies-and-state",
        "replay",
        "review",
        "run-in-the-api-server",
        "run-as-a-webhook",
        "scan",
        "shells",
        "test",
        "tutorial",
        "webhooks",
    ] {
        let text = fs::read_to_string(root().join(format!("docs/{page}.md"))).unwrap();
        for (name, flags) in commands(&text) {
            let help = helps.entry(name.clone()).or_insert_with(|| help(&name));
            for flag in flags {
                count += 1;
                let is_flag = |word: &str| word.split([',', '[']).next() == Some(&*flag);
                assert!(
                    help.split_whitespace().any(is_flag),
                    "docs/{page}.md: pratique {name} has no {flag}"
                );
            }
        }
    }
    assert!(count > 30, "{count} flags");
}

/// Whether code begins on a line and does not end on it: it ends at as many backticks as it begins with.
fn has_open_code(line: &str) -> bool {
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        let code = rest.get(start..).unwrap_or_default();
        let quotes = "`".repeat(code.bytes().take_while(|byte| *byte == b'`').count());
        let Some((_, after)) = code
            .get(quotes.len()..)
            .unwrap_or_default()
            .split_once(quotes.as_str())
        else {
            return true;
        };
        rest = after;
    }
    false
}

/// Code that is broken over two lines is found by no search, and copied with the break.
#[test]
fn code_stands_on_one_line() {
    let documents = fs::read_dir(root())
        .unwrap()
        .chain(fs::read_dir(root().join("docs")).unwrap());
    let mut broken = Vec::new();
    for entry in documents {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let mut is_fenced = false;
        for (line, content) in text.lines().enumerate() {
            is_fenced ^= content.trim_start().starts_with("```");
            if !is_fenced && !content.trim_start().starts_with("```") && has_open_code(content) {
                broken.push(format!("{}:{}: {content}", path.display(), line + 1));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
