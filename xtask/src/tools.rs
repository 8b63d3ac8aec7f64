//! Tools with programs of their own, so that this one builds in seconds: built and run when they are asked for.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use pratique_harness::{cargo, workspace};

/// A tool below `tools/`.
#[derive(Debug)]
pub struct Tool {
    /// The task that it does, and the name of its directory.
    pub task: &'static str,
    /// What it does.
    pub about: &'static str,
}

/// All tools, in the order in which they are listed.
pub const TOOLS: &[Tool] = &[
    Tool {
        task: "conformance",
        about: "Run a directory of conformance cases and compare verdicts and texts",
    },
    Tool {
        task: "differential",
        about: "Look for differences from the reference with random cases, and make each small",
    },
    Tool {
        task: "e2e",
        about: "Run a real API server, and compare what it says with what Pratique says",
    },
    Tool {
        task: "load-test",
        about: "Put a server under load, and beside clients that are slow, large or gone",
    },
    Tool {
        task: "attack",
        about: "Attack a server and the commands with little memory and few files, and see whether others notice",
    },
    Tool {
        task: "page",
        about: "Look at the page of a server in a real browser",
    },
    Tool {
        task: "deploy",
        about: "Render what is deployed with Kustomize and Helm, and look whether it holds together",
    },
];

impl Tool {
    /// The tool that does a task.
    pub fn find(task: &str) -> Option<&'static Tool> {
        TOOLS.iter().find(|tool| tool.task == task)
    }

    /// The package of its program.
    pub fn package(&self) -> String {
        format!("pratique-{}", self.task)
    }

    /// Cargo, which builds it with the profile of this program, and runs it in the current directory.
    pub fn command(&self, profile: &str, arguments: impl IntoIterator<Item = OsString>) -> Command {
        let mut command = cargo::command();
        command
            .args([
                "run",
                "--quiet",
                "--profile",
                profile,
                "--package",
                &self.package(),
            ])
            .arg("--manifest-path")
            .arg(workspace::root().join("Cargo.toml"))
            .arg("--")
            .args(arguments);
        command
    }
}

/// The profile that a program was built with, by the directory that Cargo put it into.
pub fn profile(program: &Path) -> &str {
    let directory = program.parent().and_then(Path::file_name);
    match directory.and_then(|name| name.to_str()) {
        None | Some("debug") => "dev",
        Some(profile) => profile,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_packages_of_the_workspace() {
        for tool in TOOLS {
            let manifest = workspace::root().join("tools").join(tool.task).join("Cargo.toml");
            let text = std::fs::read_to_string(&manifest).unwrap();
            let name = format!("name = \"{}\"", tool.package());
            assert!(
                text.lines().any(|line| line == name),
                "{}: {name}",
                manifest.display()
            );
        }
    }

    #[test]
    fn profiles_are_those_of_directories() {
        for (program, expected) in [
            ("target/debug/xtask", "dev"),
            ("/a/target/release/xtask", "release"),
            ("/a/target/x86_64-unknown-linux-gnu/checked/xtask", "checked"),
            ("xtask", "dev"),
        ] {
            assert_eq!(profile(Path::new(program)), expected, "{program}");
        }
    }

    #[test]
    fn arguments_are_passed_on() {
        let tool = Tool::find("conformance").unwrap();
        let command = tool.command("checked", ["a", "--suite", "cel"].map(OsString::from));
        let arguments: Vec<_> = command.get_args().filter_map(|own| own.to_str()).collect();
        let manifest = workspace::root().join("Cargo.toml");
        assert_eq!(
            arguments,
            [
                "run",
                "--quiet",
                "--profile",
                "checked",
                "--package",
                "pratique-conformance",
                "--manifest-path",
                manifest.to_str().unwrap(),
                "--",
                "a",
                "--suite",
                "cel",
            ]
        );
    }
}
