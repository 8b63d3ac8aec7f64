//! The commands that stand beside those of other tools are run: the table of `docs/platform-engineers.md`.

use std::fs;

use super::root;
use crate::support::Directory;
use crate::walks::{DEPLOYMENT, POLICY};

const SUITE: &str = "apiVersion: pratique/v1alpha1
kind: Suite
policies: [POLICIES]
tests:
- {name: latest, object: web.yaml, expect: denied}
";

/// Each command of the table, what is run in its place, and its exit code. Those of a cluster are run without one, which they tell.
const COMMANDS: [(&str, &[&str], i32); 14] = [
    (
        "pratique review --policies POLICY FILE",
        &["review", "--policies", "policy.yaml", "web.yaml"],
        1,
    ),
    (
        "pratique review --cluster --policies POLICY -",
        &["review", "--cluster", "--policies", "policy.yaml", "-"],
        2,
    ),
    (
        "pratique review --policies POLICY -",
        &["review", "--policies", "policy.yaml", "-"],
        1,
    ),
    (
        "pratique review --policies POLICY --as NAME --as-group GROUP FILE",
        &[
            "review",
            "--policies",
            "policy.yaml",
            "--as",
            "ann",
            "--as-group",
            "dev",
            "web.yaml",
        ],
        1,
    ),
    (
        "pratique review --fail-on deny,warn …",
        &[
            "review",
            "--fail-on",
            "deny,warn",
            "--policies",
            "warns.yaml",
            "web.yaml",
        ],
        1,
    ),
    ("pratique review FILE", &["review", "web.yaml"], 0),
    ("pratique test DIR", &["test", "suites"], 0),
    (
        "pratique review --policies POLICIES FILE",
        &["review", "--policies", "policies", "web.yaml"],
        1,
    ),
    (
        "pratique review --input-policies DIR",
        &["review", "--input-policies", "all"],
        1,
    ),
    ("pratique test SUITE", &["test", "suites/suite.yaml"], 0),
    (
        "pratique review --expand FILE",
        &["review", "--expand", "--policies", "policies", "web.yaml"],
        1,
    ),
    ("pratique test --init DIR", &["test", "--init", "policies"], 0),
    ("pratique test FILE", &["test", "suites/suite.yaml"], 0),
    (
        "pratique review --cluster FILE",
        &["review", "--cluster", "web.yaml"],
        2,
    ),
];

/// The commands of the right column.
fn commands() -> Vec<String> {
    let page = fs::read_to_string(root().join("docs/platform-engineers.md")).unwrap();
    let (_, table) = page
        .split_once("| command | with Pratique |\n|---|---|\n")
        .unwrap();
    let rows = table.lines().map_while(|line| line.strip_prefix("| "));
    let ours = rows.filter_map(|row| row.split_once(" | `").map(|(_, ours)| ours));
    let quoted = ours.flat_map(|ours| ours.split('`').map(str::to_owned).collect::<Vec<_>>());
    quoted
        .filter_map(|text| {
            let at = text.find("pratique ")?;
            text.get(at..).map(str::to_owned)
        })
        .collect()
}

#[test]
fn commands_beside_those_of_other_tools_do_the_same() {
    let directory = Directory::new()
        .with("policy.yaml", POLICY)
        .with("policies/policy.yaml", POLICY)
        .with("warns.yaml", POLICY.replace("[Deny]", "[Warn]"))
        .with("web.yaml", DEPLOYMENT)
        .with("all/policy.yaml", POLICY)
        .with("all/web.yaml", DEPLOYMENT)
        .with("suites/policy.yaml", POLICY)
        .with("suites/web.yaml", DEPLOYMENT)
        .with("suites/suite.yaml", SUITE.replace("POLICIES", "policy.yaml"));
    let shown = commands();
    assert!(shown.len() > 12, "{shown:?}");
    let unknown: Vec<_> = shown
        .iter()
        .filter(|shown| {
            !COMMANDS
                .iter()
                .any(|(command, ..)| command.trim() == shown.trim())
        })
        .collect();
    assert!(unknown.is_empty(), "no command is run for {unknown:?}");
    for (command, arguments, code) in COMMANDS {
        assert!(
            shown.iter().any(|shown| shown.trim() == command.trim()),
            "{command} is not shown"
        );
        let run = directory.run_with(arguments, DEPLOYMENT, &[]);
        assert_eq!(run.code, Some(code), "{command}: {run}");
        match code {
            1 => assert!(run.stdout.contains("images are pinned"), "{run}"),
            2 => assert!(run.stderr.contains("no cluster is configured"), "{run}"),
            _ => {}
        }
    }
}
