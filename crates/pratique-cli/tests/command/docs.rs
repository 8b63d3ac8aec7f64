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
    check("docs/configuration.md");
    check("docs/policies-and-state.md");
    check("docs/review.md");
    check("docs/test.md");
    check("docs/what-would-my-cluster-do.md");
}
