//! The examples do what they say.

#![allow(clippy::unwrap_used, reason = "a test may stop where it fails")]

#[path = "../examples/lint.rs"]
mod lint;

use std::fs;

use pratique_manifest::ManifestPlugin;

#[test]
fn lint_tells_all_problems() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    let plugin = ManifestPlugin::ValidatingAdmissionPolicy;
    assert_eq!(lint::lint(path, plugin), (format!("{path}: loads, \n"), true));
    fs::write(directory.path().join("a.yaml"), "kind: Pod\n").unwrap();
    fs::write(directory.path().join("b.yaml"), "--- oops\n").unwrap();
    let (report, loads) = lint::lint(path, plugin);
    assert!(!loads);
    assert!(
        report.contains("a.yaml:1:1: ") && report.contains("b.yaml:1:1: "),
        "{report}"
    );
    assert!(lint::main().is_err());
}
