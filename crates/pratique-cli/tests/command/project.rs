//! The project file: `pratique.yaml`.

use std::fs;
use std::process::Command;

use crate::support::{Directory, Run};

/// A policy with its binding that allows three replicas.
pub(crate) const POLICY: &str = r#"apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: few}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]
  validations: [{expression: "object.spec.replicas <= 3", message: at most 3 replicas}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: few}
spec: {policyName: few, validationActions: [Deny]}
"#;

const SUITE: &str = "apiVersion: pratique/v1alpha1
kind: Suite
policies: [../policies]
tests:
- {name: large, object: ../rendered/large.yaml, expect: denied}
";

const PROJECT: &str = "apiVersion: pratique/v1alpha1
kind: Configuration
policies: [policies]
inputs: [rendered]
suites: [tests]
allow: [warnings]
";

fn deployment(name: &str, replicas: i32) -> String {
    let template = "{metadata: {labels: {app: web}}, spec: {containers: [{name: a, image: a}]}}";
    format!(
        "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {name}}}, spec: {{replicas: {replicas}, selector: {{matchLabels: {{app: web}}}}, template: {template}}}}}"
    )
}

/// A repository with a project file.
fn repository(project: &str) -> Directory {
    Directory::new()
        .with(".git/HEAD", "ref: refs/heads/main\n")
        .with("policies/few.yaml", POLICY)
        .with("tests/suite.yaml", SUITE)
        .with("rendered/large.yaml", deployment("large", 9))
        .with("small/small.yaml", deployment("small", 1))
        .with("pratique.yaml", project)
}

/// Runs the command in a directory below the repository.
fn run_below(repository: &Directory, below: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_pratique"))
        .args(arguments)
        .current_dir(repository.path().join(below))
        .env_clear()
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    Run {
        line: arguments.join(" "),
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn without_arguments_all_of_it_is_checked_reviewed_and_tested() {
    let repository = repository(PROJECT);
    let run = repository.run(&[]);
    run.exits(1);
    for part in [
        "policies: valid",
        "deployments.apps",
        "denied",
        "at most 3 replicas",
        "suite tests/suite.yaml: 1 passed",
    ] {
        run.stdout_has(part);
    }
    assert!(run.stderr.starts_with("project file: pratique.yaml\n"), "{run}");
    // Only what the file names is run, and everything is well.
    let repository = repository.with(
        "pratique.yaml",
        PROJECT.replace("inputs: [rendered]", "inputs: [small]"),
    );
    let run = repository.run(&[]);
    run.exits(0);
    let repository = repository.with(
        "pratique.yaml",
        "apiVersion: pratique/v1alpha1\nkind: Configuration\nsuites: [tests]\n",
    );
    let run = repository.run(&[]);
    run.exits(0);
    assert!(!run.stdout.contains("policies: valid"), "{run}");
    // One exit code: what fails counts before what cannot be read.
    let repository = repository.with("pratique.yaml", PROJECT.replace("[tests]", "[nowhere]"));
    assert_eq!(repository.run(&[]).code, Some(1));
    let small = PROJECT
        .replace("[tests]", "[nowhere]")
        .replace("[rendered]", "[small]");
    let repository = repository.with("pratique.yaml", small);
    assert_eq!(repository.run(&[]).code, Some(2));
}

#[test]
fn flags_and_variables_take_precedence() {
    let project = PROJECT.to_owned() + "review: {failOn: [warn], output: ndjson}\n";
    let repository = repository(&project);
    // The file says what is not said: here, the policies, the inputs, what fails, and the format.
    let run = repository.run(&["review"]);
    run.exits(0);
    assert!(
        run.stdout.starts_with('{') && run.stdout.contains("denied"),
        "{run}"
    );
    let run = repository.run(&["review", "--fail-on", "deny", "-o", "human"]);
    run.exits(1);
    assert!(!run.stdout.starts_with('{'), "{run}");
    let run = run_below(&repository, ".", &["review"], &[("PRATIQUE_FAIL_ON", "deny")]);
    run.exits(1);
    // Inputs of the command line are instead of those of the file, and so are policies of any kind.
    let run = repository.run(&["review", "small", "--fail-on", "deny"]);
    run.exits(0);
    assert!(
        run.stdout.contains("small") && !run.stdout.contains("large"),
        "{run}"
    );
    let run = repository.run(&["review", "--manifests", "nowhere"]);
    assert!(
        run.stderr.contains("nowhere") && !run.stdout.contains("few"),
        "{run}"
    );
    // Nothing of it counts where it is not to be read.
    let run = repository.run(&["review", "--no-project-file", "small"]);
    assert!(
        !run.stderr.contains("project file") && !run.stdout.starts_with('{'),
        "{run}"
    );
    let variable = [("PRATIQUE_NO_PROJECT_FILE", "true")];
    assert_eq!(run_below(&repository, ".", &["review"], &variable).code, Some(2));
}

#[test]
fn what_the_file_names_is_scanned_by_and_replayed() {
    let repository = repository(PROJECT).with(
        "audit.log",
        r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Request","stage":"ResponseComplete","verb":"create","requestURI":"/","objectRef":{"resource":"deployments","namespace":"shop","name":"a","apiGroup":"apps","apiVersion":"v1"},"responseStatus":{"code":201},"requestObject":{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","namespace":"shop"},"spec":{"replicas":9,"selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"a","image":"a"}]}}}}}"#,
    );
    for (arguments, denied) in [
        (&["scan", "rendered"], "1 object: 0 allowed, 1 denied"),
        (&["replay", "audit.log"], "refused now"),
    ] {
        let run = repository.run(arguments);
        run.exits(1);
        assert!(run.stderr.starts_with("project file: pratique.yaml\n"), "{run}");
        run.stdout_has(denied);
        let command_line = [arguments, &["--level", "baseline"][..]].concat();
        let run = repository.run(&command_line);
        run.exits(0);
    }
}

#[test]
fn what_the_file_names_takes_the_place_of_old_policies() {
    let inner = repository(PROJECT).with(
        "deployed/more.yaml",
        POLICY.replace("replicas <= 3", "replicas <= 30"),
    );
    let run = inner.run(&["impact", "--old", "deployed", "rendered"]);
    run.exits(1).stdout_has("1 newly refused");
    // The inputs are those of the file, too, unless a cluster has the objects.
    let run = inner.run(&["impact", "--old", "deployed"]);
    run.exits(1).stdout_has("1 newly refused");
    let snapshot = inner.run(&["impact", "--old", "deployed", "--snapshot", "absent"]);
    snapshot.exits(2).stderr_has("absent");
    // Those of the command line come before those of the file.
    let run = inner.run(&["impact", "--old", "deployed", "--new", "deployed", "rendered"]);
    run.exits(0).stdout_has("0 newly refused");
    let run = inner.run(&[
        "impact",
        "--old",
        "deployed",
        "--policies",
        "deployed",
        "rendered",
    ]);
    run.exits(0).stdout_has("0 newly refused");
    let run = Directory::new()
        .with("deployed/more.yaml", POLICY)
        .run(&["impact", "--old", "deployed", "deployed"]);
    run.exits(2)
        .stderr_has("name with --policies, or in pratique.yaml, the policies");
}

#[test]
fn a_file_that_names_nothing_is_reported() {
    let run = repository("apiVersion: pratique/v1alpha1\nkind: Configuration\n").run(&[]);
    run.exits(3);
    let message = "pratique.yaml: it names no `policies`, `inputs` or `suites`";
    assert!(run.stderr.starts_with(message), "{run}");
}

#[test]
fn the_file_is_found_upward_to_the_top_of_the_repository() {
    let inner = repository(PROJECT).with("deep/er/file", "");
    let run = run_below(&inner, "deep/er", &["test"], &[]);
    run.exits(0).stderr_has("project file: ../../pratique.yaml");
    // Neither beyond the top, nor upward without a repository.
    let outer = repository(PROJECT)
        .with("inner/.git/HEAD", "")
        .with("inner/file", "");
    assert_eq!(run_below(&outer, "inner", &["test"], &[]).code, Some(2));
    let plain = Directory::new()
        .with("pratique.yaml", PROJECT)
        .with("below/file", "");
    assert_eq!(run_below(&plain, "below", &["test"], &[]).code, Some(2));
    // A file of another program is none.
    let other = repository("apiVersion: apps/v1\nkind: Deployment\n");
    assert_eq!(other.run(&["check", "policies"]).code, Some(0));
}

#[test]
fn the_file_is_read_strictly() {
    let refused = |settings: &str, expected: &str| {
        let project = format!("apiVersion: pratique/v1alpha1\nkind: Configuration\n{settings}");
        let run = repository(&project).run(&["check", "policies"]);
        run.exits(2);
        // Once, also where a field stands for arguments of several commands.
        assert_eq!(run.stderr.matches(expected).count(), 1, "{expected}: {run}");
        run.stderr_has("--no-project-file ignores it");
    };
    refused("polices: [a]\n", "pratique.yaml:3:1: unknown field `polices`");
    refused("polices: [a]\n", "did you mean `policies`?");
    refused("review: {failon: [deny]}\n", "did you mean `failOn`?");
    refused("policies: 3\n", "expected a list");
    refused("review: {expand: maybe}\n", "expected `auto`, `on` or `off`");
    refused(
        "review: {output: xml}\n",
        "[possible values: human, json, ndjson, sarif, junit, github, diff, yaml]",
    );
    refused(
        "review: {failOn: [never]}\n",
        "pratique.yaml:3:10: invalid value 'never'",
    );
    refused("review: {maxInput: much}\n", "invalid value 'much'");
    refused("allow: [no-such-warning]\n", "invalid value 'no-such-warning'");
    refused("review: {webhooks: true, explain: true}\n", "cannot be used with");
    refused(
        "inputs: [../elsewhere]\n",
        "it is not below the root of the repository",
    );
    refused(
        "policies: [../elsewhere]\n",
        "it is not below the root of the repository",
    );
    refused("inputs: [/etc]\n", "it is not below the root of the repository");
    // Help is there nevertheless.
    let wrong = repository("apiVersion: pratique/v1alpha1\n");
    assert_eq!(wrong.run(&["--help"]).code, Some(0));
    assert_eq!(
        wrong.run(&["check", "policies", "--no-project-file"]).code,
        Some(0)
    );
}

#[test]
fn init_writes_what_is_there_and_overwrites_nothing() {
    let repository = repository(PROJECT);
    fs::remove_file(repository.path().join("pratique.yaml")).unwrap();
    let run = repository.run(&["init"]);
    run.exits(0);
    let written = fs::read_to_string(repository.path().join("pratique.yaml")).unwrap();
    assert_eq!(
        written,
        "# What `pratique` checks, reviews and tests in this repository: docs/configuration.md describes all fields.
apiVersion: pratique/v1alpha1
kind: Configuration
# Policies, bindings and webhook configurations.
policies:
- \"policies\"
# Suites of tests.
suites:
- \"tests\"
# Objects to review, such as rendered charts.
inputs:
- \"rendered\"
- \"small\"
# Objects of the cluster: namespaces, params, roles.
# objects: [cluster]
# Warnings that fail the commands.
# deny: [warnings]
"
    );
    repository.run(&[]).exits(1).stdout_has("at most 3 replicas");
    let run = repository.run(&["init"]);
    run.exits(2);
    assert_eq!(
        fs::read_to_string(repository.path().join("pratique.yaml")).unwrap(),
        written
    );
    // Elsewhere, and with nothing to be found.
    let repository = repository.with("empty/file", "");
    let run = repository.run(&["init", "empty"]);
    run.exits(3).stderr_has(
        "empty: there are no policies, suites, objects, charts or kustomizations: nothing is written",
    );
    assert!(!repository.path().join("empty/pratique.yaml").exists());
}

/// Words of another engine make no suite of a file: what it has in it does.
#[test]
fn init_names_suites_that_there_are() {
    let directory = Directory::new()
        .with(
            "policies-k/k.yaml",
            "apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: x}\nspec: {rules: []}\n",
        )
        .with(
            "chart/labels.yaml",
            "metadata: {annotations: {pod-policies.kyverno.io/autogen-controllers: none}\n",
        )
        .with(
            "theirs/kyverno-test.yaml",
            "apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\nmetadata: {name: a}\nresults: []\n",
        )
        .with(
            "ours/suite.yaml",
            "apiVersion: pratique/v1alpha1\nkind: Suites\ntests: []\n",
        );
    directory.run(&["init"]).exits(0);
    let written = fs::read_to_string(directory.path().join("pratique.yaml")).unwrap();
    assert!(
        written.contains("suites:\n- \"ours\"\n- \"theirs\"\n"),
        "{written}"
    );
}

#[test]
fn init_proposes_to_render_charts_and_kustomizations() {
    let web = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n";
    let repository = repository(PROJECT)
        .with(
            "all/charts/shop/Chart.yaml",
            "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
        )
        .with("all/charts/shop/values.yaml", "replicas: 1\n")
        .with(
            "all/charts/shop/charts/db/Chart.yaml",
            "apiVersion: v2\nname: db\nversion: 1.0.0\n",
        )
        .with(
            "all/charts/shop/templates/web.yaml",
            "{{ if .Values.a }}\nkind: A\n{{ end }}\n",
        )
        .with("all/base/kustomization.yaml", "resources: [web.yaml]\n")
        .with("all/base/web.yaml", web)
        .with(
            "all/overlays/prod/kustomization.yaml",
            "resources: [../../base]\n",
        )
        .with("all/deploy/web.yaml", web)
        .with("all/apps/app.yaml", web)
        .with("all/apps/prod/kustomization.yaml", "resources: [web.yaml]\n")
        .with("all/apps/prod/web.yaml", web)
        .with("all/docker-compose.yaml", "services: {web: {image: nginx}}\n");
    let run = repository.run(&["init", "all"]);
    run.exits(0)
        .stderr_has("2 of objects to review, 3 of charts and kustomizations to render")
        .stderr_has("not named: 2 files with objects below charts and kustomizations")
        .stderr_has("docker-compose.yaml")
        .stderr_has("--trust-project-file");
    let written = fs::read_to_string(repository.path().join("all/pratique.yaml")).unwrap();
    let rendered =
        // What is rendered is not read as it is, too: beside it, files are named one by one.
        "review:\n  render: true\n  inputs:\n  - \"apps/app.yaml\"\n  - \"deploy\"\n  - \"apps/prod\"\n  - \"charts/shop\"\n  - \"overlays/prod\"\n";
    // A file that is not trusted may not render: the section is there to be taken.
    let remarks: String = rendered.lines().map(|line| format!("# {line}\n")).collect();
    assert!(written.contains(&remarks), "{written}");
    assert!(!written.contains(&format!("\n{rendered}")), "{written}");
    run_below(&repository, "all", &["review"], &[])
        .stdout_has("deploy/web.yaml:1:1: CREATE deployments.apps");
}
