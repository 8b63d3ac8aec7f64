//! `kubectl pratique`: the program under the names by which kubectl runs it.

use std::os::unix::fs::symlink;
use std::process::{Command, Output};

use crate::support::Directory;

/// A directory with the program under both names.
fn plugin() -> Directory {
    let directory = Directory::new().with("policies/empty.txt", "");
    for name in ["kubectl-pratique", "kubectl_complete-pratique"] {
        symlink(env!("CARGO_BIN_EXE_pratique"), directory.path().join(name)).unwrap();
    }
    directory
}

fn run(directory: &Directory, program: &str, arguments: &[&str]) -> Output {
    let path = format!(
        "{}:{}",
        directory.path().display(),
        std::env::var("PATH").unwrap()
    );
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directory.path());
    command.env("PATH", path).env("HOME", directory.path());
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn help_says_what_is_typed() {
    let directory = plugin();
    let plugin = directory.path().join("kubectl-pratique");
    let run = |arguments: &[&str]| run(&directory, plugin.to_str().unwrap(), arguments);
    let help = text(&run(&["--help"]).stdout);
    assert!(
        help.contains("Usage: kubectl pratique [OPTIONS] <COMMAND>"),
        "{help}"
    );
    let help = text(&run(&["check", "--help"]).stdout);
    assert!(help.contains("Usage: kubectl pratique check "), "{help}");
    let wrong = run(&["check", "--no-such-flag"]);
    let output = text(&wrong.stderr);
    assert_eq!(wrong.status.code(), Some(2), "{output}");
    assert!(output.contains("Usage: kubectl pratique check "), "{output}");
    let missing = run(&["check", "nowhere"]);
    assert_eq!(missing.status.code(), Some(2), "{}", text(&missing.stderr));
}

#[test]
fn words_are_completed_as_kubectl_asks() {
    let directory = plugin();
    let program = directory.path().join("kubectl_complete-pratique");
    let asked = |words: &[&str]| {
        let run = run(&directory, program.to_str().unwrap(), words);
        assert!(run.status.success(), "{}", text(&run.stderr));
        text(&run.stdout)
    };
    let commands = asked(&[""]);
    assert!(commands.starts_with("check\tCheck "), "{commands}");
    assert!(commands.ends_with("\n:4\n"), "{commands}");
    assert!(asked(&["check", "--output", "sar"]).starts_with("sarif\t"));
    // The shell completes names of files.
    assert_eq!(asked(&["check", ""]), ":0\n");
    assert_eq!(asked(&[]), ":0\n");
}

/// The protocol is that of kubectl, where there is one.
#[test]
fn kubectl_finds_and_completes_the_plugin() {
    let directory = plugin();
    if Command::new("kubectl")
        .arg("version")
        .arg("--client")
        .output()
        .is_err()
    {
        eprintln!("NOT TESTED: there is no kubectl that would run the plugin");
        return;
    }
    let version = run(&directory, "kubectl", &["pratique", "--version"]);
    let output = text(&version.stdout);
    assert!(
        output.starts_with("pratique "),
        "{output}{}",
        text(&version.stderr)
    );
    let help = text(&run(&directory, "kubectl", &["pratique", "check", "--help"]).stdout);
    assert!(help.contains("Usage: kubectl pratique check "), "{help}");
    let code = run(&directory, "kubectl", &["pratique", "check", "nowhere"]);
    assert_eq!(code.status.code(), Some(2), "{}", text(&code.stderr));
    let words = ["__complete", "pratique", "check", "--output", "sar"];
    let completed = text(&run(&directory, "kubectl", &words).stdout);
    assert!(completed.starts_with("sarif\t"), "{completed}");
    let found = text(&run(&directory, "kubectl", &["plugin", "list"]).stdout);
    assert!(found.contains("kubectl-pratique"), "{found}");
}
