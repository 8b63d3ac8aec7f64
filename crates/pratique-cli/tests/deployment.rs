//! `deploy/` matches the binary: its flags are known, and its webhook configurations match its policies.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop where it fails"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pratique_manifest::yaml_as_json;
use serde_json::Value;

fn base() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/kustomize/base")
}

fn document(text: &str) -> Value {
    serde_json::from_str(&yaml_as_json(text.as_bytes()).unwrap()).unwrap()
}

fn pratique(arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_pratique"))
        .args(arguments)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

#[test]
fn flags_are_known() {
    let deployment = document(&fs::read_to_string(base().join("deployment.yaml")).unwrap());
    let arguments = &deployment["spec"]["template"]["spec"]["containers"][0]["args"];
    let mut arguments: Vec<&str> = arguments
        .as_array()
        .unwrap()
        .iter()
        .map(|argument| argument.as_str().unwrap())
        .collect();
    assert_eq!(arguments[0], "serve");
    // Flags before `--help` are parsed first.
    arguments.push("--help");
    pratique(&arguments);
}

/// Runs a command of a Job as a shard of it, up to where it begins to read.
fn parses(arguments: &[String]) {
    let mut arguments: Vec<String> = arguments
        .iter()
        .map(|argument| argument.replace("$(JOB_COMPLETION_INDEX)", "0"))
        .collect();
    assert_eq!(arguments[0], "scan", "{arguments:?}");
    arguments.push("--help".to_owned());
    pratique(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn flags_of_scans_are_known() {
    let text = fs::read_to_string(base().join("../scan/job.yaml")).unwrap();
    let job = document(&text);
    let arguments = &job["spec"]["template"]["spec"]["containers"][0]["args"];
    let arguments: Vec<String> = serde_json::from_value(arguments.clone()).unwrap();
    parses(&arguments);
    // Those of the chart, whose templates are not rendered here: with all that they may be.
    let text = fs::read_to_string(base().join("../../helm/pratique/templates/scan.yaml")).unwrap();
    let commands = text.split("args:\n").skip(1).map(|rest| {
        let lines = rest.lines().map(str::trim);
        let lines = lines
            .take_while(|line| line.starts_with("- ") || line.starts_with("{{") || line.starts_with('#'));
        let arguments = lines.filter_map(|line| line.strip_prefix("- "));
        let filled = |argument: &str| {
            [
                ("{{ .shards }}", "4"),
                ("{{ .reports }}", "policyreport"),
                ("{{ $reports }}", "s3://scans/a"),
                ("{{ .input }}", "objects.ndjson"),
            ]
            .iter()
            .fold(argument.to_owned(), |text, (from, to)| text.replace(from, to))
        };
        arguments.map(filled).collect::<Vec<String>>()
    });
    let commands: Vec<Vec<String>> = commands.collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
    for command in commands {
        assert!(
            command.len() > 4 && !command.iter().any(|argument| argument.contains("{{")),
            "{command:?}"
        );
        parses(&command);
    }
}

#[test]
fn webhooks_are_those_of_the_policies() {
    let configuration = fs::read_to_string(base().join("admission.yaml")).unwrap();
    let policies = base().join("policies");
    let here = configuration.replace("/etc/pratique", policies.to_str().unwrap());
    let path = std::env::temp_dir().join(format!("pratique-deployed-{}.yaml", std::process::id()));
    fs::write(&path, here).unwrap();
    let printed = pratique(&[
        "serve",
        "--print-webhook-configuration",
        "--admission-control-config-file",
        path.to_str().unwrap(),
    ]);
    fs::remove_file(&path).unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    let printed: Vec<Value> = printed
        .split("---\n")
        .filter(|text| !text.is_empty())
        .map(document)
        .collect();
    let written = ["mutating.yaml", "validating.yaml"].map(|name| {
        let text = fs::read_to_string(base().join("../components/webhooks").join(name)).unwrap();
        let mut object = document(&text);
        object["metadata"].as_object_mut().unwrap().remove("labels");
        object
    });
    assert_eq!(printed, written);
}

#[test]
fn plugins_of_the_chart_are_those_that_are_offered() {
    let schema = base().join("../../helm/pratique/values.schema.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    let names = schema["definitions"]["plugin"]["enum"].as_array().unwrap();
    let names: Vec<&str> = names.iter().map(|name| name.as_str().unwrap()).collect();
    let help = pratique(&["serve", "--plugins", &names.join(","), "--help"]);
    let help = String::from_utf8(help.stdout).unwrap();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        help.contains(&format!("cannot be set: {}.", names.join(", "))),
        "{help}"
    );
}
