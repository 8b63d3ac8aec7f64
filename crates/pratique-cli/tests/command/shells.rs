//! Completions of shells, and manual pages: they know every command and every flag.

use std::fs;
use std::process::Command;

use crate::support::Directory;

/// The names of the commands, as the help has them.
pub(crate) fn commands(directory: &Directory) -> Vec<String> {
    let help = directory.run(&["--help"]);
    let (_, list) = help.stdout.split_once("Commands:\n").unwrap();
    let list = list.split_once("\n\n").unwrap().0;
    let names = list.lines().filter_map(|line| line.strip_prefix("  "));
    let names = names.filter(|line| line.starts_with(|c: char| c.is_ascii_alphabetic()));
    let names: Vec<String> = names
        .map(|line| line.split(' ').next().unwrap().to_owned())
        .filter(|name| name != "help")
        .collect();
    assert!(
        names.len() >= 10 && names.contains(&"check".to_owned()),
        "{names:?}"
    );
    names
}

/// The long flags of a command, as its help has them.
fn flags(directory: &Directory, command: &str) -> Vec<String> {
    let help = directory.run(&[command, "--help"]).stdout;
    let flags = help.lines().map(str::trim_start);
    let flags = flags.filter_map(|line| {
        let line = line
            .strip_prefix("-")
            .filter(|line| line.starts_with('-') || line.contains(", --"))?;
        let (_, name) = line.split_once('-')?;
        let name = name.trim_start_matches('-');
        Some(
            name.split(|c: char| c != '-' && !c.is_ascii_alphanumeric())
                .next()?
                .to_owned(),
        )
    });
    flags.filter(|name| !name.is_empty()).collect()
}

#[test]
fn scripts_of_all_shells_name_all_commands() {
    let directory = Directory::new();
    let commands = commands(&directory);
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = directory.run(&["completions", shell]);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{shell}");
        for name in &commands {
            assert!(run.stdout.contains(name.as_str()), "{shell} does not know {name}");
        }
        for flag in flags(&directory, "check") {
            assert!(
                run.stdout.contains(&flag),
                "{shell} does not know --{flag} of check"
            );
        }
    }
    let unknown = directory.run(&["completions", "tcsh"]);
    assert_eq!(unknown.code, Some(2));
    // A project file that cannot be read is none of its business.
    let broken = Directory::new().with("pratique.yaml", "apiVersion: pratique/v1alpha1\nkind: [");
    assert_eq!(broken.run(&["completions", "bash"]).code, Some(0));
}

#[test]
fn bash_completes_with_the_script() {
    let directory = Directory::new();
    let script = directory.run(&["completions", "bash"]).stdout;
    fs::write(directory.path().join("pratique.bash"), script).unwrap();
    let completed = |words: &str| -> Vec<String> {
        let line = format!(
            "source ./pratique.bash; COMP_WORDS=({words} ''); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _pratique pratique '' \"${{COMP_WORDS[COMP_CWORD - 1]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let run = Command::new("bash")
            .args(["--noprofile", "--norc", "-c", &line])
            .current_dir(directory.path())
            .output()
            .unwrap();
        let text = String::from_utf8(run.stdout).unwrap();
        assert!(
            run.status.success(),
            "{text}{}",
            String::from_utf8_lossy(&run.stderr)
        );
        text.lines().map(str::to_owned).collect()
    };
    let all = completed("pratique");
    for name in commands(&directory) {
        assert!(all.contains(&name), "{name}: {all:?}");
    }
    let formats = completed("pratique check --output");
    assert!(formats.contains(&"sarif".to_owned()), "{formats:?}");
}

#[test]
fn every_command_has_a_manual_page() {
    let directory = Directory::new();
    let run = directory.run(&["man", "share/man1"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let page = |name: &str| {
        let text = fs::read_to_string(directory.path().join(format!("share/man1/{name}.1"))).unwrap();
        // Dashes are escaped.
        text.replace("\\-", "-")
    };
    let first = page("pratique");
    for name in commands(&directory) {
        assert!(
            first.contains(&format!("pratique-{name}(1)")),
            "pratique.1 does not name {name}"
        );
        let text = page(&format!("pratique-{name}"));
        assert!(text.contains(".TH"), "{name}");
        for flag in flags(&directory, &name) {
            assert!(
                text.contains(&format!("--{flag}")),
                "pratique-{name}.1 does not name --{flag}"
            );
        }
    }
    assert_eq!(directory.run(&["man", "share/man1"]).code, Some(0));
    fs::write(directory.path().join("file"), "").unwrap();
    let failed = directory.run(&["man", "file"]);
    assert_eq!(failed.code, Some(2), "{}", failed.stderr);
}
