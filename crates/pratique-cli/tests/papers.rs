//! What the documents for developers say of the repository is so: the files that they name exist, the workflows can be read,
//! and what those run is bounded and pinned.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails may stop")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Directories of the repository, with which the names of files in documents begin.
const ROOTS: [&str; 10] = [
    ".ci/",
    ".github/",
    "benches/",
    "crates/",
    "deploy/",
    "docs/",
    "examples/",
    "testdata/",
    "tools/",
    "xtask/",
];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(name: &str) -> String {
    fs::read_to_string(workspace().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// What stands between backquotes and names a file or a directory.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted
        .filter(|text| ROOTS.iter().any(|root| text.starts_with(root)) && !text.contains(char::is_whitespace))
}

#[track_caller]
fn check_paths(document: &str, at_least: usize) {
    let text = text(document);
    let missing: Vec<&str> = paths(&text)
        .filter(|path| !workspace().join(path).exists())
        .collect();
    assert!(missing.is_empty(), "{document} names {missing:?}, not there");
    let count = paths(&text).count();
    assert!(count >= at_least, "{document} names {count} files");
}

#[test]
fn named_files_exist() {
    check_paths("CONTRIBUTING.md", 70);
    check_paths("RELEASING.md", 5);
    check_paths("ARCHITECTURE.md", 8);
    assert_eq!(
        paths("`crates/a.rs`, crates/b.rs, `a`, `docs/c d`").collect::<Vec<_>>(),
        ["crates/a.rs"]
    );
}

/// A workflow as GitHub reads it.
fn workflow(name: &str) -> Value {
    let text = text(&format!(".github/workflows/{name}"));
    let json =
        pratique_manifest::yaml_as_json(text.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"));
    serde_json::from_str(&json).unwrap()
}

/// What is wrong with a workflow.
fn faults(workflow: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    if workflow.get("permissions") != Some(&serde_json::json!({"contents": "read"})) {
        faults.push("more may be done than reading, unless a job says otherwise".to_owned());
    }
    let Some(jobs) = workflow.get("jobs").and_then(Value::as_object) else {
        return vec!["there are no jobs".to_owned()];
    };
    for (name, job) in jobs {
        for field in ["runs-on", "timeout-minutes"] {
            if job.get(field).is_none() {
                faults.push(format!("{name} has no {field}"));
            }
        }
        let list = |field: &str| {
            job.get(field)
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default()
        };
        for needed in list("needs") {
            if !needed.as_str().is_some_and(|needed| jobs.contains_key(needed)) {
                faults.push(format!("{name} needs {needed}, which is no job"));
            }
        }
        let steps = list("steps");
        if steps.is_empty() {
            faults.push(format!("{name} has no steps"));
        }
        for action in steps.iter().filter_map(|step| step.get("uses")?.as_str()) {
            let version = action.rsplit_once('@').map_or("", |(_, version)| version);
            if version.len() != 40 || !version.chars().all(|c| c.is_ascii_hexdigit()) {
                faults.push(format!("{name} uses {action}, which may become something else"));
            }
        }
    }
    faults
}

#[test]
fn workflows_hold_together() {
    let mut count = 0;
    for entry in fs::read_dir(workspace().join(".github/workflows")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert_eq!(faults(&workflow(&name)), [""; 0], "{name}");
        count += 1;
    }
    assert!(count >= 3, "{count} workflows");
    for name in ["ci.yml", "release.yml"] {
        let run = workflow(name).to_string();
        assert!(run.contains(".ci/run"), "{name} does not run .ci/run");
    }
}

#[test]
fn faults_of_workflows_are_found() {
    let broken = serde_json::json!({
        "permissions": "write-all",
        "jobs": {"a": {"runs-on": "x", "needs": ["b"], "steps": [{"uses": "actions/checkout@v4"}]}},
    });
    assert_eq!(
        faults(&broken),
        [
            "more may be done than reading, unless a job says otherwise",
            "a has no timeout-minutes",
            "a needs \"b\", which is no job",
            "a uses actions/checkout@v4, which may become something else",
        ]
    );
}
