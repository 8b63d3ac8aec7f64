//! Tools with separate programs, so that this one builds in seconds: they are built and run on request.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use pratique_harness::{cargo, workspace};

/// A tool below `tools/`, or that of `benches/`.
#[derive(Debug)]
pub(crate) struct WorkspaceTool {
    /// The name of the task, and of the tool's directory below `tools/`.
    pub(crate) task: &'static str,
    /// A description for the help text.
    pub(crate) about: &'static str,
}

/// All tools, in the order of the help text.
pub(crate) const TOOLS: &[WorkspaceTool] = &[
    tool(
        "conformance",
        "Run a directory of conformance cases and compare decisions and messages",
    ),
    tool(
        "differential",
        "Look for differences from the reference with random cases, and make each small",
    ),
    tool("bench", "Measure ours, and beside it the reference"),
    tool(
        "dist",
        "Build what is shipped and measured: twice, the second time by what the first did",
    ),
    tool(
        "e2e",
        "Run a real API server, and compare what it says with what Pratique says",
    ),
    tool(
        "load-test",
        "Put a server under load, and beside clients that are slow, large or gone",
    ),
    tool(
        "attack",
        "Attack a server and the commands with little memory and few files, and see whether others notice",
    ),
    tool("page", "Look at the page of a server in a real browser"),
    tool(
        "playground",
        "Build the playground and the package for JavaScript, compare them with the engine, look at the page",
    ),
    tool(
        "deploy",
        "Render what is deployed with Kustomize and Helm, and look whether it holds together",
    ),
    tool(
        "release",
        "Write what package managers read of a release: Homebrew's formula, krew's manifest",
    ),
    tool(
        "field",
        "Look at the policies of public repositories: whether what is warned of is so",
    ),
    tool(
        "fuzz",
        "Give the fuzz targets inputs that no author has thought of",
    ),
    tool("codegen", "Write the tables of Kubernetes' built-in types"),
];

const fn tool(task: &'static str, about: &'static str) -> WorkspaceTool {
    WorkspaceTool { task, about }
}

impl WorkspaceTool {
    /// The tool for a task.
    pub(crate) fn find(task: &str) -> Option<&'static WorkspaceTool> {
        TOOLS.iter().find(|tool| tool.task == task)
    }

    /// The package of its program.
    fn package(&self) -> String {
        match self.task {
            // The targets themselves are `pratique-fuzz`.
            "fuzz" => "pratique-fuzz-run".to_owned(),
            // With the programs that are measured.
            "bench" => "pratique-benches".to_owned(),
            task => format!("pratique-{task}"),
        }
    }

    /// Its program.
    fn program(&self) -> String {
        match self.task {
            "bench" => "pratique-bench".to_owned(),
            _ => self.package(),
        }
    }

    /// Cargo, which builds it with the profile of this program, and runs it in the current directory.
    pub(crate) fn command(&self, profile: &str, arguments: impl IntoIterator<Item = OsString>) -> Command {
        let mut command = cargo::command();
        command
            .args([
                "run",
                "--quiet",
                "--profile",
                profile,
                "--package",
                &self.package(),
                "--bin",
                &self.program(),
            ])
            .arg("--manifest-path")
            .arg(workspace::root().join("Cargo.toml"))
            .arg("--")
            .args(arguments);
        command
    }
}

/// The profile that a program was built with, by the directory that Cargo put it into.
pub(crate) fn profile(program: &Path) -> &str {
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
    fn programs_below_tools_are_listed() {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(workspace::root().join("tools")).unwrap() {
            let directory = entry.unwrap().path();
            if directory.join("src/main.rs").is_file() {
                let task = directory.file_name().unwrap().to_str().unwrap().to_owned();
                let manifest = std::fs::read_to_string(directory.join("Cargo.toml")).unwrap();
                let mut lines = manifest.lines();
                let name = lines.find_map(|line| line.strip_prefix("name = ")).unwrap();
                found.push((task, name.trim_matches('"').to_owned()));
            }
        }
        found.sort();
        let below = TOOLS.iter().filter(|tool| tool.task != "bench");
        let listed = below.map(|tool| (tool.task.to_owned(), tool.package()));
        let mut listed: Vec<_> = listed.collect();
        listed.sort();
        assert_eq!(found, listed);
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
        let tool = WorkspaceTool::find("conformance").unwrap();
        let command = tool.command("checked", ["a", "--suite", "cel"].map(OsString::from));
        let arguments: Vec<_> = command
            .get_args()
            .filter_map(|argument| argument.to_str())
            .collect();
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
                "--bin",
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
