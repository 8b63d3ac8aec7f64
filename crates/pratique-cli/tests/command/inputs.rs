//! Inputs of `pratique review`: each has a result or an error.

use std::time::Duration;

use crate::story::{BINDING, CLEAN, POLICY, PRIVILEGED, files};
use crate::support::{Directory, Run, within};

const WIDGET: &str = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n";

/// A Pod as JSON on one line, with something in its spec.
fn pod(name: &str, spec: &str) -> String {
    format!(
        "{{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{{\"name\":\"{name}\"}},\
         \"spec\":{{\"containers\":[{{\"name\":\"c\",\"image\":\"i\"}}]{spec}}}}}"
    )
}

fn good(name: &str) -> String {
    pod(name, "")
}

fn bad(name: &str) -> String {
    pod(name, ",\"hostPID\":true")
}

#[track_caller]
fn ends(run: &Run, code: i32, counts: &str) {
    run.exits(code);
    assert_eq!(run.counts(), Some(counts), "{run}");
}

#[test]
fn every_value_of_json_is_reviewed() {
    let directory = Directory::new();
    let review = |input: &str| directory.run_with(&["review", "-"], input, &[]);
    for separator in ["\n", "", " ", "\n\n", "\r\n", "\n---\n"] {
        let input = [good("a"), good("b"), bad("c"), good("d")].join(separator);
        ends(&review(&input), 1, "3 allowed, 1 denied");
    }
    let mixed = format!("{}\n{}\n---\n{CLEAN}---\n{}\n", good("a"), good("b"), bad("c"));
    ends(&review(&mixed), 1, "3 allowed, 1 denied");
    let pretty = bad("b").replace(',', ",\n  ");
    ends(
        &review(&format!("{}\n{pretty}\n", good("a"))),
        1,
        "1 allowed, 1 denied",
    );
}

#[test]
fn what_is_wrong_costs_nothing_else() {
    let files = files(POLICY, BINDING)
        .with("a.json", format!("{}\n{{\"kind\": \n{}\n", good("a"), good("b")))
        .with(
            "b.yaml",
            format!("a: [\n---\n{CLEAN}---\n- 1\n---\n{WIDGET}---\n{PRIVILEGED}---\nkind: Pod\n"),
        )
        .with("c.yaml", format!("{CLEAN}...\n{PRIVILEGED}"));
    let review = ["review", "--manifests", "policies", "a.json", "b.yaml", "c.yaml"];
    files.run(&review).is("every-input.txt");
    let json = files.run(&[&review[..], &["--output", "json"]].concat());
    json.exits(1);
    let lines = json.stdout.lines();
    let (notes, lines): (Vec<&str>, Vec<&str>) = lines.partition(|line| {
        line.starts_with("{\"note\":{\"message\":\"") || line.starts_with("{\"warning\":{\"rule\":\"")
    });
    let (errors, answers): (Vec<&str>, Vec<&str>) = lines
        .into_iter()
        .partition(|line| line.starts_with("{\"error\":{\"place\":\""));
    assert_eq!((answers.len(), errors.len(), notes.len()), (6, 5, 3), "{json}");
    assert!(errors.iter().any(|error| error.contains("b.yaml:11:1")), "{json}");
}

#[test]
fn directories_and_what_is_in_none() {
    let directory = Directory::new()
        .with("pods/a.json", good("a"))
        .with("pods/b.ndjson", format!("{}\n{}\n", good("b"), bad("c")))
        .with("pods/readme.txt", "not YAML")
        .with("empty/readme.txt", "not YAML");
    let run = directory.run(&["review", "--quiet", "pods", "empty"]);
    ends(&run, 1, "2 allowed, 1 denied");
    assert_eq!(run.stderr, "warning: empty: there is no object in it\n");
}

#[test]
fn io_errors_end_the_command() {
    let files = files(POLICY, BINDING);
    let run = files.run(&["review", "--manifests", "policies", "good.yaml", "nowhere.yaml"]);
    run.exits(2);
}

#[test]
fn a_resource_is_for_unknown_kinds() {
    let files = files(POLICY, BINDING).with("w.yaml", format!("{WIDGET}---\n{PRIVILEGED}"));
    let review = |resource: &str| {
        files.run(&[
            "review",
            "--manifests",
            "policies",
            "--resource",
            resource,
            "w.yaml",
        ])
    };
    review("widgets").is("resource-contradicts.txt");
    // It is the resource of the Pod, and wrong for the other object.
    let run = review("pods");
    run.stdout_has("w.yaml:5:1: CREATE pods");
    ends(&run, 1, "0 allowed, 2 denied");
}

#[test]
fn objects_that_no_server_would_take() {
    let deployment = |spec: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d, name: d}}\nspec:\n  {spec}\n  selector: {{matchLabels: {{a: b}}}}\n  \
             template: {{metadata: {{labels: {{a: b}}}}, spec: {{containers: [{{name: c, image: i}}]}}}}\n"
        )
    };
    let policy = POLICY
        .replace("apiGroups: [\"\"]", "apiGroups: [apps]")
        .replace("resources: [\"pods\"]", "resources: [deployments]")
        .replace("object.spec.", "object.spec.template.spec.");
    let files = files(&policy, BINDING)
        .with("typo.yaml", deployment("replcas: 5"))
        .with("type.yaml", deployment("replicas: '5'"));
    let review =
        |arguments: &[&str]| files.run(&[&["review", "--manifests", "policies"], arguments].concat());
    review(&["typo.yaml", "type.yaml"]).is("undecodable.txt");
    let json = review(&["--output", "json", "type.yaml"]);
    json.stdout_has(r#""reason":"BadRequest","code":400"#)
        .stdout_has(r#""allowed":false"#);
    // Stored objects were decoded before.
    let delete = review(&["--operation", "DELETE", "type.yaml"]);
    ends(&delete, 2, "0 allowed, 0 denied, 1 error");
    // So were objects of AdmissionReviews.
    let request = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u",
        "kind":{"group":"","version":"v1","kind":"Pod"},"resource":{"group":"","version":"v1","resource":"pods"},
        "name":"p","namespace":"shop","operation":"CREATE","userInfo":{},"object":{"apiVersion":"v1","kind":"Pod",
        "metadata":{"name":"p","labels":{"a":1}}}}}"#;
    let run = files.run_with(&["review", "--manifests", "policies", "-"], request, &[]);
    run.stderr_has("request.object is not as a server sends it: Pod in version");
}

#[test]
fn custom_objects_have_no_schema() {
    let directory = Directory::new().with("w.yaml", format!("{WIDGET}spec: {{replcas: x}}\n"));
    let run = directory.run(&["review", "--resource", "widgets", "w.yaml"]);
    assert!(!run.stdout.contains("unknown field"), "{run}");
    run.stdout_has("CREATE widgets.example.com");
}

#[test]
fn files_beside_the_inputs_are_read_whole() {
    let old = format!("{}\n{}\n", good("a"), bad("b"));
    let directory = Directory::new()
        .with("old.json", &old)
        .with("twice.json", format!("{old}{}\n", good("a")))
        .with("broken.json", format!("{old}{{\n"))
        .with("new.json", format!("{}\n{}\n", good("a"), good("b")))
        .with(
            "ns.json",
            "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"n\"}}\n".to_owned()
                + &good("a"),
        );
    let review = |arguments: &[&str]| {
        directory.run(
            &[
                &["review", "--validation", "off", "--operation", "UPDATE"],
                arguments,
                &["new.json"],
            ]
            .concat(),
        )
    };
    ends(&review(&["--old", "old.json"]), 0, "2 allowed, 0 denied");
    let twice = review(&["--old", "twice.json"]);
    ends(&twice, 2, "2 allowed, 0 denied, 1 error");
    twice.stderr_has("twice.json:3:1: this object is also at twice.json:1:1");
    ends(
        &review(&["--old", "broken.json"]),
        2,
        "2 allowed, 0 denied, 1 error",
    );
    let missing = directory.run(&["review", "--operation", "UPDATE", "--old", "ns.json", "new.json"]);
    ends(&missing, 2, "1 allowed, 0 denied, 1 error");
    missing.stderr_has("it is not among those of --old");
    let namespaces = review(&["--old", "old.json", "--namespace-object", "ns.json"]);
    ends(&namespaces, 2, "2 allowed, 0 denied, 1 error");
    namespaces.stderr_has("ns.json:2:1: expected a Namespace");
}

#[test]
fn a_server_is_not_started_with_a_part_of_its_cluster() {
    let wrong = good("a").replace("\"name\":\"a\"", "\"name\":1");
    let files = files(POLICY, BINDING)
        .with("broken.json", format!("{}\n{{\n", good("a")))
        .with("wrong.json", format!("{}\n{wrong}\n", good("a")));
    for (name, expected) in [
        ("broken.json", "broken.json:2:2: unexpected end"),
        ("wrong.json", "wrong.json:2:1: Pod in version"),
    ] {
        let serve = [
            "serve",
            "--plain-http",
            "--listen",
            "127.0.0.1:0",
            "--manifests",
            "policies",
            "--cluster-objects",
            name,
        ];
        let run = files.run(&serve);
        run.exits(1).stderr_has(expected);
    }
}

#[test]
fn many_stored_objects_are_found() {
    let all = |spec: &str| {
        (0..8000)
            .map(|at| pod(&format!("p{at}"), spec) + "\n")
            .collect::<String>()
    };
    let directory = Directory::new()
        .with("none/readme.txt", "")
        .with("old.json", all(""))
        .with("new.json", all(",\"activeDeadlineSeconds\":1"));
    let review = [
        "review",
        "--manifests",
        "none",
        "--plugin",
        "ValidatingAdmissionPolicy",
        "--operation",
        "UPDATE",
        "--old",
        "old.json",
        "new.json",
    ];
    let run = within(Duration::from_secs(60), || directory.run(&review));
    ends(&run, 0, "8000 allowed, 0 denied");
}

#[test]
fn hopeless_input_is_given_up() {
    let directory = Directory::new();
    for line in ["{\"a\":\n", "---- x\n", "---\na: [\n", "{} x\n"] {
        let input = line.repeat(200_000);
        let run = within(Duration::from_secs(120), || {
            directory.run_with(&["review", "-"], &input, &[])
        });
        assert_eq!(run.code, Some(2), "{line}");
        assert!(run.stderr.contains("more than 1000 errors"), "{line}");
        assert!(run.stderr.len() < 1 << 20, "{line}: {} bytes", run.stderr.len());
    }
}
