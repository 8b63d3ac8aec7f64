//! `pratique test`: suites, their results, and exit codes.

use std::fs;
use std::io::{BufRead as _, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use crate::support::{Directory, Run};

const POLICY: &str = r#"apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: replicas.static.k8s.io}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}
  variables:
  - name: limit
    expression: "request.namespace == 'big' ? 10 : 3"
  validations:
  - expression: object.spec.replicas <= variables.limit
    messageExpression: "'at most ' + string(variables.limit) + ' replicas'"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: replicas.static.k8s.io}
spec: {policyName: replicas.static.k8s.io, validationActions: [Deny]}
"#;

const SUITE: &str = r#"apiVersion: pratique/v1alpha1
kind: Suite
metadata: {name: replicas}
policies: [policy.yaml]
tests:
- name: a deployment
  object: # the least there can be
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web, namespace: shop}
    spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}}
  each:
  - name: that is small
    expect: allowed
  - name: that is large
    set: {object.spec.replicas: 5}
    expect:
      verdict: denied
      code: 422
      messageContains: at most 3 replicas
"#;

/// A test with a wrong expectation.
const WRONG: &str = r#"apiVersion: pratique/v1alpha1
kind: Suite
metadata: {name: wrong}
policies: [policy.yaml]
tests:
- name: a deployment
  object:
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web, namespace: shop}
    spec: {replicas: 5, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}}
  expect: allowed # so we hope
- name: a message
  object:
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web, namespace: shop}
    spec: {replicas: 5, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}}
  expect:
    verdict: denied
    code: 403
    messageContains: at most 3 replicas
- name: nothing is said
  object: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 1, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}}}
- name: no kind
  object: {metadata: {name: web}}
  expect: denied
"#;

fn files() -> Directory {
    Directory::new()
        .with("policy.yaml", POLICY)
        .with("suite.yaml", SUITE)
}

fn wrong() -> Directory {
    Directory::new()
        .with("policy.yaml", POLICY)
        .with("suite.yaml", WRONG)
}

/// Removes what differs between runs.
fn timeless(run: Run) -> Run {
    let keep = |line: &str| {
        let line = between(line, "time=\"", "\"");
        between(&line, "\"seconds\": ", ",")
    };
    Run {
        stdout: run.stdout.lines().map(|line| keep(line) + "\n").collect(),
        ..run
    }
}

fn between(line: &str, before: &str, after: &str) -> String {
    let Some((start, rest)) = line.split_once(before) else {
        return line.to_owned();
    };
    let (_, end) = rest.split_once(after).unwrap();
    format!("{start}{before}…{after}{end}")
}

#[test]
fn objects_are_those_that_a_server_has() {
    let misspelt = SUITE.replace("{replicas: 2,", "{replicas: 2, replcas: 5,");
    let wrong = SUITE.replace("object.spec.replicas: 5", "object.spec.replicas: '5'");
    let directory = Directory::new()
        .with("policy.yaml", POLICY)
        .with("misspelt.yaml", &misspelt)
        .with("wrong.yaml", wrong);
    let run = directory.run(&["test", "misspelt.yaml"]);
    run.exits(0);
    let message =
        "warning: misspelt.yaml:13:11: a deployment / that is small: unknown field \"spec.replcas\"\n";
    run.stderr_has(message);
    // No warning if the test expects it.
    let expected = misspelt.replace(
        "expect: allowed",
        "expect: {verdict: allowed, warnings: ['unknown field \"spec.replcas\"']}",
    );
    let expecting = Directory::new()
        .with("policy.yaml", POLICY)
        .with("suite.yaml", expected);
    let run = expecting.run(&["test", "suite.yaml"]);
    run.exits(0);
    assert!(!run.stderr.contains("that is small"), "{run}");
    let run = directory.run(&["test", "wrong.yaml"]);
    run.exits(1)
        .stdout_has("the server refuses the object, and no policy sees it: Deployment in version");
}

#[test]
fn results_for_people() {
    files().run(&["test", "."]).is("test-passes.txt");
    files()
        .run(&["test", "suite.yaml", "--verbose"])
        .is("test-verbose.txt");
    wrong().run(&["test", "suite.yaml"]).is("test-fails.txt");
    let lax = SUITE.replace("replicas: 5}", "replicas: 3}");
    Directory::new()
        .with("policy.yaml", POLICY)
        .with("suite.yaml", lax)
        .run(&["test", "."])
        .is("test-allows.txt");
}

#[test]
fn results_for_programs() {
    timeless(wrong().run(&["test", ".", "--output", "json"])).is("test-json.txt");
    timeless(wrong().run(&["test", ".", "--output", "junit"])).is("test-junit.txt");
    wrong()
        .run(&["test", ".", "--output", "github"])
        .is("test-github.txt");
}

#[test]
fn tests_are_picked() {
    files()
        .run(&[
            "test",
            ".",
            "--verbose",
            "--filter",
            "REPLICAS / a deployment / that is sm",
        ])
        .is("test-filter.txt");
    files()
        .run(&["test", ".", "--filter", "none of them"])
        .is("test-filter-nothing.txt");
}

#[test]
fn coverage_is_reported() {
    files().run(&["test", ".", "--coverage"]).is("test-coverage.txt");
    timeless(files().run(&["test", ".", "--coverage", "--output", "json"])).is("test-coverage-json.txt");
    files()
        .run(&["test", ".", "--coverage-threshold", "90", "--output", "github"])
        .is("test-coverage-github.txt");
}

#[test]
fn coverage_can_be_required() {
    let run = |threshold: &str| {
        files()
            .run(&["test", ".", "--coverage-threshold", threshold])
            .code
    };
    assert_eq!((run("80"), run("99.5")), (Some(0), Some(1)));
    assert_eq!(run("lots"), Some(2));
}

#[test]
fn suites_are_brought_up_to_date() {
    let directory = wrong();
    directory.run(&["test", ".", "--update"]).is("test-update.txt");
    let text = fs::read_to_string(directory.path().join("suite.yaml")).unwrap();
    let expected = WRONG
        .replace("expect: allowed # so we hope", "expect: denied # so we hope")
        .replace("code: 403", "code: 422")
        .replace("\n- name: no kind", "\n  expect: allowed\n- name: no kind");
    assert_eq!(text, expected);
    assert_eq!(directory.run(&["test", "."]).code, Some(1));
    let directory = files();
    directory.run(&["test", ".", "--update"]);
    assert_eq!(
        fs::read_to_string(directory.path().join("suite.yaml")).unwrap(),
        SUITE
    );
}

#[test]
fn suites_may_be_at_fault() {
    let faulty = SUITE
        .replace("expect: allowed", "expects: allowed")
        .replace("operation", "operations")
        .replace("verdict: denied", "verdict: refused")
        .replace("set: {object.spec.replicas: 5}", "set: {spec.replicas: 5}");
    Directory::new()
        .with("policy.yaml", POLICY)
        .with("suite.yaml", &faulty)
        .run(&["test", "."])
        .is("test-faulty.txt");
    let path = SUITE.replace("set: {object.spec.replicas: 5}", "set: {\"spec.replicas[\": 5}");
    Directory::new()
        .with("policy.yaml", POLICY)
        .with("suite.yaml", path)
        .run(&["test", "."])
        .is("test-bad-path.txt");
    let other = SUITE.replace("pratique/v1alpha1", "pratique/v2");
    Directory::new()
        .with("policy.yaml", POLICY)
        .with("suite.yaml", other)
        .run(&["test", "."])
        .is("test-other-version.txt");
}

#[test]
fn policies_may_be_at_fault() {
    Directory::new()
        .with("policy.yaml", POLICY.replace("validations", "validatons"))
        .with("suite.yaml", SUITE)
        .run(&["test", "."])
        .is("test-faulty-policy.txt");
    Directory::new()
        .with("suite.yaml", SUITE)
        .run(&["test", "."])
        .is("test-no-policy.txt");
    Directory::new()
        .with(
            "policies/policy.yaml",
            POLICY.replace("metadata: {", "metadata: {{"),
        )
        .with("policies/notes.yaml", "{{ anything }}")
        .with("suite.yaml", SUITE.replace("policy.yaml", "policies"))
        .run(&["test", "."])
        .is("test-broken-policy.txt");
}

#[test]
fn there_may_be_nothing_to_test() {
    Directory::new()
        .with("policy.yaml", POLICY)
        .run(&["test", "."])
        .is("test-nothing.txt");
    Directory::new()
        .with("policy.yaml", POLICY)
        .with(
            "pod.yaml",
            "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: a}]}}",
        )
        .run(&["test", "."])
        .exits(2)
        .stderr_has("there is no suite of tests, but objects: `pratique review .` reviews them");
    Directory::new().run(&["test", "nowhere"]).is("test-nowhere.txt");
}

#[test]
fn policies_of_the_api_with_params_and_an_authorizer() {
    // Messages have no authorizer, so this one's falls back to the text of its expression.
    let policy = POLICY
        .replace(".static.k8s.io", "")
        .replace(
            "spec:\n  matchConstraints",
            "spec:\n  paramKind: {apiVersion: v1, kind: ConfigMap}\n  matchConstraints",
        )
        .replace(
            "\"request.namespace == 'big' ? 10 : 3\"",
            "\"authorizer.group('apps').resource('deployments').check('scale').allowed() ? 100 : int(params.data.limit)\"",
        )
        .replace(
            "validationActions: [Deny]",
            "validationActions: [Deny], paramRef: {name: limits, parameterNotFoundAction: Deny}",
        );
    let suite = r#"apiVersion: pratique/v1alpha1
kind: Suite
policies: [policies]
cluster:
  objects:
  - objects.yaml
  authorizer: []
tests:
- name: a deployment
  object: objects.yaml#web
  each:
  - name: of a tenant
    expect: {verdict: denied, messageContains: "failed expression: object.spec.replicas"}
  - name: of somebody who may scale
    user: {name: ann, groups: [scalers]}
    cluster:
      authorizer:
      - {groups: [scalers], verbs: [scale], apiGroups: [apps], resources: [deployments]}
    expect: allowed
  - name: where there are no params
    namespace: other
    remove: [object.metadata.namespace]
    expect: {verdict: denied, messageContains: no params found}
"#;
    let objects = "{apiVersion: v1, kind: ConfigMap, metadata: {name: limits, namespace: shop}, data: {limit: '4'}}\n---\n\
        {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 5, \
        selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}}}\n";
    Directory::new()
        .with("policies/policy.yaml", policy)
        .with("objects.yaml", objects)
        .with("api.suite.yaml", suite)
        .run(&["test", ".", "--verbose", "--coverage-threshold", "80"])
        .is("test-api.txt");
}

#[test]
fn configurations_are_evaluated() {
    let directory = Directory::new().with("manifests/policy.yaml", POLICY);
    let configuration = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n\
         - name: ValidatingAdmissionPolicy\n  configuration:\n    apiVersion: apiserver.config.k8s.io/v1\n    \
         kind: ValidatingAdmissionPolicyConfiguration\n    staticManifestsDir: {}/manifests\n",
        directory.path().display()
    );
    directory
        .with("admission.yaml", configuration)
        .with(
            "suite.yaml",
            SUITE.replace("policies: [policy.yaml]", "configuration: admission.yaml"),
        )
        .run(&["test", ".", "--coverage"])
        .is("test-configuration.txt");
}

#[test]
fn changes_are_watched() {
    let directory = files();
    let mut child = Command::new(env!("CARGO_BIN_EXE_pratique"))
        .args(["test", "suite.yaml", "--watch"])
        .current_dir(directory.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let (results, notes) = (lines(stdout), lines(stderr));
    until(&results, "2 passed, 0 failed");
    until(&notes, "waiting for changes");
    fs::write(
        directory.path().join("policy.yaml"),
        POLICY.replace(": 3\"", ": 7\""),
    )
    .unwrap();
    until(&results, "1 passed, 1 failed");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The lines of a stream, as they come.
fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (send, lines) = mpsc::channel();
    thread::spawn(move || {
        BufReader::new(stream)
            .lines()
            .for_each(|line| drop(send.send(line.unwrap())))
    });
    lines
}

/// Waits for a line.
fn until(lines: &Receiver<String>, wanted: &str) {
    while !lines
        .recv_timeout(Duration::from_secs(60))
        .unwrap()
        .contains(wanted)
    {}
}

const KYVERNO: &str = "apiVersion: cli.kyverno.io/v1alpha1
kind: Test
metadata: {name: theirs}
policies: [api.yaml, cluster-policy.yaml]
resources: [deployment.yaml]
results:
- {policy: few, isValidatingAdmissionPolicy: true, kind: Deployment, resources: [web], result: fail}
- {policy: theirs, rule: any, kind: Deployment, resources: [web], result: pass}
";

#[test]
fn tests_of_other_programs_are_never_green_unless_all_were_evaluated() {
    let (policy, _) = POLICY.split_once("---").unwrap();
    let directory = Directory::new()
        .with("api.yaml", policy.replace("replicas.static.k8s.io", "few"))
        .with(
            "cluster-policy.yaml",
            "{apiVersion: kyverno.io/v1, kind: ClusterPolicy, metadata: {name: theirs}}",
        )
        .with(
            "deployment.yaml",
            "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 5}}",
        )
        .with(
            "tests/kyverno-test.yaml",
            KYVERNO
                .replace("[api", "[../api")
                .replace(", cluster", ", ../cluster")
                .replace("[deployment", "[../deployment"),
        )
        .with("kyverno-test.yaml", KYVERNO);
    let run = directory.run(&["test", "kyverno-test.yaml", "--allow", "warnings"]);
    run.exits(3);
    assert_eq!(
        run.stdout,
        "theirs / few kyverno-test.yaml: 1 passed
theirs kyverno-test.yaml: not evaluated
  not evaluated: theirs: it is of Kyverno's own kinds, no ValidatingAdmissionPolicy or MutatingAdmissionPolicy kyverno-test.yaml:8:3

1 passed, 0 failed, 1 test not evaluated
"
    );
    let json = directory.run(&[
        "test",
        "kyverno-test.yaml",
        "--allow",
        "warnings",
        "--output",
        "json",
    ]);
    json.exits(3);
    let report = json.json();
    assert_eq!(report["testsNotEvaluated"], 1);
    assert_eq!(report["suites"][1]["testsNotEvaluated"][0]["name"], "theirs");
    let junit = directory.run(&[
        "test",
        "kyverno-test.yaml",
        "--allow",
        "warnings",
        "--output",
        "junit",
    ]);
    junit.stdout_has("<error message=\"not evaluated: it is of Kyverno's own kinds");
    let github = directory.run(&[
        "test",
        "kyverno-test.yaml",
        "--allow",
        "warnings",
        "--output",
        "github",
    ]);
    github.stdout_has("1 passed, 0 failed, 1 test not evaluated");
    // Directories are searched for them as well; what fails comes first, and nothing is updated.
    let failing = KYVERNO.replace("result: fail", "result: pass");
    let directory = directory.with("kyverno-test.yaml", &failing);
    let run = directory.run(&["test", ".", "--allow", "warnings"]);
    run.exits(1)
        .stdout_has("1 passed, 1 failed, 2 tests not evaluated");
    let run = directory.run(&["test", "kyverno-test.yaml", "--allow", "warnings", "--update"]);
    run.stderr_has("tests of other programs are left as they are");
    assert_eq!(
        fs::read_to_string(directory.path().join("kyverno-test.yaml")).unwrap(),
        failing
    );
}

#[test]
fn a_first_suite_is_found_by_trying() {
    let other = POLICY
        .replace("replicas.static.k8s.io", "params.example.com")
        .replace(
            "  variables:",
            "  paramKind: {apiVersion: v1, kind: ConfigMap}\n  matchConditions: [{name: c, expression: \"int(params.data.most) > 1\"}]\n  variables:",
        )
        .replace(
            "validationActions: [Deny]}",
            "validationActions: [Deny], paramRef: {name: a, namespace: b, parameterNotFoundAction: Allow}}",
        );
    let directory = Directory::new().with("policies/policy.yaml", POLICY);
    let run = directory.run(&["test", "--init", "policies"]);
    run.exits(0);
    assert_eq!(
        run.stderr,
        "policies/suite.yaml: written, with 2 objects that were found; 0 are left to be written\n"
    );
    let written = fs::read_to_string(directory.path().join("policies/suite.yaml")).unwrap();
    assert!(
        written.contains("policies: {replicas.static.k8s.io: allowed}"),
        "{written}"
    );
    assert!(
        written.contains("policies: {replicas.static.k8s.io: denied}"),
        "{written}"
    );
    let run = directory.run(&["test", "policies"]);
    run.exits(0).stdout_has("2 passed, 0 failed");
    // An existing file is left as it is.
    let run = directory.run(&["test", "--init", "policies"]);
    run.exits(2);
    assert_eq!(
        fs::read_to_string(directory.path().join("policies/suite.yaml")).unwrap(),
        written
    );
    // Params are found with the objects, as bindings name them.
    let directory = Directory::new().with("policy.yaml", &other);
    let run = directory.run(&["test", "--init", "."]);
    run.exits(0).stderr_has("with 2 objects that were found");
    let written = fs::read_to_string(directory.path().join("suite.yaml")).unwrap();
    assert!(
        written.contains("kind: ConfigMap") && written.contains("namespace: b"),
        "{written}"
    );
    let run = directory.run(&["test", "."]);
    run.exits(0);
    // What is not found is said and counted.
    let (before, after) = other.split_once("  validations:").unwrap();
    let (_, binding) = after.split_once("---").unwrap();
    let directory = Directory::new().with(
        "policy.yaml",
        format!("{before}  validations: [{{expression: 'true'}}]\n---{binding}"),
    );
    let run = directory.run(&["test", "--init", "."]);
    run.exits(3)
        .stderr_has("1 object that was found; 1 is left to be written");
    let written = fs::read_to_string(directory.path().join("suite.yaml")).unwrap();
    assert!(
        written.contains(
            "# No object was found for params.example.com: an object that it does not: write one here."
        ),
        "{written}"
    );
    assert_eq!(
        Directory::new()
            .with("file", "")
            .run(&["test", "--init", "."])
            .code,
        Some(2)
    );
}
