//! From nothing to an annotated pull request: the workflow that is shown runs the steps of the action as a runner of GitHub
//! does. What comes of it is `docs/walks/pull-request.md`, which `BLESS=1` writes.

#[cfg(unix)]
mod chart;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::ci::act;
use crate::support::Directory;

const WORKFLOW: &str = "name: Policies
on: pull_request
permissions: {contents: read, security-events: write}
jobs:
  policies:
    runs-on: ubuntu-24.04
    steps:
    - uses: actions/checkout@v4
    - uses: pratique/pratique@v0.1.0
      with:
        commands: check review
        check: |
          policies
        review: |
          --policies
          policies
          manifests
";

pub(crate) const POLICY: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: no-latest
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}
  validations:
  - expression: object.spec.template.spec.containers.all(c, !c.image.endsWith(':latest'))
    message: images are pinned
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: no-latest
spec:
  policyName: no-latest
  validationActions: [Deny]
";

pub(crate) const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: registry.example.com/web:latest
";

/// A change that has a policy with a mistake, and an object that is denied.
#[test]
fn a_pull_request_is_annotated() {
    let policy = POLICY.replace("resources: [deployments]", "resources: [deployment]");
    let mut walk = String::from(
        "# From nothing to an annotated pull request\n\nA test of the command walks this way, with the steps of the action, and \
         writes this page.\n",
    );
    step(&mut walk, "The workflow", "yaml", WORKFLOW);
    step(
        &mut walk,
        "`policies/no-latest.yaml` in the first commit",
        "yaml",
        &policy,
    );
    step(&mut walk, "`manifests/web.yaml`", "yaml", DEPLOYMENT);
    let first = annotated("The first commit", &policy);
    assert!(first.contains("did you mean \"deployments\"?"), "{first}");
    let second = annotated("With `deployments`", POLICY);
    assert!(second.contains("images are pinned"), "{second}");
    walk += &(first + &second);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/walks/pull-request.md");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &walk).unwrap();
    }
    let recorded = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        walk == recorded,
        "the walk differs, BLESS=1 writes it: expected\n{recorded}\nfound\n{walk}"
    );
}

fn step(walk: &mut String, title: &str, language: &str, text: &str) {
    write!(walk, "\n## {title}\n\n```{language}\n{}\n```\n", text.trim_end()).unwrap();
}

/// What a pull request with this policy shows.
fn annotated(commit: &str, policy: &str) -> String {
    let directory = Directory::new()
        .with("policies/no-latest.yaml", policy)
        .with("manifests/web.yaml", DEPLOYMENT);
    let workflow = pratique_manifest::yaml_as_json(WORKFLOW.as_bytes()).unwrap();
    let workflow: Value = serde_json::from_str(&workflow).unwrap();
    let given = workflow["jobs"]["policies"]["steps"][1]["with"]
        .as_object()
        .unwrap();
    let mut inputs: Vec<(&str, &str)> = given
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str().unwrap()))
        .collect();
    inputs.push(("binary", env!("CARGO_BIN_EXE_pratique")));
    let run = act(&directory, &inputs);
    let mut shown = String::new();
    let reports = run.outputs.lines().filter_map(|line| line.split_once("-sarif="));
    let results: String = reports
        .flat_map(|(_, path)| code_scanning(Path::new(path)))
        .collect();
    let code = run.codes.last().copied().flatten().unwrap();
    for (what, language, text) in [
        ("in the changed files", "text", beside_lines(&directory, &run.log)),
        ("in the summary of the job", "markdown", run.summary),
        ("in code scanning", "text", results),
        ("how the job ends", "text", format!("exit code {code}")),
    ] {
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        step(
            &mut shown,
            &format!("{commit}: {what}"),
            language,
            &lines.join("\n"),
        );
    }
    shown.replace(&directory.path().display().to_string(), "$WORK")
}

/// The annotations of a log, each under the line that it is about, as the diff of a pull request shows them.
fn beside_lines(directory: &Directory, log: &str) -> String {
    let mut shown = String::new();
    for line in log.lines() {
        let Some((command, message)) = line.strip_prefix("::").and_then(|rest| rest.split_once("::")) else {
            continue;
        };
        let (kind, properties) = command.split_once(' ').unwrap();
        let of: BTreeMap<&str, &str> = properties
            .split(',')
            .filter_map(|property| property.split_once('='))
            .collect();
        let unescaped = |text: &str| {
            text.replace("%0A", "\n")
                .replace("%3A", ":")
                .replace("%2C", ",")
                .replace("%25", "%")
        };
        let file = unescaped(of["file"]);
        let number: usize = of.get("line").map_or(1, |line| line.parse().unwrap());
        let text = fs::read_to_string(directory.path().join(&file)).unwrap();
        let about = text.lines().nth(number - 1).unwrap();
        writeln!(shown, "{file}\n{number:>4} | {about}").unwrap();
        let title = of.get("title").map(|title| unescaped(title)).unwrap_or_default();
        writeln!(shown, "     > {kind}: {title}").unwrap();
        for line in unescaped(message).lines() {
            writeln!(shown, "     > {line}").unwrap();
        }
    }
    shown
}

/// The results of a SARIF file, as lines.
fn code_scanning(path: &Path) -> Vec<String> {
    let report: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let results = report["runs"][0]["results"].as_array().unwrap().clone();
    let line = |result: &Value| {
        let place = &result["locations"][0]["physicalLocation"];
        let file = place["artifactLocation"]["uri"].as_str().unwrap();
        let (rule, level) = (
            result["ruleId"].as_str().unwrap(),
            result["level"].as_str().unwrap(),
        );
        format!("{level} {rule} at {file}:{}\n", place["region"]["startLine"])
    };
    results.iter().map(line).collect()
}
