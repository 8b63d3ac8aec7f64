//! The extension for Visual Studio Code: its own tests, with the program as its language server, and the walk of
//! `docs/walks/editor.md`, which `BLESS=1` writes.

use std::path::Path;
use std::process::Command;

/// The oldest version of Node that the tests run with.
const OLDEST: u32 = 20;

/// The major version of the Node that there is.
fn node() -> Option<u32> {
    let output = Command::new("node").arg("--version").output().ok()?;
    let version = String::from_utf8(output.stdout).ok()?;
    version.trim_start_matches('v').split('.').next()?.parse().ok()
}

#[test]
fn the_extension_works_with_the_program() {
    if node().is_none_or(|version| version < OLDEST) {
        eprintln!("NOT TESTED: there is no Node {OLDEST} for the extension of Visual Studio Code");
        return;
    }
    let extension = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/vscode");
    let run = Command::new("node")
        .args(["--test", "test/extension.test.js", "test/walk.test.js"])
        .current_dir(extension)
        .env("PRATIQUE", env!("CARGO_BIN_EXE_pratique"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(
        run.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&run.stderr)
    );
    assert!(text.contains("# fail 0"), "{text}");
}
