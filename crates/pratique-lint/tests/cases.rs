//! Policies of the kinds that people have asked about, with all warnings that they get: `testdata/lints/*.yaml`, and `*.txt` beside
//! each. A policy without warnings is the twin of one that has some. `BLESS=1` writes the texts.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop where it fails")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use pratique_manifest::{LoadOptions, Loader, ManifestFile, UncheckedExpressions};

/// The warnings about manifests of the API, one a line, each with its help.
fn lint(content: Vec<u8>) -> String {
    let path = "policy.yaml".to_owned();
    let file = ManifestFile { path, content };
    let set = Loader::for_api(&LoadOptions::new(&UncheckedExpressions))
        .load_files(&[file])
        .unwrap();
    let mut text = String::new();
    for warning in pratique_lint::lint(&[&set]) {
        let (place, name) = (warning.location.start, warning.lint.name);
        let help = warning.help.map(|help| format!("\n  {}", help.text));
        writeln!(
            text,
            "{}:{} {name}: {}{}",
            place.line,
            place.column,
            warning.message,
            help.unwrap_or_default()
        )
        .unwrap();
    }
    text
}

#[test]
fn cases_have_their_warnings_and_no_other() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/lints");
    let mut paths: Vec<_> = fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    paths.sort();
    assert!(paths.len() > 15, "{}", directory.display());
    let mut differences = String::new();
    for path in paths {
        let warnings = lint(fs::read(&path).unwrap());
        let golden = path.with_extension("txt");
        if std::env::var_os("BLESS").is_some() {
            fs::write(&golden, &warnings).unwrap();
        }
        let expected = fs::read_to_string(&golden).unwrap();
        if warnings != expected {
            writeln!(
                differences,
                "{}\nexpected:\n{expected}found:\n{warnings}",
                path.display()
            )
            .unwrap();
        }
    }
    assert!(differences.is_empty(), "{differences}");
}
